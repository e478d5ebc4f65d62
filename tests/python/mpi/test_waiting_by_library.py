"""Programs of each MPI library whose idle loop Lull knows sleep while they wait, and compute the same results."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_mpi_waiting import lines, rows_of

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from mpi_launchers import hosts_for_mpi
from mpi_libraries import ENVIRONMENT, LIBRARIES, OF_PYPI, MpiLibrary
from own_segments import shared_segments


@dataclass(frozen=True)
class Way:
    """An MPI library, and how it is told to communicate."""

    mpi: MpiLibrary
    env: dict[str, str] = field(default_factory=dict)


OPEN_MPI, MPICH = LIBRARIES
PML_UCX = {
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_pml_ucx_tls": "any",
    "OMPI_MCA_pml_ucx_devices": "any",
    "OMPI_MCA_btl": "^openib",
}
WAYS = {"mpich": Way(MPICH), "pml ucx": Way(OPEN_MPI, PML_UCX), **{one.name: Way(one) for one in OF_PYPI}}

pytestmark = [pytest.mark.in_turn(4)]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    found = WAYS[request.param]
    if found.mpi.missing:
        pytest.skip(found.mpi.missing)
    return found


@pytest.fixture
def job(lull: Lull, way: Way) -> Iterator[Lull]:
    lull.env = {"TMPDIR": str(lull.folder), **ENVIRONMENT, **way.env}
    yield lull
    assert gone(str(lull.folder)), "processes remain"
    # MPICH 5 leaves its own.
    assert wait_until(lambda: not any("lull" in name for name in shared_segments())), "shared segments remain"


def compiled(job: Lull, way: Way, name: str) -> Path:
    return way.mpi.compiled(f"mpi/{name}.c", job.folder, "-pthread")


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
def test_results_statuses_and_errors_are_those_of_the_library(job: Lull, way: Way, ranks: int) -> None:
    words = way.mpi.start(ranks, compiled(job, way, "mpi_results"))
    expected = lines(run(job, None, words))
    for policy in ("poll", "interrupt", "adaptive"):
        done = run(job, policy, words)
        assert lines(done) == expected, policy
        assert "lull" not in done.stderr, policy


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_who_waits_long_sleeps(job: Lull, way: Way, policy: str) -> None:
    said = lines(run(job, policy, way.mpi.start(2, compiled(job, way, "mpi_waits"), "long", 2)))
    cpu_s = [float(line.rpartition(" ")[2]) for line in said]
    assert max(cpu_s) < 1, "half of what looking again and again would take"


@pytest.mark.parametrize("ranks", [2, 4])
def test_no_wake_up_is_missed_and_all_is_counted(job: Lull, way: Way, ranks: int) -> None:
    words = way.mpi.start(ranks, compiled(job, way, "mpi_results"), 300)
    done = run(job, "adaptive", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 0
    assert {"MPI_Recv", "MPI_Allreduce", "MPI_Waitall"} <= {str(row["operation"]) for row in rows}
    assert f"lull: waiting of {ranks} ranks on " in done.stderr


def test_the_statistics_of_the_library_s_own_waiting_are_counted(job: Lull, way: Way) -> None:
    words = way.mpi.start(2, compiled(job, way, "mpi_waits"), "long", 0.1)
    done = run(job, "poll", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    assert done.returncode == 0, done.stderr
    assert sum(float(str(row["waited_s"])) for row in rows_of(job.folder)) >= 0.1


def test_threads_that_all_call_mpi_get_their_messages(job: Lull, way: Way) -> None:
    words = way.mpi.start(2, compiled(job, way, "mpi_waits"), "threads", 200)
    assert lines(run(job, "adaptive", words)) == lines(run(job, None, words))


def test_short_sleeps_miss_no_message(job: Lull, way: Way) -> None:
    words = way.mpi.start(2, compiled(job, way, "mpi_waits"), "short", 3000)
    how = {"LULL_WAIT_SPIN_US": "0", "LULL_STATS": "1", "LULL_RECORD": str(job.folder)}
    done = run(job, "interrupt", words, **how)
    assert done.returncode == 0, done.stderr
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 100


@contextmanager
def started(job: Lull, policy: str | None, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A job whose ranks have begun; all but the last wait."""
    for left in job.folder.glob("waits.*"):
        left.unlink()
    argv = words if policy is None else job.argv("attach", "--wait", policy, "--", *words)
    with subprocess.Popen(
        argv,
        cwd=job.folder,
        env=job.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert wait_until(lambda: len(list(job.folder.glob("waits.*"))) == 3)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("how", ["abort", "exit", "fall"])
def test_a_job_ends_as_without_lull(job: Lull, way: Way, how: str) -> None:
    words = way.mpi.start(3, compiled(job, way, "mpi_waits"), how)
    codes = []
    for policy in (None, "adaptive"):
        with started(job, policy, words) as process:
            _, said = process.communicate(timeout=TIMEOUT_S)
            assert "lull:" not in said
            codes.append(process.returncode)
    # Which of the ranks' ends mpirun reports differs from run to run if one exits.
    assert 0 not in codes if how == "exit" else codes[0] == codes[1] != 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_a_job_that_sleeps(job: Lull, way: Way, sent: signal.Signals) -> None:
    with started(job, "interrupt", way.mpi.start(3, compiled(job, way, "mpi_waits"), "ever")) as process:
        if sent == signal.SIGINT:  # as from a terminal
            os.killpg(process.pid, sent)
        else:
            os.kill(processes_with(str(job.folder), name="mpi_waits")[0], sent)
        process.communicate(timeout=TIMEOUT_S)
        assert sent == signal.SIGINT or process.returncode != 0  # after SIGINT, MPICH's mpirun sometimes returns 0


# Over UCX and TCP, MPICH loses messages: plainly, MPI_Ssend of 8,000 bytes hangs if its receiver has come first.
@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
@pytest.mark.parametrize("way", [name for name in WAYS if name != "mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [2, 4])
def test_results_are_the_same_on_two_hosts(job: Lull, way: Way, ranks: int) -> None:
    job.env["MPIR_CVAR_CH4_NETMOD"] = "ofi"
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(way.mpi.launcher, way.mpi.mpirun, ranks, compiled(job, way, "mpi_results"), 40, "over-tcp")
        job.env |= hosts.environment
        expected = lines(run(job, None, words))
        assert lines(run(job, "interrupt", words)) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
def test_who_waits_long_for_another_host_sleeps(job: Lull, way: Way) -> None:
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(way.mpi.launcher, way.mpi.mpirun, 2, compiled(job, way, "mpi_waits"), "long", 2)
        job.env |= hosts.environment
        said = lines(run(job, "adaptive", words))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 1


@pytest.mark.parametrize("way", ["intel"], indirect=True)  # no setting of other libraries hides the loop
def test_a_waiting_loop_that_shows_nothing_is_said_once(job: Lull, way: Way) -> None:
    words = way.mpi.start(2, compiled(job, way, "mpi_results"))
    expected = lines(run(job, None, words))
    done = run(job, "adaptive", words, I_MPI_THREAD_YIELD="0")
    assert lines(done) == expected
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: wait by LULL_WAIT=adaptive: the waiting loop of Intel(R) MPI Library 2021")
    assert line.endswith("there the program waits as without Lull")
