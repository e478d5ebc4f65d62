"""The messages between nodes, users and the collector: what may be asked, and the form of answers.

A message is one JSON object. `nonce` is chosen by the sender and repeated in the answer, so that an answer to another
message cannot be passed off as this one's.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from lull.base.energy_kind import EnergyKind
from lull.base.errors import UsageError
from lull.jobs.price import Prices
from lull.jobs.rows import Name, Text, Uid

VERSION: Final = 1
MOST_JOBS: Final = 1000  # in an answer
MOST_SUMS: Final = 4000
MOST_PARTS: Final = 4000
MOST_ROWS: Final = 200  # in a message
MOST_ROW_BYTES: Final = 500_000  # of all rows of a message together

Moment = Annotated[int, Field(ge=0, le=1 << 40)]  # Unix time in seconds

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SPANS: Final = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}


class By(StrEnum):
    """What sums are formed over."""

    USER = "user"
    PROJECT = "project"
    DAY = "day"


class Message(BaseModel):
    """What all messages have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    v: Literal[1] = 1
    nonce: Annotated[str, Field(max_length=64)] = ""


class Question(Message):
    """Jobs, newest first; one job with its nodes and domains; or sums."""

    ask: Literal["jobs", "job", "sums"]
    job: Name | None = None
    by: By | None = None
    since_s: Moment | None = None  # jobs that began then or later, in Unix time; sums: from the start of its day in UTC
    until_s: Moment | None = None  # jobs that began before; sums: to the end of its day
    uid: Uid | None = None
    project: Text | None = None
    most: Annotated[int, Field(ge=1, le=MOST_JOBS)] = 50


class Rows(Message):
    """Rows of jobs to be stored, each of which is checked separately."""

    rows: Annotated[list[dict[str, Any]], Field(max_length=MOST_ROWS)]


class Energy(BaseModel):
    """An energy with its interval and kind; without a kind, no meter counted it."""

    model_config = ConfigDict(frozen=True)

    joules: float
    low_j: float
    high_j: float
    kind: EnergyKind | None = None


class Job(Energy):
    """One run of a job, over all nodes whose rows have arrived."""

    cluster: str
    job: str
    restart: int
    uid: int
    project: str
    begin_us: int
    end_us: int
    nodes: int  # on which it ran; 0: unknown
    rows: int  # that have arrived
    cpu_us: int
    flags: list[str]


class Part(Energy):
    """One domain of one node of a run of a job."""

    cluster: str
    restart: int
    node: str
    domain: str
    active_j: float
    held_j: float
    overhead_j: float


class OnNode(BaseModel):
    """What a run of a job held and used on one node."""

    model_config = ConfigDict(frozen=True)

    cluster: str
    restart: int
    node: str
    cpus: int
    memory_mib: int
    cpu_us: int
    begin_us: int
    end_us: int
    flags: list[str]


class Sum(Energy):
    """Jobs of one kind that began in some days, by user, project or day."""

    uid: int | None = None
    project: str | None = None
    day: str | None = None
    jobs: int
    cpu_us: int


class Answer(BaseModel):
    """The answer to a question; `more`: it has more than one answer may contain, or was asked for."""

    v: Literal[1] = 1
    nonce: str = ""
    jobs: list[Job] = []
    nodes: list[OnNode] = []
    parts: list[Part] = []
    sums: list[Sum] = []
    more: bool = False
    prices: Prices = Prices()


class Stored(BaseModel):
    """The answer to rows: all of them are on disk now, except those that can never be stored, with the reason."""

    v: Literal[1] = 1
    nonce: str = ""
    stored: int
    known: int
    refused: list[tuple[int, str]]


class Refusal(BaseModel):
    """The answer to a message that this user may not send, or that is wrong."""

    v: Literal[1] = 1
    nonce: str = ""
    refused: str


def moment(text: str, now: datetime, option: str) -> int:
    """A moment in words as Unix time in seconds: a date, `today`, a weekday before today, or `7d` for 7 days ago.

    Args:
        text: The words.
        now: The present, with its time zone, in which days begin.
        option: Which option has these words, for the error.

    Raises:
        UsageError: It is none of these.
    """
    words = text.strip().lower()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if words in ("today", "yesterday"):
        return _seconds(midnight - timedelta(days=words == "yesterday"))
    if words in DAYS:
        return _seconds(midnight - timedelta(days=(now.weekday() - DAYS.index(words)) % 7))
    if found := re.fullmatch(r"(\d{1,5})([hdw])", words):
        try:
            return _seconds(now - int(found[1]) * SPANS[found[2]])
        except OverflowError:
            return 0
    try:
        when = datetime.fromisoformat(text.strip())
        return _seconds(when if when.tzinfo else when.replace(tzinfo=now.tzinfo))
    except (ValueError, OverflowError) as error:
        fix = "write a date such as 2026-11-01, a weekday, today, yesterday, or 7d for the last seven days"
        raise UsageError(f"understand {option}", f"{text!r} is no moment", fix) from error


def _seconds(when: datetime) -> int:
    return max(0, int(when.timestamp()))
