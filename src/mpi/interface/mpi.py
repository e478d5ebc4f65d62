"""The functions of MPI as mpi.toml beside this file holds them, one by one.

What is made from the table reads it here: the front's list of names and the wrappers (wrappers.py), and the tests. Only
Python's standard library is used, for CMake runs this before anything is installed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("mpi.toml")

# Of the functions MPI_..._c: what an `int` of this name becomes.
_DISPLACEMENTS = {"displs", "sdispls", "rdispls", "disp_unit"}
_COUNTS = re.compile(r"(\w+_)?count|(send|recv)counts?|size")


@dataclass(frozen=True)
class Parameter:
    """`const int recvcounts[]`: type `const int`, name `recvcounts`, an array."""

    type: str
    name: str
    array: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}{'[]' * self.array}"

    @property
    def large(self) -> Parameter:
        """The same in a function MPI_..._c."""
        if not re.fullmatch(r"(const )?int\*?", self.type):
            return self
        if self.name in _DISPLACEMENTS:
            return replace(self, type=self.type.replace("int", "MPI_Aint"))
        if _COUNTS.fullmatch(self.name):
            return replace(self, type=self.type.replace("int", "MPI_Count"))
        return self


@dataclass(frozen=True)
class Bytes:
    """What a process gives to a collective and gets from it, as the table says it."""

    gives: str
    gets: str


@dataclass(frozen=True)
class Function:
    """A function of which more happens than a jump."""

    name: str
    parameters: tuple[Parameter, ...]
    records: str
    blocking: bool = False
    bytes: Bytes | None = None  # of a collective

    def __contains__(self, name: str) -> bool:
        return any(parameter.name == name for parameter in self.parameters)

    @property
    def prepares(self) -> bool:
        """It makes a persistent request, which MPI_Start begins."""
        return "_init" in self.name and "request" in self

    def first(self, c_type: str) -> str | None:
        """The first parameter of this type, by name."""
        return next((p.name for p in self.parameters if p.type == c_type and not p.array), None)

    @property
    def nonblocking(self) -> Function:
        """MPI_I...: a request in place of the status."""
        return replace(
            self, name=_prefixed("I", self.name), parameters=(*self._without_status(), _REQUEST), blocking=False
        )

    @property
    def with_request(self) -> Function:
        """MPI_R...: a request behind."""
        return replace(self, name=_prefixed("R", self.name), parameters=(*self.parameters, _REQUEST))

    def persistent(self, more: tuple[Parameter, ...]) -> Function:
        """MPI_..._init, with `more` in place of the status."""
        return replace(self, name=f"{self.name}_init", parameters=(*self._without_status(), *more), blocking=False)

    @property
    def large(self) -> Function:
        """MPI_..._c; the function itself where that would have the same parameters."""
        parameters = tuple(parameter.large for parameter in self.parameters)
        return self if parameters == self.parameters else replace(self, name=f"{self.name}_c", parameters=parameters)

    def _without_status(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.name != "status")


_REQUEST = Parameter("MPI_Request*", "request")


def _prefixed(letter: str, name: str) -> str:
    rest = name.removeprefix("MPI_")
    return f"MPI_{letter}{rest[0].lower()}{rest[1:]}"


def parameters_of(text: str) -> tuple[Parameter, ...]:
    """Of a list as it stands between the parentheses of a prototype."""
    made = []
    for one in text.split(", ") if text != "void" else ():
        c_type, _, name = one.rpartition(" ")
        made.append(Parameter(c_type, name.removesuffix("[]"), name.endswith("[]")))
    return tuple(made)


def parsed(prototype: str) -> tuple[str, tuple[Parameter, ...]]:
    """Name and parameters of a line of the table; a ValueError says which is none."""
    match = re.fullmatch(r"int (MPI_\w+)\((.+)\)", prototype)
    if not match:
        raise ValueError(f"{TABLE}: not a prototype: {prototype}")
    return match[1], parameters_of(match[2])


class Interface:
    """The whole table."""

    def __init__(self, path: Path = TABLE) -> None:
        self._read: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))

    def functions(self) -> list[Function]:
        """The functions that tools may stand before, in the table's order."""
        return [function for group in self._read["functions"] for function in self._of(group)]

    def passed_on(self) -> list[str]:
        """The names of the others."""
        return [f"MPI_{name}" for names in self._read["passed_on"].values() for name in names.split()]

    def names(self) -> list[str]:
        """All names: their order numbers the functions."""
        return [*(function.name for function in self.functions()), *self.passed_on()]

    def _of(self, group: dict[str, Any]) -> Iterator[Function]:
        for prototype in group["prototypes"].strip().splitlines():
            name, parameters = parsed(prototype)
            in_bytes = self._read["bytes"].get(name.removeprefix("MPI_")) if group["records"] == "collective" else None
            function = Function(
                name=name,
                parameters=parameters,
                records=group["records"],
                blocking=group.get("blocking", False),
                bytes=Bytes(**in_bytes) if in_bytes else None,
            )
            family = [function]
            if group.get("nonblocking"):
                family.append(function.nonblocking)
            if "persistent" in group:
                family.append(function.persistent(parameters_of(group["persistent"])))
            if group.get("request"):
                family.append(function.with_request)
            yield from family
            if group.get("large"):
                yield from (one.large for one in family if one.large is not one)
