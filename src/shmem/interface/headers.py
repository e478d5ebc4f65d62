"""Writes the headers of OpenSHMEM from openshmem.toml: headers.py INTO puts pshmem.h and lull/shmem_*.h there.

Each header has a template, NAME.h.in in this folder, in which a line @PART@ is replaced by what PARTS below makes of
the table. A header whose text would not change is not written, so that nothing is recompiled.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from openshmem import Function, Generic, Group, Interface

HERE = Path(__file__).parent
TEMPLATES = {  # header -> its template
    "pshmem.h": "pshmem.h.in",
    "lull/shmem_types.h": "shmem_types.h.in",
    "lull/shmem_functions.h": "shmem_functions.h.in",
    "lull/shmem_deprecated.h": "shmem_deprecated.h.in",
    "lull/shmem_complex.h": "shmem_complex.h.in",
    "lull/shmem_generic.h": "shmem_generic.h.in",
}
WIDTH = 118
AS_MACRO = {"double _Complex": "LULL_COMPLEX_DOUBLE", "float _Complex": "LULL_COMPLEX_FLOAT"}
AS_STD = {"double _Complex": "std::complex<double>", "float _Complex": "std::complex<float>"}


def wrapped(start: str, items: Iterable[str], joint: str, end: str, indent: int, line_end: str = "") -> str:
    """`start`, the items and `end` in lines of at most WIDTH columns; continuation lines are indented by `indent`."""
    lines, line = [], start
    parts = list(items)
    for number, item in enumerate(parts):
        text = item + (joint.rstrip() if number + 1 < len(parts) else end)
        space = " " if number and line.strip() else ""
        if len(line) + len(space) + len(text) > WIDTH and line.strip():
            lines.append(line)
            line, space = " " * indent, ""
        line += space + text
    return (line_end + "\n").join([*lines, line])


def spelled(c_type: str, spelling: dict[str, str]) -> str:
    """A type as a header writes it."""
    for plain, written in spelling.items():
        c_type = c_type.replace(plain, written)
    return c_type


def declaration(f: Function, name: str, spelling: dict[str, str], before: str, end: str) -> str:
    """`before result name(parameters)end`."""
    result = spelled(f.result, spelling)
    head = f"{before} {result} {name}("
    parameters = [f"{spelled(p.type, spelling)} {p.name}".strip() for p in f.parameters] or ["void"]
    return wrapped(head, parameters, ", ", ")" + end, len(head))


def heading(group: Group, already: set[str]) -> str:
    """The comment above a group, preceded by the section's name above the first group of a section."""
    text = group.title + (f"; {group.note}" if group.note else "")
    over = "" if group.section in already else f"/* ---- {group.section} ---- */\n\n"
    already.add(group.section)
    return f"{over}/* {text} */"


def declarations(groups: Iterable[Group], prefix: str = "") -> str:
    """The prototypes of all functions; with a `prefix`, of those named shmem_*, with the prefix before the name."""
    made, already = [], set[str]()
    for group in groups:
        families = [[f for f in family if not prefix or f.name.startswith("shmem_")] for family in group.families()]
        if not any(families):
            continue
        made.append(heading(group, already))
        single: list[str] = []  # functions without a family are not separated by empty lines
        for family in families:
            lines = [declaration(f, prefix + f.name, AS_MACRO, "LULL_API", ";") for f in family]
            if len(lines) > 1:
                made += ["\n".join(single), ""] if single else []
                made += ["\n".join(lines), ""]
                single = []
            else:
                single += lines
        made += ["\n".join(single), ""] if single else []
    return "\n".join(made).rstrip("\n")


def overloads(interface: Interface, prefix: str = "") -> str:
    """For C++: the functions of complex numbers for std::complex."""
    made = []
    for f in interface.functions():
        if f.type not in AS_STD:
            continue
        name = prefix + f.name
        arguments = [f"lull_as_in_c({p.name})" if f.type in p.type else p.name for p in f.parameters]
        made.append(declaration(f, name, AS_STD, "inline", " {"))
        head = f"  return {name}("
        made += [wrapped(head, arguments, ", ", ");", len(head)), "}"]
    return "\n".join(made)


def type_table(macro: str, types: dict[str, str]) -> str:
    """`#define MACRO(X, A) X(float, float, A) …`."""
    rows = [f"X({name}, {spelled(c_type, AS_MACRO)}, A)" for name, c_type in types.items()]
    return f"#define {macro}(X, A) \\\n" + wrapped("  ", rows, "", "", 2, " \\")


def type_tables(interface: Interface) -> str:
    """One macro for each class of types, and one with its distinct C types if the class has type-generic names."""
    generic = {group.class_name for group in interface.groups if group.generic}
    made = []
    for name, types in interface.classes.items():
        macro = f"LULL_{name.upper()}_TYPES"
        made += [f"/* {interface.said_of(name)} */", type_table(macro, types)]
        made += [type_table(macro + "_C", interface.once(name))] if name in generic else []
        made.append("")
    sizes = " ".join(f"X({size})" for size in interface.sizes)
    made += ["/* Elements named by their bits: X(SIZE) */", f"#define LULL_SIZES(X) {sizes}"]
    return "\n".join(made)


def generic_name(generic: Generic) -> str:
    """`#define shmem_put(...) …`."""
    types = f"LULL_{generic.group.class_name.upper()}_TYPES_C"
    if generic.group.contexts:
        chosen = f"LULL_CALL({len(generic.parameters)}, "
    else:
        chosen = ("LULL_BY_FIRST(", "LULL_BY_SECOND(")[generic.chooses_by]
    return f"#define {generic.name}(...) {chosen}{types}, {generic.suffix}, __VA_ARGS__)"


def generic_names(interface: Interface) -> str:
    """All type-generic names that choose by a type."""
    made = []
    for group in interface.groups:
        if group.generics():
            made += [f"/* {group.title} */", *map(generic_name, group.generics()), ""]
    return "\n".join(made).rstrip("\n")


PARTS: dict[str, Callable[[Interface], str]] = {
    "types": type_tables,
    "functions": lambda of: declarations(group for group in of.groups if not group.deprecated),
    "deprecated": lambda of: declarations(group for group in of.groups if group.deprecated),
    "second_names": lambda of: declarations(of.groups, prefix="p"),
    "overloads": overloads,
    "second_overloads": lambda of: overloads(of, prefix="p"),
    "generics": generic_names,
}


def main(into: Path) -> None:
    """Write the headers that differ from those in `into`."""
    interface = Interface()
    for name, template in TEMPLATES.items():
        text = (HERE / template).read_text(encoding="utf-8")
        text = re.sub(r"^@(\w+)@$", lambda mark: PARTS[mark[1]](interface), text, flags=re.MULTILINE)
        header = into / name
        if not header.exists() or header.read_text(encoding="utf-8") != text:
            header.parent.mkdir(parents=True, exist_ok=True)
            header.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
