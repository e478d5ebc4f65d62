"""Every routine of OpenSHMEM is tested: the program that tests/openshmem_routines.toml names calls all its functions.

The functions that a program calls are found in its source as the compiler sees it after the expansion of macros. Those
of collectives over active sets with bits in their names belong to the routines of teams, and active_sets calls them.
"""

import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from lull.base import installed
from openshmem import Interface
from openshmem_routines import program_of_each
from places import TESTS
from run_cases import DESCRIPTION

INCLUDE = installed.package_folder().parents[2].parent / "include"
RUN = TESTS / "run"
WITH_CASES = {*DESCRIPTION["programs"], "mistakes"}  # CMakeLists.txt has those of the latter


def source_of(program: str) -> Path:
    found = [path for path in RUN.rglob(f"{program}.c*") if path.suffix in {".c", ".cpp"}]
    assert len(found) == 1, program
    return found[0]


@cache
def words_of(program: str) -> frozenset[str]:
    """The words in a program and the headers of tests/run, after expansion, without those of other headers."""
    source = source_of(program)
    compiler = ["g++", "-std=c++20"] if source.suffix == ".cpp" else ["gcc", "-std=c11"]
    done = subprocess.run(
        [*compiler, "-E", f"-I{INCLUDE}", f"-I{RUN}", source], capture_output=True, text=True, check=True
    )
    words: set[str] = set()
    ours = False
    for line in done.stdout.splitlines():
        if mark := re.match(r'# \d+ "(.*?)"', line):
            ours = mark[1].startswith(str(RUN))
        elif ours:
            words.update(re.findall(r"\b_?\w+", line))
    return frozenset(words)


def test_a_program_calls_every_function_of_each_routine() -> None:
    programs = program_of_each(Interface())
    assert set(programs.values()) <= WITH_CASES
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(words_of, {*programs.values(), "active_sets"}))
    missing = {
        function.name: program
        for routine, program in programs.items()
        for function in routine.functions()
        if function.name not in words_of(program) | words_of("active_sets")
    }
    assert missing == {}
