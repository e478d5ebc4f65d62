"""The file of a study of any kind: how it is found and read, and the keys that every kind has.

kind                 one of KINDS in kinds.py: determines the tables of the file
title, question      the question
note                 what a reader must know to judge the results
[paper]              the publication that asks the question
"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError, model_validator

from lull.base import installed
from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import LullError, UsageError, describe_os_error

Value = StrictStr | StrictInt | StrictFloat
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Whole = TypeVar("Whole", bound="Study")


class StudyTable(BaseModel):
    """A table of the TOML file; the error for an unknown key suggests the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _knows_all_keys(cls, content: Any) -> Any:
        if isinstance(content, dict):
            for key in content:
                if key not in cls.model_fields:
                    raise ValueError(f"no key {key!r} here, {nearest(str(key), list(cls.model_fields))}")
        return content


class Paper(StudyTable):
    """The publication that a study refers to."""

    title: str
    authors: list[str]
    venue: str = ""
    year: int | None = None

    @property
    def citation(self) -> str:
        """Authors, title, venue and year in one line."""
        authors = f"{self.authors[0]} et al." if len(self.authors) > 3 else ", ".join(self.authors)
        return ", ".join(str(part) for part in (authors, self.title, self.venue, self.year) if part)


class Study(StudyTable):
    """The keys of every study."""

    kind: str  # the kind of study, which determines the other tables of the file
    title: str
    question: str
    note: str = ""  # what a reader must know to judge the results


def nearest(wrong: str, right: list[str]) -> str:
    """A fix for an unknown name: the nearest known one, or all."""
    near = difflib.get_close_matches(wrong, right, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are: {', '.join(right)}" if right else "there are none"


def find_study(name: str) -> Path:
    """The TOML file of a study: a path, or the name of one that comes with Lull.

    Raises:
        UsageError: There is none; the line suggests the nearest.
    """
    known = installed.studies()
    if name in known:
        return known[name]
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    raise UsageError(f"run the study {name}", "there is none of that name", nearest(name, list(known)))


def read_toml(path: Path, asked: str) -> dict[str, Any]:
    """The content of a study's file; errors begin with `asked`.

    Raises:
        LullError: The file does not exist, or is not TOML.
    """
    try:
        return parse_toml(path.read_bytes())
    except OSError as error:
        raise LullError(asked, describe_os_error(error)) from error
    except DamagedError as error:
        raise LullError(asked, f"it is not TOML: {error}") from error


def validated(as_what: type[Whole], content: dict[str, Any], asked: str) -> Whole:
    """Validate the content of a study's file.

    Raises:
        LullError: There is a mistake; the line describes the first.
    """
    try:
        return as_what.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        words = first["msg"].removeprefix("Value error, ")
        raise LullError(asked, f"{where}: {words}" if where else words) from error
