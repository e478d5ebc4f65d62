"""Under a real Slurm, a private one, on this machine: PEs, and ranks under `lull measure`, in the forms of its jobs."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Lull, compiled, gone
from lull import record
from lull.base.installed import applications
from lull.job.launchers import find_allocation, seconds_left
from lull.record import Domain
from slurm import Cluster, missing, slurm_cluster

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.xdist_group("slurm"),  # one cluster for all
]

# The nodes share this machine; between nodes of a real cluster UCX finds no shared memory.
SEPARATE = {"UCX_TLS": "tcp,self", "SHMEM_SYMMETRIC_SIZE": "64M"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with slurm_cluster(["one", "two"]) as running:
        yield running
    assert not running.folder.exists()


@pytest.fixture(scope="module")
def misfortune(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("misfortune.c", tmp_path_factory.mktemp("misfortune"))


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_program_runs_on_the_nodes_of_slurm(cluster: Cluster, nodes: int) -> None:
    histogram = applications()["histogram"]
    done = cluster.srun("--mpi=pmix", f"-N{nodes}", "-n4", histogram, "--updates", "20000", env=SEPARATE)
    assert done.returncode == 0, done.stderr + cluster.logs()
    assert f"4 PEs on {nodes} node{'s' * (nodes > 1)}" in done.stdout
    assert "result verified" in done.stdout


@pytest.mark.parametrize(("how", "code"), [("kill", 137), ("exit-0", 137), ("global-exit", 37)])
def test_a_pe_that_ends_too_early_ends_the_step_and_nothing_is_left(
    cluster: Cluster, misfortune: Path, how: str, code: int
) -> None:
    done = cluster.srun("--mpi=pmix", "-N2", "-n4", misfortune, how, "barrier", env=SEPARATE)
    assert done.returncode == code, done.stderr
    assert gone(str(misfortune))


@pytest.mark.skipif(shutil.which("mpicc") is None, reason="needs mpicc, of libopenmpi-dev")
def test_mpi_and_openshmem_work_together_under_srun(cluster: Cluster, tmp_path: Path) -> None:
    asked = [["mpicc", f"-showme:{what}"] for what in ("compile", "link")]
    flags = [
        word for one in asked for word in subprocess.run(one, capture_output=True, text=True, check=True).stdout.split()
    ]
    program = compiled("mpi/with_mpi.c", tmp_path, *flags)
    done = cluster.srun("--mpi=pmix", "-N1", "-n4", program, "mpi", "shmem", env=SEPARATE)
    assert (done.returncode, done.stdout) == (0, "4 ranks are PEs\n"), done.stderr


@pytest.mark.parametrize("options", [("-N1",), ("-N1", "--mpi=pmix"), ("-N2",)])
def test_ranks_of_srun_are_measured_as_one_job(cluster: Cluster, lull: Lull, options: tuple[str, ...]) -> None:
    measured = lull.argv("measure", "--out", "rec", "--", "sleep", "0.5")
    done = cluster.srun(*options, "-n4", *measured, cwd=lull.folder)
    assert done.returncode == 0, done.stderr
    run = record.read(lull.folder / "rec")
    [repeat] = run.repeats
    assert [(rank.rank, rank.exit_code) for rank in repeat.ranks] == [(rank, 0) for rank in range(4)]
    assert len([total for total in repeat.totals if total.domain is Domain.NODE]) == 1
    assert done.stderr.count("record in") == 1
    assert {path.name for path in lull.folder.iterdir()} == {"rec"}


def ranks_of(folder: Path) -> list[tuple[int, int | None]]:
    [repeat] = record.read(folder).repeats
    return [(rank.rank, rank.exit_code) for rank in repeat.ranks]


def test_elements_of_a_job_array_and_steps_at_the_same_time_have_records_of_their_own(
    cluster: Cluster, lull: Lull
) -> None:
    step = shlex.join(["srun", "--overlap", "-n2", *lull.argv("measure", "--label", "a", "--", "sleep", "0.3")])
    script = lull.folder / "script"
    script.write_text(f"#!/bin/sh\n{step} &\n{step} &\nwait\n")
    done = cluster.run("sbatch", "--wait", "-n2", "--array=3-4", "--output=out-%a", script, cwd=lull.folder)
    said = [(lull.folder / f"out-{element}").read_text() for element in (3, 4)]
    assert done.returncode == 0, said
    records = sorted((lull.folder / "results").iterdir())
    assert len(records) == 4, said
    assert [ranks_of(folder) for folder in records] == [[(0, 0), (1, 0)]] * 4


def test_the_components_of_a_heterogeneous_step_are_one_job(cluster: Cluster, lull: Lull) -> None:
    measured = lull.argv("measure", "--out", "rec", "--", "sleep", "0.3")
    done = cluster.srun("-N1", "-n1", *measured, ":", "-N1", "-n2", *measured, cwd=lull.folder)
    assert done.returncode == 0, done.stderr + cluster.logs()
    assert ranks_of(lull.folder / "rec") == [(0, 0), (1, 0), (2, 0)]


def test_an_interactive_shell_is_measured_as_any_shell(cluster: Cluster, lull: Lull) -> None:
    measured = lull.argv("measure", "--runs", "2", "--out", "rec", "--", "true")
    done = cluster.srun("--mpi=pmix", "-n1", *measured, cwd=lull.folder)
    assert done.returncode == 0, done.stderr
    assert len(record.read(lull.folder / "rec").repeats) == 2


def test_ranks_of_mpiexec_within_a_task_of_srun_are_one_job(cluster: Cluster, lull: Lull) -> None:
    mpiexec = shutil.which("mpiexec.hydra")
    if mpiexec is None:
        pytest.skip("needs mpiexec.hydra, of mpich")
    measured = lull.argv("measure", "--out", "rec", "--", "sleep", "0.3")
    done = cluster.srun("--mpi=pmix", "-n1", mpiexec, "-launcher", "fork", "-n", "2", *measured, cwd=lull.folder)
    assert done.returncode == 0, done.stderr
    assert ranks_of(lull.folder / "rec") == [(0, 0), (1, 0)]


def test_slurm_says_when_an_allocation_ends(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    granted = cluster.run("salloc", "--no-shell", "-N2", "-n2", "--time=10")
    number = re.search(r"Granted job allocation (\d+)", granted.stderr)
    assert number, granted.stderr
    try:
        monkeypatch.setenv("SLURM_CONF", cluster.configuration)
        env = {"SLURM_JOB_ID": number[1]}
        assert find_allocation(env) is not None
        left = seconds_left(env)
        assert left is not None
        assert 0 < left <= 600
    finally:
        cluster.run("scancel", number[1])
