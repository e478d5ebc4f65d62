"""Ranks sleep while they wait for ranks of other jobs: those that they spawn, and those that connect to them."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import test_waiting_by_library as by_library
from test_mpi_waiting import attached, lines

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from mpi_libraries import HAS_OPEN_MPI_5, LIBRARIES, OF_PYPI, PML_UCX, MpiLibrary

TURNS = 100


@dataclass(frozen=True)
class Setup:
    """An MPI library, the variables with which jobs reach each other, and what it can do without Lull."""

    mpi: MpiLibrary
    env: dict[str, str] = field(default_factory=dict)
    connects: bool = True
    server: str = ""  # which jobs that connect need


OPEN_MPI = LIBRARIES[0]
BY_NAME = {one.name: one for one in OF_PYPI}
OVER_LIBFABRIC = {"MPIR_CVAR_CH4_NETMOD": "ofi"}  # over UCX, MPICH opens no ports, and two spawned ranks may hang
SETUPS = {
    # Debian's MPICH neither spawns nor connects. Jobs of two mpirun of Open MPI 5 do not find each other.
    "openmpi": Setup(OPEN_MPI, connects=not HAS_OPEN_MPI_5, server="ompi-server"),
    "pml ucx": Setup(OPEN_MPI, PML_UCX, connects=not HAS_OPEN_MPI_5, server="ompi-server"),
    "openmpi-5": Setup(BY_NAME["openmpi-5"], connects=False),
    "mpich-4": Setup(BY_NAME["mpich-4"], OVER_LIBFABRIC),
    "mpich-5": Setup(BY_NAME["mpich-5"], OVER_LIBFABRIC),
    "intel": Setup(BY_NAME["intel"], {"I_MPI_SPAWN": "1"}),
}

job = by_library.job

pytestmark = [pytest.mark.in_turn(4)]


@pytest.fixture(params=SETUPS)
def setup(request: pytest.FixtureRequest) -> Setup:
    found = SETUPS[request.param]
    if found.mpi.missing:
        pytest.skip(found.mpi.missing)
    return found


def compiled(job: Lull, setup: Setup) -> Path:
    return setup.mpi.compiled("mpi/mpi_jobs.c", job.folder)


def all_were_woken(said: str, jobs: int) -> None:
    """Some sleeps have ended before their time-out, and no wake-up was missed."""
    rows = [[int(number) for number in row] for row in re.findall(r"^all .* (\d+) +(\d+) +(\d+)$", said, re.MULTILINE)]
    assert len(rows) == jobs, said
    sleeps, time_outs, missed = (sum(column) for column in zip(*rows, strict=True))
    assert sleeps > time_outs, said
    assert missed == 0, said


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
@pytest.mark.parametrize("how", ["spawn", "twice"])
def test_a_job_waits_for_those_that_it_spawns(job: Lull, setup: Setup, policy: str, how: str) -> None:
    words = setup.mpi.start(2, compiled(job, setup), how, *([2] if how == "spawn" else []), TURNS)
    done = attached(job, policy, words, LULL_STATS="1", LULL_WAIT_SPIN_US="0")
    assert lines(done) == [f"{2 * TURNS} correct"], done.stderr
    all_were_woken(done.stderr, 2 if how == "spawn" else 3)


@contextmanager
def name_server(job: Lull, setup: Setup) -> Iterator[list[str]]:
    """The option by which jobs of two mpirun find each other."""
    if not setup.server:
        yield []
        return
    address = job.folder / "address"
    with subprocess.Popen([setup.server, "--no-daemonize", "-r", address], env=job.environment()) as server:
        try:
            assert wait_until(lambda: address.exists() and address.read_text().count("\n") >= 1)
            yield ["--ompi-server", f"file:{address}"]
        finally:
            server.terminate()


@pytest.mark.parametrize("setup", [name for name, one in SETUPS.items() if one.connects], indirect=True)
@pytest.mark.parametrize("waits", ["accept", "connect"])
def test_a_job_waits_for_one_without_lull(job: Lull, setup: Setup, waits: str) -> None:
    """Neither rings the other."""
    program = compiled(job, setup)
    with name_server(job, setup) as option:
        words = {}
        for what in ("accept", "connect"):
            mpirun, *rest = setup.mpi.start(2, program, what, "port", TURNS)
            words[what] = [mpirun, *option, *rest]
        [other] = {"accept", "connect"} - {waits}
        with subprocess.Popen(
            words[other],
            cwd=job.folder,
            env=job.environment(),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as plain:
            try:
                done = attached(job, "interrupt", words[waits], LULL_STATS="1", LULL_WAIT_SPIN_US="0")
                said, _ = plain.communicate(timeout=TIMEOUT_S)
            finally:
                if plain.poll() is None:
                    os.killpg(plain.pid, signal.SIGKILL)
    assert (done.returncode, plain.returncode) == (0, 0), done.stderr
    assert done.stdout + said == f"{2 * TURNS} correct\n"
    all_were_woken(done.stderr, 1)
