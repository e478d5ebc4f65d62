"""A user's own program: compiled by the wrapper, pkg-config, CMake or with MPI, then started by each launcher."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from bounds import TIMEOUT_S
from conftest import Lull, compiled
from lull.base.installed import executable
from mpi_libraries import HAS_OPEN_MPI_5
from places import EXAMPLES, TOP

pytestmark = pytest.mark.in_turn(2)

# `make test-install` names another prefix, that of `cmake --install`.
PREFIX = Path(os.environ.get("INSTALLED_PREFIX", Path(sys.executable).parents[1]))
MPIRUN = ("mpirun", "--oversubscribe", "-n", "4")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

needs_mpirun = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun")
needs_mpicc = pytest.mark.skipif(shutil.which("mpicc") is None, reason="needs mpicc, of libopenmpi-dev")


def say(*command: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """The output of the command, which must succeed."""
    done = subprocess.run(
        command,
        env={**os.environ, **AS_ROOT, **(env or {})},
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pkg_config(*of: str) -> list[str]:
    return say("pkg-config", *of, env={"PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}).split()


def went_round_the_ring(printed: str) -> bool:
    return sorted(printed.splitlines()) == [f"PE {pe} of 4 got {100 + (pe + 3) % 4}" for pe in range(4)]


def test_the_wrapper_compiles_c_for_each_launcher(lull: Lull) -> None:
    say(PREFIX / "bin" / "lullcc", "-O2", EXAMPLES / "ring.c", "-o", "ring", cwd=lull.folder)
    assert went_round_the_ring(lull.run("run", "-n", "4", "ring").stdout)
    assert went_round_the_ring(lull.run("run", "-n", "4", "--nodes", "2", "ring").stdout)
    if shutil.which("mpirun"):
        assert went_round_the_ring(say(*MPIRUN, "./ring", cwd=lull.folder))
    assert say("./ring", cwd=lull.folder) == "PE 0 of 1 got 100\n"


def test_the_wrapper_compiles_cpp(lull: Lull) -> None:
    say(PREFIX / "bin" / "lullc++", "-std=c++20", "-o", "bins", EXAMPLES / "bins.cpp", cwd=lull.folder)
    assert lull.run("run", "-n", "2", "bins").stdout.count("buffers sent") == 2


def test_the_wrapper_compiles_aggregation_in_c(lull: Lull) -> None:
    say(PREFIX / "bin" / "lullcc", "-O2", "-std=c99", EXAMPLES / "histogram.c", "-o", "histogram", cwd=lull.folder)
    for nodes in ("1", "2"):
        printed = lull.run("run", "-n", "2", "--nodes", nodes, "histogram").stdout.splitlines()
        assert sum(int(line.split()[2]) for line in printed) == 2_000_000


def test_compiling_and_linking_can_be_two_steps(lull: Lull) -> None:
    wrapper = PREFIX / "bin" / "lullcc"
    compile_only = say(wrapper, "-show", "-c", EXAMPLES / "ring.c")
    assert "-I" in compile_only and "-l" not in compile_only
    say(wrapper, "-c", EXAMPLES / "ring.c", "-o", "an object.o", cwd=lull.folder)
    say(wrapper, "an object.o", "-o", "ring", cwd=lull.folder)
    assert went_round_the_ring(lull.run("run", "-n", "4", "ring").stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "nothing to compile; name a source file"),
        (["-cc=no-such-compiler", "ring.c"], 1, "there is no no-such-compiler on PATH; name a compiler with -cc"),
    ],
)
def test_what_the_wrapper_cannot_do_is_one_line(arguments: list[str], code: int, says: str) -> None:
    done = subprocess.run([PREFIX / "bin" / "lullcc", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert len(done.stderr.splitlines()) == 1 and says in done.stderr


# The oldest standard of C and of C++ for each public header, according to docs/how-to/run/write-a-shmem-program.md.
STANDARDS = {
    "shmem.h shmemx.h pshmem.h mpp/shmem.h mpp/shmemx.h lull/aggregate.h": ("c99", "c++11"),
    "lull/meter.h lull/version.h": ("c90", "c++11"),
    "lull/stage.h lull/stage_plugin.h": ("c99", "c++11"),
    "lull/stage.hpp": (None, "c++20"),
    "lull/aggregate.hpp lull/aggregate_bins.hpp lull/aggregate_cache.hpp lull/aggregate_options.hpp lull/gatherer.hpp "
    "lull/pusher.hpp": (None, "c++20"),
}


@pytest.mark.parametrize("compilers", [("gcc", "g++"), ("clang", "clang++")], ids=["gcc", "clang"])
def test_each_header_compiles_by_the_standard_it_needs(tmp_path: Path, compilers: tuple[str, str]) -> None:
    if shutil.which(compilers[1]) is None:
        pytest.skip(f"no {compilers[1]}")
    folder = PREFIX / "include"
    found = {str(path.relative_to(folder)) for path in folder.rglob("*.h*")}
    details = {name for name in found if name.startswith("lull/detail/")}
    public = {name for name in found - details if not name.startswith("lull/shmem_")}
    assert public == {name for names in STANDARDS for name in names.split()}
    for names, standards in {**STANDARDS, " ".join(details): (None, "c++20")}.items():
        for compiler, standard, suffix in zip(compilers, standards, (".c", ".cpp"), strict=True):
            if standard is None:
                continue
            for name in names.split():  # each alone, twice
                source = tmp_path / f"header{suffix}"
                source.write_text(f"#include <{name}>\n" * 2 + "int main(void) { return 0; }\n")
                flags = [f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
                say(compiler, *flags, f"-I{PREFIX}/include", source)


OSH_NAMES = ("oshcc", "oshc++", "oshcxx", "oshCC", "oshrun")


@pytest.mark.skipif("INSTALLED_PREFIX" in os.environ, reason="this prefix has no command lull")
def test_the_names_of_the_specification_are_those_of_lull(lull: Lull) -> None:
    path = f"{PREFIX / 'bin'}:{os.environ['PATH']}"
    for name in OSH_NAMES:
        assert shutil.which(name, path=path) == str(PREFIX / "bin" / name)
    say("oshcc", "-o", "ring", EXAMPLES / "ring.c", cwd=lull.folder, env={"PATH": path})
    for number in ("-np", "-n"):
        printed = say("oshrun", number, "4", "./ring", cwd=lull.folder, env={"PATH": path})
        assert went_round_the_ring(printed)
    said = say("oshrun", "-np", "1", "sh", "-c", "echo $0 $1", "-np", "3", cwd=lull.folder, env={"PATH": path})
    assert said == "-np 3\n"
    for name in ("oshc++", "oshcxx", "oshCC"):
        say(name, "-std=c++20", "-c", EXAMPLES / "bins.cpp", cwd=lull.folder, env={"PATH": path})


def test_the_names_of_the_specification_are_installed_where_asked_for(tmp_path: Path) -> None:
    source = TOP
    options = [f"-DLULL_BUILD_{part}=OFF" for part in ("PYTHON", "TESTS")]
    for choice in ([], ["-DLULL_INSTALL_OSH_NAMES=ON"]):
        say("cmake", "-S", source, "-B", tmp_path, *options, *choice)
        installs = (tmp_path / "cmake_install.cmake").read_text()
        assert "/lullcc" in installs
        assert ("/oshcc" in installs) == bool(choice)


@pytest.mark.parametrize("option", ["-show", "-showme", "--showme"])
def test_the_wrapper_shows_its_command_or_the_flags_alone(option: str) -> None:
    wrapper = PREFIX / "bin" / "lullcc"
    command = say(wrapper, option, "ring.c").split()
    assert command[0] == "cc" and "ring.c" in command
    if option == "-show":
        return
    compiling, linking = (say(wrapper, f"{option}:{step}").split() for step in ("compile", "link"))
    assert command == ["cc", *compiling, "ring.c", *linking]


def test_the_wrapper_says_what_it_adds() -> None:
    printed = say(PREFIX / "bin" / "lullc++", "--help")
    for part in ("lullc++ [", "-cc=COMPILER", "-showme:link", f"-I{PREFIX}/include", "-llull-shmem", "c++"):
        assert part in printed


def test_pkg_config_knows_the_flags(lull: Lull) -> None:
    flags = pkg_config("--cflags", "--libs", "lull-shmem")
    say("cc", "-o", "ring", EXAMPLES / "ring.c", *flags, cwd=lull.folder)
    assert went_round_the_ring(lull.run("run", "-n", "4", "ring").stdout)


BLOCKS = """
#include <lull/stage.hpp>
#include <iostream>
#include <vector>
int main() {
  lull::stage_output output("[layouts.all]\\ntype = 'float64'\\nextents = ['n']\\n"
                            "[variables.values]\\nlayout = 'all'\\n", 0, 1);
  output.set("n", 3);
  output.place("values", {0}, {3});
  try {
    output.write("values", std::vector<float>(3));
  } catch (const lull::stage_error& why) {
    std::cout << why.what() << '\\n';
  }
  try {
    output.place("values", {0, 1}, {3});
  } catch (const lull::stage_error&) {
    output.write("values", std::vector<double>{1, 2, 3});
  }
  return output.end_iteration(1) ? 0 : 1;
}
"""


def test_a_cmake_project_finds_the_package(lull: Lull) -> None:
    for source in ("ring.c", "bins.cpp"):
        shutil.copy(EXAMPLES / source, lull.folder)
    (lull.folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\n"
        "project(mine LANGUAGES C CXX)\n"
        "find_package(lull 0.1 REQUIRED)\n"
        "add_executable(ring ring.c)\n"
        "target_link_libraries(ring PRIVATE lull::shmem)\n"
        "add_executable(bins bins.cpp)\n"
        "target_compile_features(bins PRIVATE cxx_std_20)\n"
        "target_link_libraries(bins PRIVATE lull::shmem lull::meter)\n"
        "add_executable(blocks blocks.cpp)\n"
        "target_compile_features(blocks PRIVATE cxx_std_20)\n"
        "target_link_libraries(blocks PRIVATE lull::stage)\n"
    )
    (lull.folder / "blocks.cpp").write_text(BLOCKS)
    say("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", cwd=lull.folder)
    say("cmake", "--build", "build", cwd=lull.folder)
    assert went_round_the_ring(lull.run("run", "-n", "4", "build/ring").stdout)
    assert lull.run("run", "-n", "2", "build/bins").stdout.count("buffers sent") == 2
    assert say("build/blocks", cwd=lull.folder).count("its type is float64, not float32") == 1
    with h5py.File(lull.folder / "output.000001.h5") as file:
        assert list(file["values"]) == [1, 2, 3]


@needs_mpirun
@needs_mpicc
def test_an_mpi_program_can_use_openshmem(lull: Lull) -> None:
    expected = {f"PE {pe} is rank {pe}; sum 10" for pe in range(4)}
    flags = pkg_config("--cflags", "--libs", "lull-shmem")
    say("mpicc", "-o", "by-flags", EXAMPLES / "both.c", *flags, cwd=lull.folder)
    say("mpicc", "-o", "by-wrapper", EXAMPLES / "both.c", env={"OMPI_CC": str(PREFIX / "bin/lullcc")}, cwd=lull.folder)
    for program in ("./by-flags", "./by-wrapper"):
        assert set(say(*MPIRUN, program, cwd=lull.folder).splitlines()) == expected
        assert set(lull.run("run", "-n", "4", program).stdout.splitlines()) == expected


@needs_mpirun
@needs_mpicc
@pytest.mark.parametrize("nodes", ["1", "2"])
@pytest.mark.parametrize("launcher", [MPIRUN, (executable("lull-launch"), "-n", "4")], ids=["mpirun", "lull run"])
def test_mpi_and_openshmem_begin_and_end_in_either_order(
    tmp_path: Path, launcher: tuple[str | Path, ...], nodes: str
) -> None:
    flags = [*say("mpicc", "-showme:compile").split(), *say("mpicc", "-showme:link").split()]
    program = compiled("mpi/with_mpi.c", tmp_path, *flags)
    # The MPI_Init of Open MPI 5.0.7 fails if any other code has called PMIx_Init before.
    for begins in ("mpi",) if HAS_OPEN_MPI_5 else ("mpi", "shmem"):
        for ends in ("mpi", "shmem"):
            printed = say(*launcher, program, begins, ends, env={"LULL_NODES": nodes})
            assert printed == "4 ranks are PEs\n", f"{begins} begins, {ends} ends"
