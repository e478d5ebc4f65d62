"""What a key of the simulation's TOML is: its type with unit and range, its meaning, its default, and when it applies.

A table is a pydantic model whose fields are made by `key`. From the same fields come the check of a user's file, what
`lull simulate --explain` prints, and the reference page: the defaults stand in one place.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from lull.base.errors import UsageError
from lull.simulation.units import Quantity

LONGEST_SHOWN = 60  # characters of a wrong value that an error line repeats


@dataclass(frozen=True)
class Amount:
    """A quantity in a range, in the simulator's unit; called by pydantic before its own validation."""

    of: Quantity
    least: float = 0
    most: float | None = None
    above_least: bool = False  # `least` itself is not allowed

    def __call__(self, value: object) -> int | float:
        """The amount `value` stands for."""
        amount = self.of.parse(value)
        if amount < self.least or (self.above_least and amount == self.least):
            raise ValueError(f"must be {self._least_in_words}")
        if self.most is not None and amount > self.most:
            raise ValueError(f"must be at most {self._shown(self.most)}")
        return int(amount) if self.of.whole else float(amount)

    @property
    def _least_in_words(self) -> str:
        least = self._shown(self.least) if self.least else "0"
        return f"more than {least}" if self.above_least else f"{least} or more"

    def _shown(self, amount: float) -> str:
        return f"{amount:g}" if self.of.plain == "" else self.of.show(amount)

    @property
    def words(self) -> str:
        """The kind of quantity and its range; a time may be longer than anyone would simulate."""
        upper = f", at most {self._shown(self.most)}" if self.most is not None else ""
        name = self.of.name.removeprefix("a ")
        if name == "time":
            return f"{name}, more than 0" if self.above_least else name
        return f"{name}, {self._least_in_words}{upper}"


@dataclass(frozen=True)
class Whole:
    """A whole number in a range."""

    least: int = 0
    most: int | None = None
    word: str = ""  # a word allowed in its place, which stands for 0

    def __call__(self, value: object) -> int:
        """The number `value` is."""
        if self.word and value == self.word:
            return 0
        low_enough = isinstance(value, int) and not isinstance(value, bool) and value >= self.least
        if not isinstance(value, int) or not low_enough or (self.most is not None and value > self.most):
            raise ValueError(f"must be {self.words}")
        return value

    @property
    def words(self) -> str:
        """What is allowed, in words."""
        upper = f" to {self.most}" if self.most is not None else " or more"
        return (f'"{self.word}" or ' if self.word else "") + f"a whole number, {self.least}{upper}"


def key(default: Any, meaning: str, *, only: Mapping[str, Sequence[str]] | None = None, shown: str = "") -> Any:
    """A key of a table.

    Args:
        default: As a user would write it, or None where `shown` says what holds.
        meaning: What it is, in a line.
        only: Keys of the same table with the values at which this one applies.
        shown: The default in words, where it depends on other keys.
    """
    extra: dict[str, Any] = {"only": {name: list(values) for name, values in (only or {}).items()}, "shown": shown}
    return Field(default=default, description=meaning, validate_default=default is not None, json_schema_extra=extra)


class Table(BaseModel):
    """A table of the TOML. A key it does not have, or that does not apply, is a mistake and not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _knows_all_keys(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            raise PydanticCustomError("table", "must be a table")
        for name in content:
            if name not in cls.model_fields:
                known = list(cls.model_fields)
                raise mistake(str(name), "is not a key here", nearest(str(name), known))
        for name in content:
            for other, values in cls.conditions(name).items():
                current = content.get(other, cls.model_fields[other].default)
                if isinstance(current, str) and current not in values and current in cls.choices(other):
                    wanted = " or ".join(values)
                    raise mistake(name, f"does not apply with {other} {current}", f"leave it out; it is for {wanted}")
        return content

    @classmethod
    def conditions(cls, name: str) -> dict[str, list[str]]:
        """The keys that decide whether `name` applies, with the values at which it does."""
        extra = cls.model_fields[name].json_schema_extra
        found = extra.get("only", {}) if isinstance(extra, dict) else {}
        return found if isinstance(found, dict) else {}  # type: ignore[return-value]  # written by `key`

    @classmethod
    def choices(cls, name: str) -> tuple[str, ...]:
        """The words a key may be; none when it is no choice."""
        annotation = cls.model_fields[name].annotation
        return tuple(getattr(annotation, "__args__", ())) if annotation is not None else ()

    def applies(self, name: str) -> bool:
        """Whether the key has a meaning beside the others."""
        return all(getattr(self, other) in values for other, values in self.conditions(name).items())


def mistake(name: str, found: str, remedy: str) -> PydanticCustomError:
    """A mistake about one key of the table that is being read."""
    return PydanticCustomError("mistake", "{found}", {"name": name, "found": found, "remedy": remedy})


def nearest(wrong: str, right: Sequence[str]) -> str:
    """The answer to a name that does not exist: the nearest that does, or all."""
    near = difflib.get_close_matches(wrong, right, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(right)}"


def usage_error(asked: str, error: ValidationError) -> UsageError:
    """The first mistake of a file in one line: the key, what was found there, what is allowed."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    if first["type"] == "mistake":
        context = first["ctx"]
        name = ".".join([*path, context["name"]] if context["name"] else path)
        return UsageError(asked, f"{name} {context['found']}".strip(), context["remedy"])
    name = ".".join(path)
    if first["type"] == "missing":
        return UsageError(asked, f"{name} is missing", "give it")
    return UsageError(asked, f"{name} is {_shown(first['input'])}", f"it {_must(first)}")


def _must(error: ErrorDetails) -> str:
    """What pydantic says, as what the value must be."""
    text = error["msg"].removeprefix("Value error, ")
    if error["type"] == "literal_error":
        allowed = [word.strip("' ") for word in error["ctx"]["expected"].replace(" or ", ", ").split(",")]
        near = difflib.get_close_matches(str(error["input"]), allowed, n=1)
        return f"must be {', '.join(allowed[:-1])} or {allowed[-1]}" + (f"; did you mean {near[0]}?" if near else "")
    words = {
        "string_type": "must be a text",
        "bool_type": "must be true or false",
        "list_type": "must be a list",
        "table": "must be a table",
    }
    return words.get(error["type"], text.replace("Input should be", "must be"))


def _shown(value: object) -> str:
    text = f"'{value}'" if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
