"""The row of a job on one node, as `lull-meterd` writes it: checked here, and nowhere else.

The form is described in docs/reference/service-protocol.md. Fields that this version does not know are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lull.base.energy_kind import EnergyKind

MOST_TEXT: Final = 255
FLAGS: Final = ("shared", "unsure", "gap", "unclosed")
OTHER: Final = "other"  # a flag that this version does not know

# Without control characters, because texts are shown in terminals.
Text = Annotated[str, Field(max_length=MOST_TEXT, pattern=r"^\P{C}*$")]
Name = Annotated[Text, Field(min_length=1)]
Count = Annotated[int, Field(ge=0, le=1 << 56)]
Microseconds = Annotated[int, Field(ge=0, le=250_000_000_000_000_000)]  # of Unix time, which calendars have
Uid = Annotated[int, Field(ge=0, lt=(1 << 32) - 1)]


class Invalid(Exception):
    """Something that came from elsewhere has not the form that it should have; the message says what."""


class DomainEnergy(BaseModel):
    """The energy of one domain of a node, in microjoules."""

    model_config = ConfigDict(frozen=True)

    kind: EnergyKind
    active_uj: Count
    held_uj: Count
    overhead_uj: Count
    low_uj: Count
    high_uj: Count

    @property
    def uj(self) -> int:
        """All three parts."""
        return self.active_uj + self.held_uj + self.overhead_uj


class Row(BaseModel):
    """One run of one job on one node."""

    model_config = ConfigDict(frozen=True)

    v: Literal[1]
    cluster: Text
    job: Name
    restart: Annotated[int, Field(ge=0, le=1 << 30)]
    node: Name
    nodes: Annotated[int, Field(ge=0, le=1 << 30)]
    uid: Uid
    project: Text
    begin_us: Microseconds
    end_us: Microseconds
    cpus: Count
    memory_mib: Count
    cpu_us: Annotated[int, Field(ge=0, le=1 << 53)]
    flags: Annotated[list[Text], Field(max_length=32)]
    energy: Annotated[dict[Name, DomainEnergy], Field(max_length=32)]

    @property
    def known_flags(self) -> list[str]:
        """The flags in a fixed order, with `other` for those that this version does not know."""
        found = [flag for flag in FLAGS if flag in self.flags]
        return found + [OTHER] * any(flag not in FLAGS for flag in self.flags)


def read_row(content: bytes | dict[str, Any]) -> Row:
    """A row from a line of the spool, or from a message.

    Raises:
        Invalid: It is no row.
    """
    try:
        return Row.model_validate(content) if isinstance(content, dict) else Row.model_validate_json(content)
    except ValidationError as error:
        raise Invalid(first_of(error.errors())) from error


def first_of(errors: Sequence[Any]) -> str:
    """The first of pydantic's errors, in one line."""
    where = ".".join(str(part) for part in errors[0]["loc"])
    words = "there is no such key" if errors[0]["type"] == "extra_forbidden" else errors[0]["msg"]
    words = str(words).removeprefix("Value error, ")
    return f"{where}: {words}" if where else words
