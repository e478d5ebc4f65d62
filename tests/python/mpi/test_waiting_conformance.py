"""The conformance runs of waiting (tests/conformance/waiting_programs.py) in short; threads; a full /dev/shm.

Each program verifies what it receives.
"""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import test_waiting_by_library as by_library
from test_mpi_waiting import attached, lines

from bounds import TIMEOUT_S
from conftest import Lull
from lull.mpi.waiting import waiting_by
from mpi_launchers import hosts_for_mpi
from mpi_libraries import SETUPS, Setup
from waiting_reports import Waits, lines_of_lull, waits_in

setup, job = by_library.setup, by_library.job
Compiled = Callable[[str], Path]

EACH_WAIT_SLEEPS = {"LULL_WAIT_SPIN_US": "2", "LULL_WAIT_YIELDS": "0"}
SEED = 3
# With these, programs of more libraries run if /dev/shm is full.
WITHOUT_SHARED_MEMORY = {"UCX_TLS": "tcp,self", "MPIR_CVAR_NOLOCAL": "1", "I_MPI_FABRICS": "ofi"}

pytestmark = [pytest.mark.in_turn(2)]
each_setup = pytest.mark.parametrize("setup", SETUPS, indirect=True)
few_ranks = pytest.mark.parametrize("ranks", [2, 4])


@pytest.fixture(scope="module")
def programs() -> dict[tuple[str, str], Path]:
    """Those that are compiled, by library and name."""
    return {}


@pytest.fixture
def compiled(setup: Setup, programs: dict[tuple[str, str], Path], tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    def of(name: str) -> Path:
        key = (setup.mpi.name, name)
        if key not in programs:
            folder = tmp_path_factory.mktemp(setup.mpi.name)
            programs[key] = setup.mpi.compiled(f"mpi/{name}.c", folder, "-pthread")
        return programs[key]

    return of


def waits_of(job: Lull, policy: str, words: list[str], **env: str) -> tuple[list[str], Waits]:
    """The output of the command, and the numbers of its waits."""
    done = attached(job, policy, words, LULL_STATS="1", LULL_RECORD=str(job.folder), **env)
    assert lines_of_lull(done.stderr) == []
    return lines(done), waits_in(job.folder)


@each_setup
@few_ranks
def test_no_wake_up_is_missed_if_each_wait_sleeps(job: Lull, setup: Setup, compiled: Compiled, ranks: int) -> None:
    words = setup.mpi.start(ranks, compiled("mpi_hammer"), "320", str(SEED))
    said, waits = waits_of(job, "interrupt", words, **EACH_WAIT_SLEEPS)
    assert len(said) == ranks
    assert waits.sleeps > 0 or not setup.must_sleep(ranks)
    assert waits.missed == 0


@each_setup
@few_ranks
def test_random_traffic_has_the_same_results(job: Lull, setup: Setup, compiled: Compiled, ranks: int) -> None:
    words = setup.mpi.start(ranks, compiled("mpi_stress"), "40", str(SEED))
    expected = lines(attached(job, None, words))
    assert len(expected) == ranks
    done = attached(job, "interrupt" if ranks == 2 else "adaptive", words)
    assert lines(done) == expected
    assert lines_of_lull(done.stderr) == []


@each_setup
@few_ranks
def test_ranks_that_wait_for_slower_ones_sleep(job: Lull, setup: Setup, compiled: Compiled, ranks: int) -> None:
    said, waits = waits_of(job, "adaptive", setup.mpi.start(ranks, compiled("mpi_imbalance"), "48", str(SEED)))
    assert sum("48 turns" in line for line in said) == ranks
    assert waits.sleeps > 0 or not setup.must_sleep(ranks)
    assert waits.missed == 0


@each_setup
@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_threads_that_wait_at_the_same_time_get_their_messages(
    job: Lull, setup: Setup, compiled: Compiled, policy: str
) -> None:
    words = setup.mpi.start(2, compiled("mpi_waits"), "served", "20")
    expected = lines(attached(job, None, words))
    assert expected[1] == f"rank 1: {3 * 80 * 79 // 2} at level 1"
    said, waits = waits_of(job, policy, words, **EACH_WAIT_SLEEPS)
    assert said == expected
    assert waits.missed == 0


@each_setup
@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
@pytest.mark.parametrize("env", [{}, WITHOUT_SHARED_MEMORY], ids=["shared memory", "without"])
def test_a_full_dev_shm_is_no_worse_than_without_lull(
    job: Lull, setup: Setup, compiled: Compiled, env: dict[str, str]
) -> None:
    words = setup.mpi.start(2, compiled("mpi_hammer"), "16", str(SEED))
    full = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64K tmpfs /dev/shm && "$@"', "sh", *words]

    def ended(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            full, cwd=job.folder, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )

    environment = job.environment() | env
    plain = ended(environment)
    done = ended(waiting_by("interrupt", environment, command=words))
    # If the library dies of it, the signal differs from run to run.
    assert (done.returncode == 0) == (plain.returncode == 0)
    if plain.returncode == 0:
        assert lines(done) == lines(plain)
        assert lines_of_lull(done.stderr) == [
            "lull: wait by LULL_WAIT=interrupt: shared memory for wake-ups: No space left on device; "
            "the program continues with the library's own waiting"
        ]


# Open MPI transfers what windows do through UCX, with a worker of its own.
@pytest.mark.skipif(os.geteuid() != 0, reason="virtual hosts need root")
@pytest.mark.parametrize("setup", ["openmpi", "openmpi-ucx"], indirect=True)
def test_what_windows_transfer_wakes_a_rank_that_waits_for_a_message(
    job: Lull, setup: Setup, compiled: Compiled
) -> None:
    puts = 100
    with hosts_for_mpi(job.folder) as hosts:
        words = hosts.start(setup.mpi.launcher, setup.mpi.mpirun, 2, compiled("mpi_waits"), "target", puts)
        job.env |= hosts.environment
        said, waits = waits_of(job, "interrupt", words, **EACH_WAIT_SLEEPS)
    assert said == [str(puts * (puts + 1) // 2)]
    assert waits.sleeps - waits.timeouts > puts // 4, "arrivals have ended few sleeps"
