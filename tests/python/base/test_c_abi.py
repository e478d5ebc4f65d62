"""The C interface is stable: each library's soname, its functions and their types, layouts of structures, constants.

tests/python/kept_symbols/ has, for each library, its soname and the names that a C program sees; declarations.c has
everything else on which a compiled program relies. test_openshmem_names.py compares the functions of OpenSHMEM with the
specification instead. A new function must be added there by hand; a removal or a change needs a new soname
(docs/how-to/install.md).
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import TESTS
from symbols import OF_COUNTERS

KEPT = TESTS / "python" / "kept_symbols"
LIBRARIES = Path(sys.executable).parents[1] / "lib"
OF_OPENSHMEM = re.compile(r"p?shmem_|sh(malloc|free|realloc|memalign)$|start_pes$|_my_pe$|_num_pes$")

pytestmark = pytest.mark.skipif(shutil.which("nm") is None, reason="needs nm and readelf, of binutils")


def printed(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def kept() -> dict[str, tuple[str, list[str]]]:
    found = {}
    for path in sorted(KEPT.glob("*.txt")):
        soname, *names = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        found[path.stem] = (soname, names)
    return found


def symbols_of(library: Path) -> set[str]:
    """The names that C sees; those of C++ are inside namespaces and are not guaranteed."""
    names = {line.split()[-1].partition("@")[0] for line in printed("nm", "-D", "--defined-only", library).splitlines()}
    return {name for name in names if not name.startswith(("_Z", *OF_COUNTERS)) and not OF_OPENSHMEM.match(name)}


@pytest.mark.parametrize("name", kept())
def test_a_library_has_the_soname_and_the_functions_that_programs_were_linked_with(name: str) -> None:
    soname, names = kept()[name]
    library = LIBRARIES / f"{name}.so"
    found = re.search(r"SONAME.*\[(.+)\]", printed("readelf", "-d", library))
    assert found is not None and found[1] == soname
    assert symbols_of(library) == set(names)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_functions_structures_and_constants_are_those_that_programs_were_compiled_with(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    source, headers = KEPT / "declarations.c", LIBRARIES.parent / "include"
    command = [
        compiler,
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-fsyntax-only",
        f"-I{headers}",
        source,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def test_each_kept_function_has_its_declaration_kept() -> None:
    declared = (KEPT / "declarations.c").read_text()
    functions = set(re.findall(r"\b(\w+)\(", declared))
    accumulated = {f"shmemx_{name}_accumulate" for name in re.findall(r"\bACCUMULATE\((\w+), ", declared)}
    functions |= accumulated | {f"{name}_strided" for name in accumulated}
    of_templates = {"lull_check_cpp_abi"}  # test_cpp_abi.py
    assert {name for _, names in kept().values() for name in names} - of_templates <= functions


def test_every_library_that_programs_link_is_kept() -> None:
    linked = {path.name.removesuffix(".so.0") for path in LIBRARIES.glob("liblull-*.so.0")}
    assert linked == set(kept())


def test_functions_of_the_public_headers_are_in_a_library() -> None:
    headers = LIBRARIES.parent / "include" / "lull"
    there = {name for _, names in kept().values() for name in names}
    for header in ("meter.h", "stage.h", "aggregate.h"):
        declared = set(re.findall(r"\b(lull_\w+)\s*\(", re.sub(r"/\*.*?\*/|//.*", "", (headers / header).read_text())))
        functions = {name for name in declared if not name.endswith("_t")}
        inline = set(re.findall(r"static inline [\w* ]*?\b(lull_\w+)\(", (headers / header).read_text()))
        assert functions - inline <= there, header
