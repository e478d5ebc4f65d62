"""Programs that hand over blocks of variables: in C, Fortran and Python, for each writer, and as h5py sees them."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from lull.base import installed
from lull.base.errors import LullError
from lull.mpi.preload import preloaded
from lull.stage.output import Output, join
from lull.stage.plugin_host import function_of
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library, printing_to
from places import EXAMPLES

pytestmark = pytest.mark.in_turn(2)

SERVER = "lull-stage-serv"  # as far as the kernel keeps a name
PREFIX = installed.package_folder().parents[2].parent
DEDICATED = ["dedicated-cores=1", "dedicated-cores=2", "dedicated-nodes=1"]
CELLS = np.arange(120).reshape(12, 10)

DESCRIPTION = """
[layouts.rows]
type = "float64"
extents = ["rows", "columns"]
cut = ["processes", 1]

[layouts.cells]
type = "int32"
extents = ["rows", "columns"]

[variables.temperature]
layout = "rows"
unit = "K"

[variables."flow/cell"]
layout = "cells"

[output]
folder = "out"
name = "air"
"""


def pkg_config(*options: str) -> list[str]:
    env = {**os.environ, "PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig")}
    return subprocess.run(
        ["pkg-config", *options, "lull-stage"], env=env, check=True, capture_output=True, text=True
    ).stdout.split()


def is_there(package: str) -> bool:
    """Whether pkg-config knows the package."""
    return subprocess.run(["pkg-config", "--exists", package], check=False).returncode == 0


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled programs."""
    return tmp_path_factory.mktemp("programs")


def program(mpi: MpiLibrary, built: Path) -> Path:
    """The program in C, compiled once for all tests of this module."""
    here = built / mpi.name
    here.mkdir(exist_ok=True)
    made = here / "stage_blocks"
    return made if made.exists() else mpi.compiled("stage/stage_blocks.c", here, *pkg_config("--cflags", "--libs"))


@dataclass(frozen=True)
class Job:
    """Runs of programs with a description, each in its own folder."""

    mpi: MpiLibrary
    folder: Path

    def described(self, name: str, more: str = "", text: str = DESCRIPTION) -> Path:
        """A folder with the description, followed by `more`."""
        made = self.folder / name
        made.mkdir()
        (made / "air.toml").write_text(text + more)
        return made

    def run(
        self, ranks: int, approach: str, what: Path, place: Path, outputs: int = 2, *, code: int = 0, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the program with the description of a folder; without an approach it is not staged."""
        tools = {"LULL_STAGE": approach, "LULL_STAGE_PYTHON": sys.executable} if approach else None
        env.setdefault("LULL_NODES", "2" if "nodes" in approach else "1")
        words = [what, place / "air.toml", str(outputs)]
        done = self.mpi.run(ranks, *words, tools=tools, env={**env, "STARTED_IN": str(self.folder)}, folder=self.folder)
        assert done.returncode == code, done.stderr
        return done


@pytest.fixture
def job(mpi: MpiLibrary, tmp_path: Path) -> Iterator[Job]:
    yield Job(mpi, tmp_path)
    for server in processes_with(str(tmp_path), name=SERVER):  # of a test that has failed
        os.kill(server, signal.SIGCONT)
    assert gone(str(tmp_path)), "processes remain"


def ranks_for(clients: int, approach: str) -> int:
    """The number of ranks, servers included; a dedicated node has as many ranks as one of clients."""
    if "nodes" in approach:
        return 2 * clients
    return clients + (int(approach.rpartition("=")[2]) if "cores" in approach else 0)


def is_whole(place: Path, outputs: int = 2) -> bool:
    """Check that the files over all processes contain what the program has written, and nothing is left over."""
    for output in range(outputs):
        with h5py.File(place / "out" / f"air.{10 * output:06}.h5") as file:
            np.testing.assert_array_equal(file["temperature"][()], CELLS + 1000 * output)
            np.testing.assert_array_equal(file["flow/cell"][()], CELLS)
            assert file["temperature"].attrs["unit"] == "K"
            assert file["temperature"].is_virtual
            assert file.attrs["iteration"] == 10 * output
    assert not list((place / "out").rglob(".*"))
    return True


def parts(place: Path, output: int = 0) -> list[str]:
    return sorted(path.name for path in (place / "out" / f"air.{10 * output:06}").iterdir())


@each_library
@pytest.mark.parametrize("approach", ["", "time-partitioning", *DEDICATED])
def test_variables_are_whole_whoever_writes_them(job: Job, built: Path, approach: str) -> None:
    place = job.described("run")
    done = job.run(ranks_for(3, approach), approach, program(job.mpi, built), place)
    assert sorted(done.stdout.splitlines()) == [f"{i} of 3" for i in range(3)]
    assert is_whole(place)
    assert parts(place) == ["p0000.h5", "p0001.h5", "p0002.h5"]
    if approach:
        rows = {line.split()[0]: line.split() for line in done.stderr.splitlines() if line.startswith("  ")}
        role = "server" if approach in DEDICATED else "client"
        total = sum(int(line.split()[-2]) for line in done.stderr.splitlines() if line.startswith(f"  {role}"))
        assert total == 6, rows
    with h5py.File(place / "out" / "air.000010" / "p0001.h5") as file:
        np.testing.assert_array_equal(file["temperature"][()], CELLS[4:8] + 1000)
        assert list(file["temperature"].attrs["offset"]) == [4, 0]
        assert list(file.attrs["contains_processes"]) == [1]


@each_library
@pytest.mark.parametrize("approach", DEDICATED)
def test_a_server_writes_one_file_for_its_clients(job: Job, built: Path, approach: str) -> None:
    place = job.described("run", 'files = "server"\ncompression = "gzip:6"\n')
    job.run(ranks_for(3, approach), approach, program(job.mpi, built), place, 3)
    assert is_whole(place, 3)
    expected = {1: ["p0000+2.h5"], 2: ["p0000+1.h5", "p0002.h5"], 3: ["p0000.h5", "p0001.h5", "p0002.h5"]}
    servers = 3 if "nodes" in approach else int(approach.rpartition("=")[2])
    for output in range(3):
        assert parts(place, output) == expected[servers]
    if servers == 1:
        with h5py.File(place / "out" / "air.000000" / "p0000+2.h5") as file:
            np.testing.assert_array_equal(file["p0002/temperature"][()], CELLS[8:])
            assert file["p0002/temperature"].compression == "gzip"


@each_library
@pytest.mark.parametrize("approach", ["", "dedicated-cores=1"])
def test_a_program_in_fortran_writes_the_same(job: Job, built: Path, approach: str) -> None:
    if shutil.which(f"mpifort.{job.mpi.name}") is None:
        pytest.skip("needs mpifort")
    here = built / f"fortran_{job.mpi.name}"
    here.mkdir(exist_ok=True)
    [headers] = pkg_config("--variable=includedir")
    module = f"{headers}/lull/lull_stage.f90"
    checks = ["-std=f2018", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", module, "-o", str(here / "lull_stage.o")]
    subprocess.run(["gfortran", *checks], check=True, cwd=here)
    options = ["-I", str(here), str(here / "lull_stage.o"), *pkg_config("--libs")]
    stage = job.mpi.compiled("stage/stage_blocks.F90", here, *options)
    place = job.described("run")
    job.run(ranks_for(3, approach), approach, stage, place)
    assert is_whole(place)


@each_library
def test_the_example_is_a_file_of_a_server_and_pictures(job: Job, built: Path) -> None:
    place = job.described("run", text=(EXAMPLES / "diffusion.toml").read_text())
    (place / "air.toml").rename(place / "diffusion.toml")
    here = built / f"example_{job.mpi.name}"
    here.mkdir(exist_ok=True)
    made = job.mpi.compiled(EXAMPLES / "diffusion.c", here, "-Wall", *pkg_config("--cflags", "--libs"))
    tools = {"LULL_STAGE": "dedicated-cores=1", "LULL_STAGE_PYTHON": sys.executable}
    done = job.mpi.run(4, made, tools=tools, env={"STARTED_IN": str(job.folder)}, folder=place)
    assert done.returncode == 0, done.stderr
    names = {str(path.relative_to(place / "plate")) for path in (place / "plate").rglob("*") if path.is_file()}
    assert names == {
        name
        for step in range(100, 500, 100)
        for name in (
            f"diffusion.{step:06}.h5",
            f"diffusion.{step:06}/p0000+2.h5",
            f"diffusion.temperature.{step:06}.png",
        )
    }
    with h5py.File(place / "plate" / "diffusion.000400.h5") as file:
        plate = file["temperature"][()]
    np.testing.assert_allclose(plate[1:], plate[:0:-1], atol=1e-9)  # as symmetric as it began
    assert 50 < plate.max() < 100


@each_library
@pytest.mark.parametrize("approach", ["", "dedicated-cores=1"])
def test_a_program_may_use_hdf5_beside_it(job: Job, built: Path, approach: str) -> None:
    here = built / f"hdf5_{job.mpi.name}"
    here.mkdir(exist_ok=True)
    hdf5 = next((one for one in ("hdf5-serial", "hdf5") if is_there(one)), "")
    if not hdf5:
        pytest.skip("needs libhdf5-dev")
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", hdf5], check=True, capture_output=True, text=True)
    options = ["-DWITH_HDF5", *pkg_config("--cflags", "--libs"), *flags.stdout.split()]
    made = job.mpi.compiled("stage/stage_blocks.c", here, *options)
    place = job.described("run")
    for buffer in ("1G", "4K", "4K"):  # what does not fit, the process writes; it renames if there is a file already
        job.run(ranks_for(2, approach), approach, made, place, LULL_STAGE_BUFFER=buffer)
        assert is_whole(place)
        for rank in range(2):
            with h5py.File(place / f"air.toml.{rank}.h5") as file:
                assert file["rank"][()] == rank


def test_processes_in_python_write_the_same_without_mpi(tmp_path: Path) -> None:
    (tmp_path / "air.toml").write_text(DESCRIPTION)
    writer = tmp_path / "writer.py"
    writer.write_text(
        """
import sys
import numpy as np
from lull.stage.output import Output

rank, size = int(sys.argv[2]), int(sys.argv[3])
first, last = 12 * rank // size, 12 * (rank + 1) // size
cell = np.arange(120, dtype=np.int32).reshape(12, 10)[first:last]
with Output(sys.argv[1], rank, size) as output:
    output.set("rows", 12)
    output.set("columns", 10)
    output.place("flow/cell", (first, 0), cell.shape)
    for iteration in range(2):
        output.write("temperature", cell.astype(float) + 1000 * iteration)
        output.write("flow/cell", cell)
        assert output.end_iteration(10 * iteration)
"""
    )
    running = [
        subprocess.Popen([sys.executable, writer, tmp_path / "air.toml", str(rank), "5"], stderr=subprocess.PIPE)
        for rank in range(5)
    ]
    for process in running:
        _, said = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 0, said
    assert is_whole(tmp_path)


def alone(description: str, folder: Path) -> Output:
    """The first of two processes, with its description."""
    path = folder / "air.toml"
    path.write_text(description)
    output = Output(path, 0, 2)
    output.set("rows", 12)
    output.set("columns", 10)
    return output


def test_what_some_processes_have_not_written_is_missing_and_said(lull: Lull) -> None:
    with alone(DESCRIPTION, lull.folder) as output:
        output.write("temperature", CELLS[:6].astype(float))
        assert output.end_iteration(0)
    joined = lull.folder / "out" / "air.000000.h5"
    assert not joined.exists()
    done = lull.run("join", "out")
    assert done.returncode == 0
    assert done.stderr == f"lull: {joined}: the output of 1 process of 2 is missing\n"
    with h5py.File(joined) as file:
        np.testing.assert_array_equal(file["temperature"][:6], CELLS[:6])
        assert np.isnan(file["temperature"][6:]).all()
    with pytest.raises(LullError, match="contains no iterations"):
        join(lull.folder)


def test_of_two_files_of_a_process_the_newer_counts(tmp_path: Path) -> None:
    for run in range(2):
        for process in range(2):
            output = Output(DESCRIPTION.replace('"out"', f'"{tmp_path}/out"'), process, 2)
            output.set("rows", 12)
            output.set("columns", 10)
            output.write("temperature", np.full((6, 10), 10.0 * run + process))
            output.end_iteration(0)
            output.close()
    with h5py.File(tmp_path / "out" / "air.000000.h5") as file:
        assert list(file["temperature"][:, 0]) == [10] * 6 + [11] * 6


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda output: output.write("pressure", np.zeros(3)), "the description does not contain it"),
        (lambda output: output.write("temperature", np.zeros((6, 10), np.float32)), "its type is float64"),
        (lambda output: output.write("temperature", np.zeros((5, 10))), "block has 480 bytes, not 400"),
        (lambda output: output.write("flow/cell", np.zeros(0, np.int32)), "process's block is unknown"),
        (lambda output: output.place("flow/cell", (0, 0), (13, 10)), "begin at 0 with 13 of 12 elements"),
        (lambda output: output.place("flow/cell", (0,), (1,)), "it has 2 dimensions"),
        (lambda output: output.end_iteration(-1), "less than 0"),
        (lambda output: Output("x\n", 0, 1), "another output is open"),
    ],
)
def test_mistakes_are_one_line_and_change_nothing(tmp_path: Path, call: object, said: str) -> None:
    assert callable(call)
    with alone(DESCRIPTION, tmp_path) as output:
        with pytest.raises(LullError, match=said) as raised:
            call(output)
        assert "\n" not in str(raised.value)
        output.write("temperature", np.zeros((6, 10)))
        assert output.end_iteration(0)
    assert (tmp_path / "out" / "air.000000" / "p0000.h5").exists()


@dataclass(frozen=True)
class Stopped:
    """A program that waits before its output and reports when all is handed over."""

    process: subprocess.Popen[str]
    place: Path

    def servers(self) -> list[int]:
        return processes_with(str(self.place), name=SERVER)

    def hand_over(self) -> int:
        """Let it write while its server does nothing, so that everything is outstanding."""
        [server] = self.servers()
        os.kill(server, signal.SIGSTOP)
        (self.place / "go").touch()
        assert wait_until((self.place / "done").exists)
        return server


def stopped(job: Job, built: Path, place: Path, ranks: int) -> Stopped:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    environment |= {**ENVIRONMENT, "STARTED_IN": str(place)}
    words = job.mpi.start(ranks, program(job.mpi, built), place / "air.toml", "2", "stop", place)
    process = subprocess.Popen(
        words,
        env=preloaded(environment, tools={"LULL_STAGE": "dedicated-cores=1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert wait_until((place / "ready").exists), process.communicate()[1]
    return Stopped(process, place)


@each_library
@pytest.mark.parametrize("files", ["process", "server"])
def test_a_server_that_is_killed_loses_no_block(job: Job, built: Path, files: str) -> None:
    place = job.described("killed", f'files = "{files}"\n')
    run = stopped(job, built, place, 4)
    os.kill(run.hand_over(), signal.SIGKILL)
    _, said = run.process.communicate(timeout=TIMEOUT_S)
    assert run.process.returncode == 0, said
    assert said.count("has lost its server") == 3
    assert is_whole(place)


@each_library
def test_when_the_job_is_killed_what_was_handed_over_is_written(job: Job, built: Path) -> None:
    place = job.described("killed", 'files = "server"\n')
    run = stopped(job, built, place, 4)
    server = run.hand_over()
    rank = int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(rank, signal.SIGKILL)
    assert wait_until(lambda: not processes_with(str(place), name="stage_blocks"))
    os.kill(server, signal.SIGCONT)
    run.process.communicate(timeout=TIMEOUT_S)
    assert run.process.returncode != 0
    assert wait_until(lambda: not run.servers())
    assert is_whole(place)


@each_library
@pytest.mark.parametrize("approach", ["", "dedicated-cores=1"])
def test_a_full_disk_is_said_and_ends_the_job_with_a_failure(job: Job, built: Path, approach: str) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs a mount namespace")
    place = job.described("run", text=DESCRIPTION.replace("[output]", "[parameters]\nmore = 1\n\n[output]"))
    out = place / "out"
    out.mkdir()
    printed = place / "printed"
    words = shlex.join(job.mpi.start(4, *printing_to(printed), program(job.mpi, built), place / "air.toml", "20"))
    # 80 files of 10 kB each do not fit.
    script = f"mount -t tmpfs -o size=300k none {out} && {{ {words}; code=$?; find {out} -type f; exit $code; }}"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        env=preloaded(environment, tools={"LULL_STAGE": approach}) if approach else environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode != 0
    text = printed.read_text()
    assert "No space left on device" in text
    assert "HDF5-DIAG" not in text
    names = [Path(line).name for line in done.stdout.splitlines() if line.startswith(str(out))]
    assert names and len(names) < 80
    assert not [name for name in names if name.startswith(".")]


PLUGIN = """
from pathlib import Path

def look(iteration, variable, into="seen"):
    whole = iteration.whole(variable)
    line = f"{iteration.number} {len(iteration.blocks)} {whole.sum():.0f} {iteration.name}"
    (iteration.folder / f"{into}.{iteration.number}").write_text(line)

def fail(iteration):
    raise ValueError("not today")
"""

LIBRARY = """
#include <lull/stage_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int crash(const struct lull_stage_iteration* iteration) { return *(volatile int*)(iteration->number * 8); }
int leave(const struct lull_stage_iteration* iteration) { exit(iteration->number > 0 ? 3 : 0); }
int look(const struct lull_stage_iteration* iteration) {
  char path[4096];
  double sum = 0;
  for (size_t i = 0; i < iteration->blocks; ++i) {
    const struct lull_stage_block* const one = &iteration->block[i];
    if (strcmp(one->variable, "temperature") != 0 || strcmp(one->type, "float64") != 0) continue;
    for (int64_t j = 0; j < one->count[0] * one->count[1]; ++j) sum += ((const double*)one->data)[j];
  }
  snprintf(path, sizeof path, "%s/c.%d", iteration->folder, (int)iteration->number);
  FILE* const file = fopen(path, "w");
  if (file == NULL) return 1;
  fprintf(file, "%.0f %s", sum, iteration->options);
  return fclose(file);
}
"""


@each_library
def test_plug_ins_see_an_iteration_of_all_clients(job: Job, built: Path) -> None:
    [include] = pkg_config("--variable=includedir")
    place = job.described(
        "run",
        """
[[plugins]]
python = "look.py:fail"

[[plugins]]
python = "look.py:look"
options = { variable = "temperature" }

[[plugins]]
library = "./look.so"
function = "crash"

[[plugins]]
library = "./look.so"
function = "leave"

[[plugins]]
library = "./look.so"
function = "look"
every = 20
options = { a = 1, b = "x" }

[[plugins]]
python = "lull.stage.png:png_slice"
options = { variable = "temperature", low = 0.0, high = 2120.0 }
""",
    )
    (place / "look.py").write_text(PLUGIN)
    (place / "numpy.py").write_text("raise RuntimeError")  # never imported
    (place / "look.c").write_text(LIBRARY)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-I", include, "look.c", "-o", "look.so"], cwd=place, check=True
    )
    done = job.run(4, "dedicated-cores=1", program(job.mpi, built), place, 3)
    assert is_whole(place, 3)
    assert parts(place) == ["p0000.h5", "p0001.h5", "p0002.h5"]
    out = place / "out"
    for output in range(3):
        total = CELLS.sum() + 1000 * output * CELLS.size
        assert (out / f"seen.{10 * output}").read_text() == f"{10 * output} 6 {total} air"
        png = (out / f"air.temperature.{10 * output:06}.png").read_bytes()
        assert png.startswith(b"\x89PNG") and b"\0\0\0\n\0\0\0\x0c" in png  # 10 × 12
        assert (out / f"c.{10 * output}").exists() == (output != 1)
    assert (out / "c.0").read_text() == f'{CELLS.sum()} {{"a":1,"b":"x"}}'
    failures = [line for line in done.stderr.splitlines() if "look.py:fail" in line]
    assert len(failures) == 1 and "ValueError: not today" in failures[0]
    assert done.stderr.count("look.so:crash with iteration 0: run the plug-in: its process was ended by signal 11") == 1
    assert done.stderr.count("look.so:leave with iteration 0: run the plug-in: it has exited its process") == 1


def test_a_plug_in_runs_where_there_are_no_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "look.py").write_text(PLUGIN)
    monkeypatch.setenv("LULL_STAGE_PYTHON", sys.executable)
    plugin = '[[plugins]]\npython = "look.py:look"\noptions = { variable = "temperature" }\n'
    script = f"""
import numpy as np
from lull.stage.output import Output
with Output({str(tmp_path / "air.toml")!r}, 0, 1) as output:
    output.set("rows", 3)
    output.set("columns", 4)
    output.write("temperature", np.ones((3, 4)))
    output.end_iteration(7)
"""
    (tmp_path / "air.toml").write_text(DESCRIPTION + plugin)
    subprocess.run([sys.executable, "-c", script], check=True, timeout=TIMEOUT_S)
    assert (tmp_path / "out" / "seen.7").read_text() == "7 1 12 air"


def test_a_python_without_lull_is_said_in_a_line_and_the_output_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LULL_STAGE_PYTHON", "/bin/false")
    (tmp_path / "air.toml").write_text(DESCRIPTION + '[[plugins]]\npython = "lull.stage.png:png_slice"\n')
    script = f"""
import numpy as np
from lull.stage.output import Output
with Output({str(tmp_path / "air.toml")!r}, 0, 1) as output:
    output.set("rows", 3)
    output.set("columns", 4)
    for iteration in range(2):
        output.write("temperature", np.ones((3, 4)))
        output.end_iteration(iteration)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=TIMEOUT_S)
    [line] = [line for line in done.stderr.splitlines() if "png_slice" in line]
    assert "set LULL_STAGE_PYTHON to a Python interpreter for which Lull is installed" in line
    assert len(list((tmp_path / "out").glob("*.h5"))) == 2


def test_a_plug_in_is_a_function_of_a_file_or_a_module(tmp_path: Path) -> None:
    (tmp_path / "look.py").write_text(PLUGIN)
    assert function_of(f"{tmp_path}/look.py:look").__name__ == "look"
    assert function_of("lull.stage.png:png_slice").__name__ == "png_slice"
    with pytest.raises(AttributeError):
        function_of("lull.stage.png:jpeg_slice")
