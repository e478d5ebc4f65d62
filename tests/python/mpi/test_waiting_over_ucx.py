"""Programs whose MPI library communicates through UCX sleep while they wait: MPICH, and Open MPI with pml ucx."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from test_mpi_waiting import lines, rows_of

from bounds import TIMEOUT_S
from conftest import Lull, gone, wait_until
from own_segments import shared_segments
from places import PROGRAMS


@dataclass(frozen=True)
class Library:
    """An MPI library, and how to compile and start a program with it."""

    compiler: str
    launcher: tuple[str, ...]
    env: dict[str, str]

    def start(self, ranks: int, *command: object) -> list[str]:
        """The command that starts so many ranks."""
        return [*self.launcher, "-n", str(ranks), *map(str, command)]


PML_UCX = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "OMPI_MCA_btl": "^openib",
}
LIBRARIES = {
    "mpich": Library("mpicc.mpich", ("mpirun.mpich",), {}),
    "pml ucx": Library("mpicc.openmpi", ("mpirun.openmpi", "--oversubscribe", "--bind-to", "none"), PML_UCX),
}

pytestmark = [pytest.mark.in_turn(2)]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> Library:
    found = LIBRARIES[request.param]
    if not shutil.which(found.compiler) or not shutil.which(found.launcher[0]):
        pytest.skip(f"needs {found.compiler}")
    return found


@pytest.fixture
def job(lull: Lull, library: Library) -> Iterator[Lull]:
    lull.env = {"TMPDIR": str(lull.folder), **library.env}
    before = shared_segments()
    yield lull
    assert gone(str(lull.folder)), "processes remain"
    assert wait_until(lambda: shared_segments() <= before), "shared segments remain"


def compiled(job: Lull, library: Library, name: str) -> Path:
    program = job.folder / name
    source = PROGRAMS / "mpi" / f"{name}.c"
    subprocess.run([library.compiler, "-O1", "-pthread", "-o", program, source], check=True)
    return program


def run(job: Lull, policy: str | None, words: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """The command under `lull attach`, or without Lull."""
    return subprocess.run(
        words if policy is None else job.argv("attach", "--wait", policy, "--", *words),
        cwd=job.folder,
        env={**job.environment(), **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_results_statuses_and_errors_are_those_of_the_library(job: Lull, library: Library, ranks: int) -> None:
    words = library.start(ranks, compiled(job, library, "mpi_results"))
    expected = lines(run(job, None, words))
    for policy in ("poll", "interrupt", "adaptive"):
        done = run(job, policy, words)
        assert lines(done) == expected, policy
        assert "lull" not in done.stderr, policy


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_who_waits_long_sleeps(job: Lull, library: Library, policy: str) -> None:
    said = lines(run(job, policy, library.start(2, compiled(job, library, "mpi_waits"), "long", 2)))
    cpu_s = [float(line.rpartition(" ")[2]) for line in said]
    assert max(cpu_s) < 1, "half of what looking again and again would take"


@pytest.mark.parametrize("ranks", [2, 4])
def test_no_wake_up_is_missed_and_all_is_counted(job: Lull, library: Library, ranks: int) -> None:
    words = library.start(ranks, compiled(job, library, "mpi_results"), 300)
    done = run(job, "adaptive", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 0
    assert {"MPI_Recv", "MPI_Allreduce", "MPI_Waitall"} <= {str(row["operation"]) for row in rows}
    assert f"lull: waiting of {ranks} ranks on " in done.stderr


def test_the_statistics_of_the_library_s_own_waiting_are_counted(job: Lull, library: Library) -> None:
    words = library.start(2, compiled(job, library, "mpi_waits"), "long", 0.1)
    done = run(job, "poll", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    assert done.returncode == 0, done.stderr
    assert sum(float(str(row["waited_s"])) for row in rows_of(job.folder)) >= 0.1


def test_threads_that_all_call_mpi_get_their_messages(job: Lull, library: Library) -> None:
    words = library.start(2, compiled(job, library, "mpi_waits"), "threads", 200)
    assert lines(run(job, "adaptive", words)) == lines(run(job, None, words))
