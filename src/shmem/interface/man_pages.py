"""Writes the manual pages of OpenSHMEM's routines: man_pages.py VERSION INTO puts man3/shmem_*.3 there.

A routine groups functions of one purpose: shmem_put(3) describes shmem_TYPE_put, shmem_putSIZE, shmem_putmem and the
same functions with a context; each of these names has a page that refers to it. The functions come from openshmem.toml,
the texts from routines.toml. Uses only Python's standard library, because CMake runs it before anything is installed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from openshmem import Function, Group, Interface, with_context

WORDS = Path(__file__).with_name("routines.toml")


@dataclass(eq=False)
class Routine:
    """Functions of one purpose."""

    name: str
    group: Group
    prototypes: list[tuple[Group, Function]] = field(default_factory=list)

    def functions(self) -> list[Function]:
        """All functions of the routine."""
        found = []
        for group, prototype in self.prototypes:
            plain = group.of(prototype)
            found += [*plain, *(map(with_context, plain) if group.contexts else ())]
        return found

    def arguments(self) -> list[str]:
        """The names of all arguments, in order."""
        names = ["ctx"] if any(group.contexts for group, _ in self.prototypes) else []
        names += [p.name for _, prototype in self.prototypes for p in prototype.parameters if p.name]
        return list(dict.fromkeys(names))


def routine_of(prototype: Function) -> str:
    """The name of the routine that a prototype of the table belongs to."""
    name = re.sub(r"\{NAME\}_|\{SIZE\}", "", prototype.name)
    return re.sub(r"(put|get|broadcast|collect|alltoalls?)mem(?=_|$)", r"\1", name)


def routines(interface: Interface) -> dict[str, Routine]:
    """All routines, by name, in the order of the table."""
    found: dict[str, Routine] = {}
    for group in interface.groups:
        for prototype in group.prototypes:
            name = routine_of(prototype)
            found.setdefault(name, Routine(name, group)).prototypes.append((group, prototype))
    return found


def escaped(text: str) -> str:
    """Text escaped for roff."""
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def declared(function: Function) -> str:
    """A function as a C declaration."""
    parameters = ", ".join(f"{p.type} {p.name}".strip() for p in function.parameters) or "void"
    joint = "" if function.result.endswith("*") else " "
    return escaped(f"{function.result}{joint}{function.name}({parameters});")


def synopsis(routine: Routine) -> list[str]:
    """The prototypes with TYPE and SIZE, and their possible values."""
    lines = [".SH SYNOPSIS", ".nf", ".B #include <shmem.h>", ".PP"]
    told = []
    for group, prototype in routine.prototypes:
        shown = Function(
            prototype.name.format(NAME="TYPENAME", SIZE="SIZE"),
            prototype.result.format(TYPE="TYPE"),
            tuple(type(p)(p.type.format(TYPE="TYPE"), p.name) for p in prototype.parameters),
        )
        both = [shown, with_context(shown)] if group.contexts else [shown]
        lines += [f".B {declared(one)}" for one in both]
        if group.types and "{NAME}" in prototype.name:
            told.append("TYPENAME, and TYPE in C: " + ", ".join(f"{n} ({t})" for n, t in group.types.items()) + ".")
        if group.sizes and "{SIZE}" in prototype.name:
            told.append(f"SIZE, the bits of an element: {', '.join(map(str, group.sizes))}.")
    lines.append(".fi")
    for words in dict.fromkeys(told):
        lines += [".PP", escaped(words)]
    if any(group.generic and "{NAME}" in prototype.name for group, prototype in routine.prototypes):
        lines += [".PP", escaped(f"In C11, {routine.name} selects the function by the types of its arguments.")]
    return lines


def page(routine: Routine, version: str, words: dict[str, dict[str, str]], beside: list[str]) -> str:
    """The page of a routine."""
    does = words["does"][routine.name]
    short = does[0].lower() + does[1:].partition(";")[0] if does[1:2].islower() else does.partition(";")[0]
    lines = [
        f'.TH {routine.name.upper()} 3 "" "Lull {version}" "OpenSHMEM 1.6"',
        ".SH NAME",
        escaped(f"{routine.name}") + " \\- " + escaped(short),
        *synopsis(routine),
        ".SH DESCRIPTION",
        escaped(f"{does}."),
    ]
    if routine.group.note:
        lines += [".PP", escaped(f"{routine.group.note}.")]
    if all(group.deprecated for group, _ in routine.prototypes):
        lines += [".PP", "OpenSHMEM deprecates this routine."]
    arguments = routine.arguments()
    lines += [".SH ARGUMENTS"] if arguments else []
    for name in arguments:
        lines += [".TP", f".I {escaped(name)}", escaped(words["arguments"][name])]
    others = ", ".join(f"\\fB{escaped(name)}\\fR(3)" for name in beside if name != routine.name)
    lines += [
        ".SH NOTES",
        "The setting LULL_WAIT selects how a PE waits in this routine; lull settings lists all settings.",
        ".SH SEE ALSO",
        f"{others}, \\fBlull\\fR(1)" if others else "\\fBlull\\fR(1)",
    ]
    return "\n".join(lines) + "\n"


def write(version: str, into: Path) -> int:
    """Write all pages into the folder and return their number."""
    interface = Interface()
    words = tomllib.loads(WORDS.read_text(encoding="utf-8"))
    folder = into / "man3"
    folder.mkdir(parents=True, exist_ok=True)
    found = routines(interface)
    pages: dict[str, str] = {}
    for routine in found.values():
        beside = [name for name, other in found.items() if other.group is routine.group]
        pages[routine.name] = page(routine, version, words, beside)
        for function in routine.functions():
            pages.setdefault(function.name, f".so man3/{routine.name}.3\n")
    for old in folder.glob("*.3"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.3"
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return len(pages)


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]))
