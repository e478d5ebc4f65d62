"""The interface that the templates of lull/aggregate.hpp call has a number; programs with another number are rejected.

tests/python/kept_symbols/cpp_abi_N.symbols and cpp_abi_N.cpp describe the interface with number N: the functions that
templates call, and the layouts of what they pass. When a test fails because the interface has changed, write the change
into these two files. If number N has been released, raise it, too: in include/lull/detail/cpp_abi.hpp, in the
namespaces of include/lull and src/aggregate, and in the names of the two files.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Lull
from places import TESTS

KEPT = TESTS / "python" / "kept_symbols"
PREFIX = Path(sys.executable).parents[1]
HEADERS = PREFIX / "include"
LIBRARY = PREFIX / "lib" / "liblull-shmem.so"
NUMBER = int(next(KEPT.glob("cpp_abi_*.cpp")).stem.removeprefix("cpp_abi_"))

PROGRAM = """
#include <lull/aggregate.hpp>
#include <lull/aggregate_cache.hpp>
#include <cstdio>
int main() {
  shmem_init();
  static int table[4] = {};
  { BODY }
  std::puts("ran");
  shmem_finalize();
}
"""
BODIES = {
    "aggregator": "lull::aggregator a{lull::items_of<int>{}, [](int) {}}; a.push(1, 0); a.done();",
    "bytes": "lull::aggregator a{lull::items_of<lull::byte_span>{}, [](lull::byte_span) {}}; a.push({}, 0); a.done();",
    "gatherer": "lull::gatherer g{lull::items_of<int>{}, [](int i) { return i; }}; g.done();",
    "table_reader": "lull::table_reader r{table, 4}; r.done();",
}


def say(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


def compiled(folder: Path, headers: Path, body: str, binding: str = "lazy") -> str:
    """A program compiled with these headers and linked with a library for them. It runs with the library here."""
    (folder / "program.cpp").write_text(PROGRAM.replace("BODY", body))
    say(folder, "g++", "-std=c++20", f"-I{headers}", "-c", "program.cpp")
    # That version's library, as far as the linker needs it.
    names = re.findall(r"U (\w*(?:lull|shmem)\w*)$", say(folder, "nm", "program.o"), re.MULTILINE)
    (folder / "library.s").write_text("".join(f".globl {name}\n.type {name}, @function\n{name}:\n" for name in names))
    say(folder, "gcc", "-shared", "-Wl,-soname,liblull-shmem.so.0", "-o", "liblull-shmem.so", "library.s")
    found_at_run_time = f"-Wl,-rpath,{LIBRARY.parent},-z,{binding}"
    say(folder, "g++", "program.o", "-o", "program", "-L.", "-llull-shmem", found_at_run_time)
    return "program"


def headers_of_version(folder: Path, number: int, version: str) -> Path:
    """The headers as another version might have them: all names of the interface are in a namespace of its number."""
    other = folder / "headers"
    shutil.copytree(HEADERS, other)
    for path in (*other.rglob("*.hpp"), *other.rglob("version.h")):
        text = path.read_text()
        text = text.replace(f"cpp_abi_{NUMBER}", f"cpp_abi_{number}")
        text = text.replace(f"cpp_abi = {NUMBER};", f"cpp_abi = {number};")
        text = re.sub(r'(#define LULL_VERSION) ".*"', rf'\1 "{version}"', text)
        path.write_text(text)
    return other


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_program_compiled_with_another_version_is_refused_with_one_line(lull: Lull, body: str) -> None:
    headers = headers_of_version(lull.folder, NUMBER + 1, "9.8.7")
    program = compiled(lull.folder, headers, body)
    done = lull.run("run", "-n", "2", "--nodes", "2", program)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(
        "lull: aggregate messages: this program was compiled with the headers of "
        rf"Lull 9\.8\.7 \(C\+\+ interface {NUMBER + 1}\) "
        rf"but runs with liblull-shmem \d+\.\d+\.\d+ \(C\+\+ interface {NUMBER}\); "
        "compile it again with the headers of that library",
        line,
    )


def test_a_program_of_another_version_with_the_same_interface_runs(lull: Lull) -> None:
    program = compiled(lull.folder, headers_of_version(lull.folder, NUMBER, "9.8.7"), BODIES["aggregator"])
    done = lull.run("run", "-n", "2", program)
    assert (done.stdout, done.stderr) == ("ran\n" * 2, "")


def test_where_symbols_are_bound_at_start_the_loader_refuses_it(lull: Lull) -> None:
    headers = headers_of_version(lull.folder, NUMBER + 1, "9.8.7")
    program = compiled(lull.folder, headers, BODIES["aggregator"], binding="now")
    done = subprocess.run([lull.folder / program], capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert f"undefined symbol: _ZN4lull9cpp_abi_{NUMBER + 1}" in done.stderr


def test_the_library_has_the_functions_of_this_interface_and_no_other() -> None:
    printed = subprocess.run(
        ["nm", "-DC", "--defined-only", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    there = sorted(
        line.split(maxsplit=2)[2] for line in printed.splitlines() if re.match(r"\S+ T (lull::|lull_check)", line)
    )
    assert there == (KEPT / f"cpp_abi_{NUMBER}.symbols").read_text().splitlines()


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_structures_have_the_layouts_of_this_interface(compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    command = [compiler, "-std=c++20", "-fsyntax-only", f"-I{HEADERS}", KEPT / f"cpp_abi_{NUMBER}.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]


def test_all_names_of_the_headers_are_in_the_namespace_of_this_interface() -> None:
    """Except lull/stage.hpp, which is inline and calls only C functions."""
    for path in (HEADERS / "lull").rglob("*.hpp"):
        opened = set(re.findall(r"^(?:inline )?namespace (\S+) \{", path.read_text(), re.MULTILINE))
        number = f"cpp_abi_{NUMBER}"
        assert path.name == "stage.hpp" or opened in ({"lull", number}, {"lull", number, "detail"}), path
