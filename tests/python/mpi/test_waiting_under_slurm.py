"""Ranks that srun has started sleep while they wait, whichever library they have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lull.mpi.waiting import waiting_by
from mpi_libraries import ENVIRONMENT, LIBRARIES, OF_PYPI, PML_UCX
from slurm import Cluster, missing, slurm_cluster

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.xdist_group("slurm"),
    pytest.mark.in_turn(2),
]

# The library, srun's option --mpi, and more variables. Intel MPI needs a library of PMI that Debian does not have.
BY_NAME = {one.name: one for one in (*LIBRARIES, *OF_PYPI)}
JOBS = {
    "pml ucx": (BY_NAME["openmpi"], "pmix", PML_UCX),
    "mpich": (BY_NAME["mpich"], "pmi2", {}),
    "mpich-5": (BY_NAME["mpich-5"], "pmi2", {}),
    "openmpi-5": (BY_NAME["openmpi-5"], "pmix", {}),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm_cluster(["one"]) as running:
        yield running


@pytest.mark.parametrize("name", JOBS)
def test_a_rank_of_srun_sleeps(cluster: Cluster, tmp_path: Path, name: str) -> None:
    mpi, interface, more = JOBS[name]
    if mpi.missing:
        pytest.skip(mpi.missing)
    program = mpi.compiled("mpi/mpi_waits.c", tmp_path, "-pthread")
    env = waiting_by("interrupt", {"TMPDIR": str(tmp_path), **ENVIRONMENT, **more})
    done = cluster.srun(f"--mpi={interface}", "-N1", "-n2", program, "long", "2", env=env, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), cluster.logs()
    cpu_s = [float(line.rpartition(" ")[2]) for line in done.stdout.splitlines()]
    assert len(cpu_s) == 2 and max(cpu_s) < 1
