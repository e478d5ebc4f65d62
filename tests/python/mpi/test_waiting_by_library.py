"""Programs of each MPI library whose idle loop Lull knows sleep while they wait, and compute the same results."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from test_mpi_waiting import attached, lines, rows_of

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from mpi_launchers import hosts_for_mpi
from mpi_libraries import ENVIRONMENT, OVER_LIBFABRIC, WITH_STANDARD_INTERFACE, MpiLibrary, Setup
from mpi_libraries import SETUPS as EVERY_SETUP
from own_segments import shared_segments

# Open MPI 4.1 with its own transports: test_mpi_waiting.py.
SETUPS = {name: one for name, one in EVERY_SETUP.items() if name != "openmpi"}
ALL = EVERY_SETUP | WITH_STANDARD_INTERFACE | OVER_LIBFABRIC

pytestmark = [pytest.mark.in_turn(4)]


@pytest.fixture(params=SETUPS)
def setup(request: pytest.FixtureRequest) -> Setup:
    found = ALL[request.param]
    if found.mpi.missing:
        pytest.skip(found.mpi.missing)
    return found


@pytest.fixture
def job(lull: Lull, setup: Setup) -> Iterator[Lull]:
    lull.env = {"TMPDIR": str(lull.folder), **ENVIRONMENT, **setup.env}
    yield lull
    assert gone(str(lull.folder)), "processes remain"
    # MPICH 5 leaves its own.
    assert wait_until(lambda: not any("lull" in name for name in shared_segments())), "shared segments remain"


def compiled(job: Lull, setup: Setup, name: str) -> Path:
    return setup.mpi.compiled(f"mpi/{name}.c", job.folder, "-pthread")


def results_are_equal(job: Lull, words: list[str]) -> None:
    expected = lines(attached(job, None, words))
    for policy in ("poll", "interrupt", "adaptive"):
        done = attached(job, policy, words)
        assert lines(done) == expected, policy
        assert "lull" not in done.stderr, policy


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_results_statuses_and_errors_are_those_of_the_library(job: Lull, setup: Setup, ranks: int) -> None:
    results_are_equal(job, setup.mpi.start(ranks, compiled(job, setup, "mpi_results")))


# Not Intel's: without Lull, its library ends the program after a call that returns an error.
@pytest.mark.parametrize("setup", ["mpich-5-abi"], indirect=True)
def test_results_with_the_standard_interface_are_those_of_the_library(job: Lull, setup: Setup) -> None:
    results_are_equal(job, setup.mpi.start(3, compiled(job, setup, "mpi_results")))


@pytest.mark.parametrize("setup", SETUPS | WITH_STANDARD_INTERFACE, indirect=True)
@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_who_waits_long_sleeps(job: Lull, setup: Setup, policy: str) -> None:
    said = lines(attached(job, policy, setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "long", 2)))
    cpu_s = [float(line.rpartition(" ")[2]) for line in said]
    assert max(cpu_s) < 1, "half of what looking again and again would take"


@pytest.mark.parametrize("ranks", [2, 4])
def test_no_wake_up_is_missed_and_all_is_counted(job: Lull, setup: Setup, ranks: int) -> None:
    words = setup.mpi.start(ranks, compiled(job, setup, "mpi_results"), 300)
    done = attached(job, "adaptive", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 0
    assert {"MPI_Recv", "MPI_Allreduce", "MPI_Waitall"} <= {str(row["operation"]) for row in rows}
    assert f"lull: waiting of {ranks} ranks on " in done.stderr


def test_the_statistics_of_the_library_s_own_waiting_are_counted(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "long", 0.1)
    done = attached(job, "poll", words, LULL_STATS="1", LULL_RECORD=str(job.folder))
    assert done.returncode == 0, done.stderr
    assert sum(float(str(row["waited_s"])) for row in rows_of(job.folder)) >= 0.1


@pytest.mark.parametrize("policy", ["poll", "adaptive"])
def test_where_the_program_polls_itself_is_named(job: Lull, setup: Setup, policy: str) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_asks"), 20000)
    done = attached(job, policy, words, LULL_STATS="1")
    assert done.returncode == 0, done.stderr
    _, _, places = done.stderr.partition("lull: the program polls in loops of its own, to which no policy applies:\n")
    assert all(f"{function} in mpi_asks+0x" in places for function in ("MPI_Test", "MPI_Iprobe")), done.stderr


@pytest.mark.parametrize("setup", EVERY_SETUP, indirect=True)
@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_loops_of_the_program_sleep_if_the_user_asks_for_it(job: Lull, setup: Setup, policy: str) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "loops", 1)
    counted = {"LULL_MPI_LOOPS": "program", "LULL_STATS": "1", "LULL_RECORD": str(job.folder)}
    said = lines(attached(job, policy, words, **counted))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 0.5, "half of what looking again and again would take"
    sleeps = {str(row["operation"]): int(str(row["sleeps"])) for row in rows_of(job.folder)}
    assert sleeps["MPI_Iprobe"] > 0 and sleeps["MPI_Test"] > 0
    assert not any(int(str(row["missed"])) for row in rows_of(job.folder))


@pytest.mark.parametrize("setup", EVERY_SETUP, indirect=True)
def test_results_with_loops_of_tests_are_those_of_the_library(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(3, compiled(job, setup, "mpi_results"))
    expected = lines(attached(job, None, words))
    for policy in ("interrupt", "adaptive"):
        done = attached(job, policy, words, LULL_MPI_LOOPS="all")
        assert lines(done) == expected, policy
        assert "lull" not in done.stderr, policy


# A library whose waiting loop Lull does not see.
@pytest.mark.parametrize("setup", ["intel"], indirect=True)
def test_messages_wake_who_waits_in_loops_of_tests(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "messages", 1)
    counted = {"LULL_STATS": "1", "LULL_RECORD": str(job.folder), "I_MPI_THREAD_YIELD": "0"}
    said = lines(attached(job, "interrupt", words, LULL_MPI_LOOPS="all", **counted))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 0.5, "half of what looking again and again would take"
    slept = {str(row["operation"]) for row in rows_of(job.folder) if int(str(row["sleeps"])) > 0}
    assert {"MPI_Probe", "MPI_Recv", "MPI_Wait"} <= slept


def test_threads_that_all_call_mpi_get_their_messages(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "threads", 200)
    assert lines(attached(job, "adaptive", words)) == lines(attached(job, None, words))


def sleeps_miss_no_message(job: Lull, words: list[str]) -> None:
    how = {"LULL_WAIT_SPIN_US": "0", "LULL_STATS": "1", "LULL_RECORD": str(job.folder)}
    done = attached(job, "interrupt", words, **how)
    assert done.returncode == 0, done.stderr
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 100


def test_short_sleeps_miss_no_message(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_waits"), "short", 3000)
    sleeps_miss_no_message(job, words)


@contextmanager
def started(job: Lull, policy: str | None, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A job of three ranks; all but the last wait."""
    for left in job.folder.glob("waits.*"):
        left.unlink()
    argv = words if policy is None else job.argv("wait", policy, "--", *words)
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
def test_a_job_ends_as_without_lull(job: Lull, setup: Setup, how: str) -> None:
    words = setup.mpi.start(3, compiled(job, setup, "mpi_waits"), how)
    codes = []
    for policy in (None, "adaptive"):
        with started(job, policy, words) as process:
            _, said = process.communicate(timeout=TIMEOUT_S)
            assert "lull:" not in said
            codes.append(process.returncode)
    # If a rank exits, the code that mpirun returns differs from run to run.
    assert 0 not in codes if how == "exit" else codes[0] == codes[1] != 0


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_a_job_that_sleeps(job: Lull, setup: Setup, sent: signal.Signals) -> None:
    with started(job, "interrupt", setup.mpi.start(3, compiled(job, setup, "mpi_waits"), "ever")) as process:
        if sent == signal.SIGINT:  # as from a terminal
            os.killpg(process.pid, sent)
        else:
            os.kill(processes_with(str(job.folder), name="mpi_waits")[0], sent)
        process.communicate(timeout=TIMEOUT_S)
        assert sent == signal.SIGINT or process.returncode != 0  # after SIGINT, MPICH's mpirun sometimes returns 0


# Not MPICH 4.0 of Debian: without Lull, 4 ranks hang over libfabric, and MPI_Ssend to a posted receive over UCX.
@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
@pytest.mark.parametrize("setup", [name for name in SETUPS if name != "mpich"], indirect=True)
@pytest.mark.parametrize("ranks", [2, 4])
def test_results_are_the_same_on_two_hosts(job: Lull, setup: Setup, ranks: int) -> None:
    # libfabric's default provider here is `sockets`, which has no descriptors: MPICH 4 uses that, MPICH 5 the other.
    if setup.mpi.name == "mpich-5":
        job.env["FI_PROVIDER"] = "tcp"
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(
            setup.mpi.launcher, setup.mpi.mpirun, ranks, compiled(job, setup, "mpi_results"), 40, "over-tcp"
        )
        job.env |= hosts.environment
        expected = lines(attached(job, None, words))
        assert lines(attached(job, "interrupt", words)) == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
@pytest.mark.parametrize("setup", OVER_LIBFABRIC, indirect=True)
def test_a_rank_that_waits_for_libfabric_misses_no_message(job: Lull, setup: Setup) -> None:
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(setup.mpi.launcher, setup.mpi.mpirun, 2, compiled(job, setup, "mpi_waits"), "short", 1000)
        job.env |= hosts.environment
        sleeps_miss_no_message(job, words)


@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
def test_a_rank_that_waits_long_for_another_host_sleeps(job: Lull, setup: Setup) -> None:
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(setup.mpi.launcher, setup.mpi.mpirun, 2, compiled(job, setup, "mpi_waits"), "long", 2)
        job.env |= hosts.environment
        said = lines(attached(job, "adaptive", words))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 1


@pytest.mark.parametrize("setup", ["intel"], indirect=True)  # no setting of other libraries hides the loop
def test_a_waiting_loop_that_shows_nothing_is_said_once(job: Lull, setup: Setup) -> None:
    words = setup.mpi.start(2, compiled(job, setup, "mpi_results"))
    expected = lines(attached(job, None, words))
    done = attached(job, "adaptive", words, I_MPI_THREAD_YIELD="0")
    assert lines(done) == expected
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: wait by LULL_WAIT=adaptive: the waiting loop of Intel(R) MPI Library 2021")
    assert line.endswith("there the program waits as without Lull")


def renamed(mpi: MpiLibrary, folder: Path, name: bytes, other: bytes) -> MpiLibrary:
    """A library in the folder that says another name, which Lull does not know."""
    assert mpi.package is not None
    theirs, ours = mpi.package.folder / "lib", folder / "renamed" / "lib"
    ours.mkdir(parents=True)
    for one in theirs.iterdir():
        (ours / one.name).symlink_to(one)
    content = (theirs / mpi.soname).read_bytes()
    assert content.count(name) == 1 and len(name) == len(other)
    (ours / mpi.soname).unlink()
    (ours / mpi.soname).write_bytes(content.replace(name, other))
    return replace(mpi, package=replace(mpi.package, copied=ours.parent))


@pytest.mark.parametrize("setup", ["mpich-4"], indirect=True)
@pytest.mark.parametrize("provider", ["sockets", "tcp"])  # without and with descriptors
def test_a_library_of_mpichs_kind_without_marker_sleeps(job: Lull, setup: Setup, provider: str) -> None:
    cray = replace(setup, mpi=renamed(setup.mpi, job.folder, b"MPICH Version:      %s", b"CRAY MPICH version  %s"))
    job.env |= {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": provider}
    results_are_equal(job, cray.mpi.start(3, compiled(job, cray, "mpi_results")))
    said = lines(attached(job, "adaptive", cray.mpi.start(2, compiled(job, cray, "mpi_waits"), "long", 2)))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 1


@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
@pytest.mark.parametrize("setup", ["openmpi-5"], indirect=True)
def test_a_library_that_is_not_known_sleeps_if_it_polls_sockets(job: Lull, setup: Setup) -> None:
    mpi = renamed(setup.mpi, job.folder, b"Open MPI v%d.%d.%d", b"XYZW MPI v%d.%d.%d")
    unknown = replace(setup, mpi=mpi)
    results, waits = (compiled(job, unknown, name) for name in ("mpi_results", "mpi_waits"))
    with hosts_for_mpi(job.folder) as hosts:
        job.env |= hosts.environment
        start = [
            hosts.start(mpi.launcher, mpi.mpirun, 2, *words)
            for words in ((results, 40, "over-tcp"), (waits, "long", 2))
        ]
        results_are_equal(job, start[0])
        said = lines(attached(job, "adaptive", start[1]))
    assert max(float(line.rpartition(" ")[2]) for line in said) < 1
