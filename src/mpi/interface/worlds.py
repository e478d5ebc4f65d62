"""Writes what a program sees as MPI_COMM_WORLD when ranks are set aside, into a folder:

    worlds.py FOLDER FLAVOUR HEADER [HEADER...]    FLAVOUR_worlds.cpp: for each function that these headers declare
                                                   with a communicator among its arguments, one that translates it

How an argument is translated is in src/mpi/roles/world.hpp. The headers are asked, and not mpi.toml, for these
functions are many more than those whose calls are recorded; and what a header declares is what a program may call.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from mpi import Interface
from wrappers import write

MADE = "// Made by src/mpi/interface/worlds.py of the MPI library's headers.\n"

# Their world stays the real one: the number of a handle, and the end of the whole job.
REAL_WORLD = {"MPI_Comm_c2f", "MPI_Comm_toint", "MPI_Abort"}
# More happens in these: src/mpi/roles/world.hpp has them under this name.
SPECIAL = {
    "MPI_Init": "init",
    "MPI_Init_thread": "init_thread",
    "MPI_Finalize": "finalize",
    "MPI_Comm_get_attr": "get_attribute<function::MPI_Comm_get_attr>",
    "MPI_Attr_get": "get_attribute<function::MPI_Attr_get>",
    "MPI_Comm_set_errhandler": "set_error_handler<function::MPI_Comm_set_errhandler>",
    "MPI_Errhandler_set": "set_error_handler<function::MPI_Errhandler_set>",
}


# Staged MPI-IO: src/mpi/files/files.hpp has these under this name, and a template for each kind of data function.
FILES = {
    "MPI_File_open": "open",
    "MPI_File_close": "close",
    "MPI_File_delete": "remove",
    "MPI_File_set_view": "set_view",
    "MPI_File_seek": "seek",
    "MPI_File_get_position": "get_position",
    "MPI_File_get_size": "get_size",
    "MPI_File_set_size": "set_size",
    "MPI_File_preallocate": "preallocate",
    "MPI_File_sync": "sync",
    "MPI_File_set_atomicity": "set_atomicity",
}
DATA_FUNCTIONS = [
    (re.compile(r"MPI_File_i?write(_at)?(_all)?(_begin)?(_c)?"), "write"),
    (re.compile(r"MPI_File_write(_at)?_all_end"), "end_write"),
    (re.compile(r"MPI_File_i?(read|write)(_\w+)?"), "by_library"),
]


@dataclass(frozen=True)
class Declared:
    """A function as a header declares it: the types of its parameters."""

    name: str
    types: tuple[str, ...]

    @property
    def communicators(self) -> int:
        """The bits of those parameters that are communicators."""
        return sum(1 << place for place, one in enumerate(self.types) if one == "MPI_Comm")


def type_of(parameter: str) -> str:
    """`const int dims[]` is of type `const int*`."""
    match = re.fullmatch(r"(.*?)\b(\w+)\s*((\[\d*\])*)", parameter.strip())
    if match is None or not match[1].strip():
        return parameter.strip()
    return re.sub(r"\s*\*\s*", "*", match[1]).strip() + "*" * match[3].count("[")


def declarations(text: str) -> list[Declared]:
    """The functions that take a communicator or a file, each once, in the header's order."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found: dict[str, Declared] = {}
    for name, parameters in re.findall(r"\bint\s+(MPI_\w+)\s*\(([^()]*)\)", text):
        one = Declared(name, tuple(type_of(parameter) for parameter in parameters.split(",")))
        if one.communicators or "MPI_File" in one.types:
            found.setdefault(name, one)
    return list(found.values())


def data_template(name: str) -> str | None:
    """The template that reads or writes data of a file by this function."""
    return next((template for pattern, template in DATA_FUNCTIONS if pattern.fullmatch(name)), None)


def worlds(interface: Interface, headers: str) -> str:
    """The source: by number, what is called in place of the library's function."""
    declared = {one.name: one for one in declarations(headers)}
    rows = []
    for name in interface.names():
        if name in SPECIAL:
            rows.append(f"    as_any({SPECIAL[name]}),")
        elif name in FILES:
            rows.append(f"    as_any(files::{FILES[name]}),")
        elif name in declared and (template := data_template(name)):
            types = ", ".join(declared[name].types[1:])
            rows.append(f"    as_any(files::{template}<function::{name}, {types}>),")
        elif name in declared and name not in REAL_WORLD and declared[name].communicators:
            one = declared[name]
            types = ", ".join(one.types)
            rows.append(f"    as_any(translated<function::{name}, {one.communicators:#x}, {types}>),")
        else:
            rows.append("    nullptr,")
    head = [
        MADE,
        '#include "mpi/files/files.hpp"\n#include "mpi/roles/world.hpp"\n',
        "namespace lull::mpi {\n",
        "const any_function in_our_world[] = {",
    ]
    return "\n".join([*head, *rows, "};", "", "}  // namespace lull::mpi", ""])


def main(into: Path, flavour: str, *headers: str) -> None:
    """Write the source of one flavour."""
    text = "\n".join(Path(header).read_text(encoding="utf-8") for header in headers)
    write(into / f"{flavour}_worlds.cpp", worlds(Interface(), text))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
