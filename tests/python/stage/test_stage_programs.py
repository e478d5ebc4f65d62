"""MPI programs whose output others write: they see a smaller world, and their files are those of a run without Lull."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from lull.mpi.preload import preloaded
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library, printing_to
from raw_records import read_raw

SERVER = "lull-stage-serv"  # as far as the kernel keeps a name


def is_there(package: str) -> bool:
    """Whether pkg-config knows the package."""
    return subprocess.run(["pkg-config", "--exists", package], check=False).returncode == 0


HDF5 = next((package for package in ("hdf5-serial", "hdf5") if is_there(package)), "")

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not HDF5, reason="needs libhdf5-dev")]

DEDICATED = ["dedicated-cores=1", "dedicated-cores=2", "dedicated-nodes=1"]


def flags(*what: str) -> list[str]:
    return subprocess.run(["pkg-config", *what], check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled programs."""
    return tmp_path_factory.mktemp("programs")


def program(mpi: MpiLibrary, built: Path, *more: str, name: str = "stage_hdf5") -> Path:
    """The program in C that calls MPI and HDF5 only, compiled once for all tests of this module."""
    here = built / mpi.name
    here.mkdir(exist_ok=True)
    made = here / name
    if made.exists():
        return made
    return mpi.compiled("stage/stage_hdf5.c", here, *flags("--cflags", "--libs", HDF5), *more, name=name)


@dataclass(frozen=True)
class Job:
    """Runs of one program, each with its files in its own folder."""

    mpi: MpiLibrary
    folder: Path

    def place(self, name: str) -> Path:
        made = self.folder / name
        made.mkdir()
        return made

    def run(
        self, ranks: int, approach: str, what: Path, *arguments: str, **env: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the program, which writes into the folder `approach`, or `plain` without Lull; it must succeed."""
        into = self.place(approach or "plain")
        tools = {"LULL_STAGE": approach} if approach else None
        done = self.mpi.run(ranks, what, into, *arguments, tools=tools, env=env, folder=self.folder)
        assert done.returncode == 0, done.stderr
        return done

    def files(self, name: str) -> dict[str, bytes]:
        """The content of one of the folders, hidden files included."""
        return {path.name: path.read_bytes() for path in (self.folder / name).iterdir()}


@pytest.fixture
def job(mpi: MpiLibrary, tmp_path: Path) -> Iterator[Job]:
    yield Job(mpi, tmp_path)
    for server in processes_with(str(tmp_path), name=SERVER):  # of a test that has failed
        os.kill(server, signal.SIGCONT)
    assert gone(str(tmp_path)), "processes remain"


def ranks_for(clients: int, approach: str) -> int:
    """The number of ranks, servers included; a dedicated node has as many ranks as one of clients."""
    return 2 * clients if "nodes" in approach else clients + int(approach.rpartition("=")[2])


@each_library
@pytest.mark.parametrize("approach", DEDICATED)
def test_files_are_those_of_a_run_without_lull(job: Job, built: Path, approach: str) -> None:
    stage = program(job.mpi, built)
    plain = job.run(3, "", stage, "3")
    staged = job.run(ranks_for(3, approach), approach, stage, "3", LULL_NODES="2" if "nodes" in approach else "1")
    assert sorted(staged.stdout.splitlines()) == sorted(plain.stdout.splitlines()) == [f"{i} of 3" for i in range(3)]
    assert len(job.files("plain")) == 9
    assert job.files(approach) == job.files("plain")
    table = [line.split() for line in staged.stderr.splitlines() if line.startswith(("  client", "  server"))]
    assert sum(int(row[-2]) for row in table if row[0] == "server") == 9
    if shutil.which("h5diff"):
        for name in job.files("plain"):
            subprocess.run(["h5diff", job.folder / "plain" / name, job.folder / approach / name], check=True)


@each_library
@pytest.mark.parametrize("fortran", ["MPIF", "MPI", "MPI_F08"])
def test_netcdf_from_fortran_in_each_of_its_three_ways(job: Job, built: Path, fortran: str) -> None:
    if shutil.which("nf-config") is None:
        pytest.skip("needs libnetcdff-dev")
    made = built / f"netcdf_{job.mpi.name}_{fortran}"
    options = [f"-DWITH_{fortran}", *flags("--cflags", "--libs", "netcdf-fortran"), "-I/usr/include"]
    job.mpi.compiled("stage/stage_netcdf.F90", built, *options, name=made.name)
    job.run(3, "", made)
    staged = job.run(4, "dedicated-cores=1", made)
    assert sorted(staged.stdout.splitlines()) == [f"{i} of 3" for i in range(3)]
    assert len(job.files("plain")) == 9
    assert job.files("dedicated-cores=1") == job.files("plain")


@each_library
def test_with_time_partitioning_nobody_is_set_aside(job: Job, built: Path) -> None:
    stage = program(job.mpi, built)
    job.run(2, "", stage, "2")
    done = job.run(2, "time-partitioning", stage, "2")
    assert job.files("time-partitioning") == job.files("plain")
    [row] = [line.split() for line in done.stderr.splitlines() if line.startswith("  client")]
    assert (row[1], row[-2]) == ("2", "4")
    assert "server" not in done.stderr


@each_library
def test_auto_chooses_by_the_model_and_then_by_what_it_has_seen(job: Job, built: Path, lull: Lull) -> None:
    lull.env |= {**ENVIRONMENT, "XDG_CACHE_HOME": str(job.folder / "cache")}
    into = job.place("auto")
    command = job.mpi.start(3, program(job.mpi, built), into, "3")
    said = []
    for _ in range(2):
        done = lull.cold.run("stage", "--approach", "auto", "--", *command)
        assert done.returncode == 0, done.stderr
        assert len(job.files("auto")) == 3 * len(done.stdout.splitlines()) > 0
        for path in into.iterdir():
            path.unlink()
        said += [line for line in done.stderr.splitlines() if "auto takes" in line]
    assert len(said) == 2
    assert "auto takes time-partitioning, by the model, without figures of an earlier run" in said[0]
    assert "by the figures of earlier runs" in said[1]


@each_library
@pytest.mark.parametrize("how", ["late", "again", "open"])
def test_files_used_in_other_ways_than_created_and_closed(job: Job, built: Path, how: str) -> None:
    stage = program(job.mpi, built)
    job.run(2, "", stage, "2", how)
    done = job.run(3, "dedicated-cores=1", stage, "2", how)
    assert job.files("dedicated-cores=1") == job.files("plain")
    said = [line for line in done.stderr.splitlines() if line.startswith("lull: ")]
    assert len(said) == (how != "late")
    assert how != "again" or "opened again for changes" in said[0]
    assert how != "open" or "it is still open when MPI ends" in said[0]


@each_library
@pytest.mark.parametrize("tool", ["", "LULL_TRACE"])
def test_a_program_sees_mpi_as_without(job: Job, tmp_path: Path, tool: str) -> None:
    behaviours = job.mpi.compiled("mpi/mpi_behaviours.c", tmp_path)
    tools = {"LULL_STAGE": "dedicated-cores=1", **({tool: str(tmp_path / "trace")} if tool else {})}
    done = job.mpi.run(5, behaviours, tmp_path / "file", tools=tools)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 11
    assert "files of several processes: 4 writes of 4 pieces" in done.stderr
    if tool:
        assert [process.rank for process in read_raw(tmp_path / "trace")] == [0, 1, 2, 3]


@dataclass(frozen=True)
class Stopped:
    """A program that waits before its output and reports when all is handed over, with the environment of its job."""

    process: subprocess.Popen[str]
    into: Path

    def servers(self) -> list[int]:
        return processes_with(str(self.into.parent), name=SERVER)

    def hand_over(self) -> None:
        """Let it write while its server does nothing, so that everything is outstanding."""
        [server] = self.servers()
        os.kill(server, signal.SIGSTOP)
        (self.into / "go").touch()
        assert wait_until((self.into / "done").exists)

    def files(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.into.iterdir() if path.suffix == ".h5"}


def stopped(job: Job, built: Path, into: Path, ranks: int, *outputs: str) -> Stopped:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    environment |= {**ENVIRONMENT, "STARTED_IN": str(into.parent)}
    process = subprocess.Popen(
        job.mpi.start(ranks, program(job.mpi, built), into, *(outputs or "3"), "stop"),
        env=preloaded(environment, tools={"LULL_STAGE": "dedicated-cores=1"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert wait_until((into / "ready").exists), process.communicate()[1]
    return Stopped(process, into)


@each_library
def test_a_server_that_is_killed_loses_no_file(job: Job, built: Path) -> None:
    job.run(3, "", program(job.mpi, built), "3")
    run = stopped(job, built, job.place("killed"), 4)
    run.hand_over()
    [server] = run.servers()
    os.kill(server, signal.SIGKILL)
    _, said = run.process.communicate(timeout=TIMEOUT_S)
    assert run.process.returncode == 0
    assert run.files() == job.files("plain")
    assert said.count("has lost its server") == 3


@each_library
def test_when_the_job_is_killed_what_was_handed_over_is_written(job: Job, built: Path) -> None:
    job.run(3, "", program(job.mpi, built), "3")
    run = stopped(job, built, job.place("killed"), 4)
    run.hand_over()
    [server] = run.servers()
    rank = int(Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(rank, signal.SIGKILL)
    assert wait_until(lambda: not processes_with(str(run.into.parent), name="stage_hdf5"))
    os.kill(server, signal.SIGCONT)
    run.process.communicate(timeout=TIMEOUT_S)
    assert run.process.returncode != 0
    assert wait_until(lambda: not run.servers())
    assert run.files() == job.files("plain")
    assert not list(run.into.glob(".*"))


@each_library
def test_a_full_disk_is_said_and_ends_the_job_with_a_failure(job: Job, built: Path) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs a mount namespace")
    into = job.place("small")
    printed = into.parent / "printed"
    words = shlex.join(job.mpi.start(3, *printing_to(printed), program(job.mpi, built), into, "3"))
    script = f"mount -t tmpfs -o size=200k none {into} && {{ {words}; code=$?; ls -A {into}; exit $code; }}"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        env=preloaded(environment, tools={"LULL_STAGE": "dedicated-cores=1"}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode != 0
    assert "No space left on device" in printed.read_text()
    names = [line for line in done.stdout.splitlines() if line.endswith("h5") or line.startswith(".")]
    assert names and all(name.startswith("out.") for name in names) and len(names) < 6


@each_library
def test_hdf5_linked_statically_is_pointed_out_at_the_end(job: Job, built: Path) -> None:
    [folder] = [word[2:] for word in flags("--libs-only-L", HDF5)] or [""]
    archive = Path(folder) / "libhdf5.a"
    if not archive.exists():
        pytest.skip(f"needs {archive}")
    here = built / f"static_{job.mpi.name}"
    here.mkdir(exist_ok=True)
    rest = ["-lcrypto", "-lcurl", "-lsz", "-lz", "-ldl", "-lm"]
    stage = job.mpi.compiled("stage/stage_hdf5.c", here, *flags("--cflags", HDF5), str(archive), *rest)
    done = job.run(3, "dedicated-cores=1", stage, "1")
    assert sorted(job.files("dedicated-cores=1")) == ["out.0.0.h5", "out.0.1.h5"]
    assert "neither HDF5 nor MPI-IO wrote a file" in done.stderr


@each_library
def test_children_of_a_program_pass_untouched(job: Job) -> None:
    command = ["sh", "-c", "h5dump --version >/dev/null; ls / >/dev/null && echo well"]
    done = job.mpi.run(2, *command, tools={"LULL_STAGE": "dedicated-cores=1"})
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["well", "well"], "")


@each_library
def test_ranks_that_would_leave_no_client_are_refused_in_a_line(job: Job, built: Path) -> None:
    done = job.run(2, "dedicated-nodes=1", program(job.mpi, built), "1")
    said = [line for line in done.stderr.splitlines() if line.startswith("lull: ")]
    assert len(said) == 1 and said[0].endswith("the program writes its output itself")
    assert sorted(done.stdout.splitlines()) == ["0 of 2", "1 of 2"]


def test_the_command_sets_what_is_asked_for(lull: Lull, tmp_path: Path) -> None:
    names = ("", "_BUFFER", "_WHEN_FULL", "_FSYNC", "_CLOSE", "_SYNC", "_VERIFY")
    shown = " ".join(["echo", *(f"$LULL_STAGE{name}" for name in names), "$LD_PRELOAD"])
    options = ["--approach", "dedicated-cores=2", "--buffer", "64M", "--when-full", "drop", "--no-fsync"]
    options += ["--close", "wait", "--sync", "order", "--checksums", str(tmp_path)]
    done = lull.cold.run("stage", *options, "--", "sh", "-c", shown)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:7] == ["dedicated-cores=2", "64M", "drop", "0", "wait", "order", str(tmp_path)]
    assert "liblull-mpi.so" in done.stdout and "liblull-hdf5.so" in done.stdout


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--approach", "dedicated-cores=0"], "no such approach"),
        (["--approach", "sometimes"], "no such approach"),
        (["--approach", "dedicated-cores", "--buffer", "much"], "LULL_STAGE_BUFFER"),
        (["--approach", "time-partitioning", "--checksums", "."], "no server writes"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_in_a_line(lull: Lull, options: list[str], named: str) -> None:
    done = lull.cold.run("stage", *options, "--", "true")
    assert done.returncode == 125
    assert named in done.stderr and done.stderr.count("\n") == 1
