"""The routines of OpenSHMEM, and for each the program of tests/run that calls all its functions."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

from man_pages import Routine, routines
from openshmem import Interface

TABLE = Path(__file__).parents[2] / "openshmem_routines.toml"


def program_of_each(interface: Interface) -> dict[Routine, str]:
    """The program for each routine, in the order of the interface; raises ValueError unless there is exactly one."""
    table: dict[str, list[str]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found = {}
    for routine in routines(interface).values():
        programs = [program for program, names in table.items() if any(fnmatchcase(routine.name, n) for n in names)]
        if len(programs) != 1:
            raise ValueError(f"{TABLE}: {routine.name} is tested by {', '.join(programs) or 'no program'}")
        found[routine] = programs[0]
    return found
