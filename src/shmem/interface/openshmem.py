"""The interface of OpenSHMEM 1.6 from openshmem.toml in this folder: all functions, one by one.

Every user of the table reads it here: the headers (headers.py), the documentation and the test of every name.
Uses only Python's standard library, because CMake runs it before anything is installed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("openshmem.toml")


@dataclass(frozen=True)
class Parameter:
    """`const long* source`; for a variadic function, type `...` and no name."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function and its types in C; `type` is the one in its name, or empty."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]
    type: str = ""


@dataclass(frozen=True)
class Generic:
    """A type-generic name of C11: NAME selects shmem_TYPE_SUFFIX, also with a context if `contexts` is set."""

    name: str
    suffix: str
    group: Group
    parameters: tuple[Parameter, ...]  # with {TYPE}

    @property
    def chooses_by(self) -> int:
        """Which argument points to the type."""
        return next(i for i, parameter in enumerate(self.parameters) if "{TYPE}" in parameter.type)


@dataclass(frozen=True)
class Group:
    """Functions under one heading; the prototypes come from the table and contain {NAME}, {TYPE} and {SIZE}."""

    section: str
    title: str
    note: str
    deprecated: bool
    class_name: str  # of its types, or empty
    types: dict[str, str]
    sizes: tuple[int, ...]
    contexts: bool
    generic: bool
    prototypes: tuple[Function, ...]

    def families(self) -> Iterator[list[Function]]:
        """For each prototype, without and then with a context: the functions that it generates."""
        for prototype in self.prototypes:
            for context in (False, True) if self.contexts else (False,):
                yield [with_context(f) if context else f for f in self.of(prototype)]

    def of(self, prototype: Function) -> list[Function]:
        """The functions that a prototype generates."""
        if "{NAME}" in prototype.name:
            return [filled(prototype, NAME=name, TYPE=c_type) for name, c_type in self.types.items()]
        if "{SIZE}" in prototype.name:
            return [filled(prototype, SIZE=str(size)) for size in self.sizes]
        return [prototype]

    def functions(self) -> list[Function]:
        """All functions of the group."""
        return [function for family in self.families() for function in family]

    def generics(self) -> list[Generic]:
        """The type-generic names of the group."""
        typed = [f for f in self.prototypes if "{NAME}" in f.name] if self.generic else []
        return [Generic(f.name.replace("{NAME}_", ""), f.name.split("{NAME}_")[1], self, f.parameters) for f in typed]


def filled(prototype: Function, **values: str) -> Function:
    """The function that a prototype gives with these values in its braces."""
    return Function(
        prototype.name.format(**values),
        prototype.result.format(**values),
        tuple(Parameter(p.type.format(**values), p.name) for p in prototype.parameters),
        values.get("TYPE", ""),
    )


def with_context(function: Function) -> Function:
    """The same function with a context as first argument."""
    return Function(
        function.name.replace("shmem_", "shmem_ctx_", 1),
        function.result,
        (Parameter("shmem_ctx_t", "ctx"), *function.parameters),
        function.type,
    )


def parsed(prototype: str) -> Function:
    """A line of the table as a function; raises ValueError for a line that is no prototype."""
    match = re.fullmatch(r"(\S.*?[ *])([\w{}]+)\((.+)\)", prototype)
    if not match:
        raise ValueError(f"{TABLE}: not a prototype: {prototype}")
    parameters = []
    for text in match[3].split(", ") if match[3] != "void" else ():
        c_type, _, name = text.rpartition(" ")
        parameters.append(Parameter(c_type, name) if c_type else Parameter(text, ""))
    return Function(match[2], match[1].rstrip(), tuple(parameters))


class Interface:
    """The whole table."""

    def __init__(self, path: Path = TABLE) -> None:
        self._read: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))

    @cached_property
    def types(self) -> dict[str, str]:
        """Type in function names -> type in C."""
        return dict(self._read["types"])

    @cached_property
    def classes(self) -> dict[str, dict[str, str]]:
        """Class of types -> type in function names -> type in C."""
        made: dict[str, dict[str, str]] = {}
        for name, row in self._read["classes"].items():
            inherited = [made[other] for other in row.get("with", ())]
            own = {one: self.types[one] for one in row.get("types", "").split()}
            made[name] = {one: c_type for types in (*inherited, own) for one, c_type in types.items()}
        return made

    def said_of(self, class_name: str) -> str:
        """The functions that have the types of a class."""
        return str(self._read["classes"][class_name]["of"])

    def same(self, c_type: str) -> str:
        """The canonical C type for this one."""
        return str(self._read["same_type"].get(c_type, c_type))

    def once(self, class_name: str) -> dict[str, str]:
        """Each distinct C type of a class under the first of its names, as a _Generic selection needs it."""
        made: dict[str, str] = {}
        for name, c_type in self.classes[class_name].items():
            if self.same(c_type) not in map(self.same, made.values()):
                made[name] = c_type
        return made

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """All sizes of elements, in bits."""
        return tuple(sorted({size for group in self.groups for size in group.sizes}))

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The functions in the order of the table."""
        return tuple(
            Group(
                section=row["section"],
                title=row["title"],
                note=row.get("note", ""),
                deprecated=row.get("deprecated", False),
                class_name=row.get("types", ""),
                types=self.classes[row["types"]] if "types" in row else {},
                sizes=tuple(row.get("sizes", ())),
                contexts=row.get("contexts", False),
                generic=row.get("generic", False),
                prototypes=tuple(map(parsed, row["prototypes"].strip().splitlines())),
            )
            for row in self._read["functions"]
        )

    def functions(self) -> list[Function]:
        """All functions of the C interface."""
        return [function for group in self.groups for function in group.functions()]

    def generics(self) -> list[Generic]:
        """The type-generic names that select by a type, so without shmem_sync, which counts its arguments."""
        return [generic for group in self.groups for generic in group.generics()]
