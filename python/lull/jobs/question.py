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

    joules: float  # energy
    low_j: float  # lower end of the interval
    high_j: float  # upper end of the interval
    kind: EnergyKind | None = None  # weakest kind of its parts; null: no meter counted it


class Job(Energy):
    """One run of a job, over all nodes whose rows have arrived."""

    cluster: str  # name of the cluster
    job: str  # id of the job
    restart: int  # how often the job was requeued before
    uid: int  # number of its user
    project: str  # its project; empty: none
    begin_us: int  # begin, Unix time in microseconds
    end_us: int  # end, Unix time in microseconds
    nodes: int  # on which it ran; 0: unknown
    rows: int  # that have arrived
    cpu_us: int  # CPU time
    flags: list[str]  # what limits the figures


class Part(Energy):
    """One domain of one node of a run of a job."""

    cluster: str  # name of the cluster
    restart: int  # how often the job was requeued before
    node: str  # name of the node
    domain: str  # what it covers
    active_j: float  # part for its activity
    held_j: float  # part for idle resources that it held
    overhead_j: float  # of a job that was alone: the rest of the node


class OnNode(BaseModel):
    """What a run of a job held and used on one node."""

    model_config = ConfigDict(frozen=True)

    cluster: str  # name of the cluster
    restart: int  # how often the job was requeued before
    node: str  # name of the node
    cpus: int  # hardware threads that it held
    memory_mib: int  # memory that it held
    cpu_us: int  # CPU time
    begin_us: int  # begin, Unix time in microseconds
    end_us: int  # end, Unix time in microseconds
    flags: list[str]  # what limits the figures


class Sum(Energy):
    """Jobs of one kind that began in some days, by user, project or day."""

    uid: int | None = None  # number of the user; null: not by user
    project: str | None = None  # the project; null: not by project
    day: str | None = None  # the day in UTC, YYYY-MM-DD; null: not by day
    jobs: int  # number of jobs
    cpu_us: int  # CPU time


class Answer(BaseModel):
    """The answer to a question; `more`: it has more than one answer may contain, or was asked for."""

    v: Literal[1] = 1  # version of the messages
    nonce: str = ""  # as in the question
    jobs: list[Job] = []  # runs of jobs, the newest first
    nodes: list[OnNode] = []  # of one job, by node
    parts: list[Part] = []  # of one job, by node and domain
    sums: list[Sum] = []  # of several jobs
    more: bool = False  # whether there is more than the answer contains
    prices: Prices = Prices()  # prices of the site


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
