"""The interface of OpenSHMEM 1.5 as openshmem.toml beside this file holds it: all functions, one by one.

What is written from the table reads it here: the headers (headers.py), the documentation and the test of every name.
Only Python's standard library is used, for CMake runs this before anything is installed.
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
    """`const long* source`; where a function takes what it likes, type `...` and no name."""

    type: str
    name: str


@dataclass(frozen=True)
class Function:
    """A function and its types in C; `type` is that which its name says, or empty."""

    name: str
    result: str
    parameters: tuple[Parameter, ...]
    type: str = ""


@dataclass(frozen=True)
class Generic:
    """A type-generic name of C11: NAME chooses shmem_TYPE_SUFFIX, with a context too where `contexts` says so."""

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
    """Functions under one heading; the prototypes are those of the table, with their {NAME}, {TYPE} and {SIZE}."""

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
        """For each prototype, and then for each with a context, the functions it stands for."""
        for prototype in self.prototypes:
            for context in (False, True) if self.contexts else (False,):
                yield [with_context(f) if context else f for f in self.of(prototype)]

    def of(self, prototype: Function) -> list[Function]:
        """The functions a prototype stands for."""
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
    """The function a prototype becomes with these values in its braces."""
    return Function(
        prototype.name.format(**values),
        prototype.result.format(**values),
        tuple(Parameter(p.type.format(**values), p.name) for p in prototype.parameters),
        values.get("TYPE", ""),
    )


def with_context(function: Function) -> Function:
    """The same function with a context in front."""
    return Function(
        function.name.replace("shmem_", "shmem_ctx_", 1),
        function.result,
        (Parameter("shmem_ctx_t", "ctx"), *function.parameters),
        function.type,
    )


def parsed(prototype: str) -> Function:
    """A line of the table; a ValueError says which is none."""
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
        """Name of a type in names of functions -> C."""
        return dict(self._read["types"])

    @cached_property
    def classes(self) -> dict[str, dict[str, str]]:
        """Class of types -> name of a type -> C."""
        made: dict[str, dict[str, str]] = {}
        for name, row in self._read["classes"].items():
            inherited = [made[other] for other in row.get("with", ())]
            own = {one: self.types[one] for one in row.get("types", "").split()}
            made[name] = {one: c_type for types in (*inherited, own) for one, c_type in types.items()}
        return made

    def said_of(self, class_name: str) -> str:
        """Which functions have the types of a class."""
        return str(self._read["classes"][class_name]["of"])

    def same(self, c_type: str) -> str:
        """The type of C that has no other name."""
        return str(self._read["same_type"].get(c_type, c_type))

    def once(self, class_name: str) -> dict[str, str]:
        """Of a class each type of C under the first of its names: what a _Generic selection needs."""
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
        """The type-generic names that choose by a type; shmem_sync, which counts its arguments, is apart."""
        return [generic for group in self.groups for generic in group.generics()]
