"""A sweep on Dask workers: the same results as on cores, and nothing left behind."""

from __future__ import annotations

import os
import signal

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, wait_until
from lull.simulation.account import read_simulation
from small_sweep import NET, POINTS, files

distributed = pytest.importorskip("distributed")


# What stands in for Slurm: it keeps the script, a job is a process of this machine with the number of that process.
SBATCH = """#!/bin/sh
for script; do :; done
kept=$(mktemp) && cp "$script" "$kept"
setsid bash "$kept" >/dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
kill -- "-$1"
"""


def batch_system(lull: Lull) -> None:
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        path = lull.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    lull.env["PATH"] = f"{lull.folder / 'bin'}:{os.environ['PATH']}"


def test_jobs_of_a_batch_system_simulate_and_are_cancelled(lull: Lull):
    files(lull.folder)
    batch_system(lull)
    lull.env["MARK"] = str(lull.folder)
    (lull.folder / "cluster.toml").write_text('jobs = 2\ncores = 1\nmemory = "1 GB"\ninterface = "lo"\n')
    done = lull.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--dask", "slurm:cluster.toml")
    assert done.returncode == 0, done.stderr
    assert [len(read_simulation(lull.folder / "out" / point).repeats) for point in POINTS] == [2] * len(POINTS)
    assert gone(str(lull.folder))


def test_two_local_dask_workers_give_what_cores_give(lull: Lull):
    files(lull.folder)
    done = lull.run("simulate", "--sweep", "sweep.toml", "--out", "dask", "--dask", "local", "--workers", "2")
    assert done.returncode == 0, done.stderr
    lull.run("simulate", "--sweep", "sweep.toml", "--out", "cores")
    for point in POINTS:
        sides = [read_simulation(lull.folder / name / point).repeats for name in ("dask", "cores")]
        for one, other in zip(*sides, strict=True):
            assert one.model_copy(update={"simulator_cpu_s": 0}) == other.model_copy(update={"simulator_cpu_s": 0})


def test_a_cluster_that_runs_is_used_by_its_address(lull: Lull):
    files(lull.folder)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        done = lull.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--dask", cluster.scheduler_address)
        assert done.returncode == 0, done.stderr
        assert len(cluster.scheduler_info["workers"]) == 2, "a cluster that is not ours goes on"


@pytest.mark.parametrize(
    ("where", "words", "code"),
    [
        ("tcp://127.0.0.1:1", "use Dask at tcp://127.0.0.1:1", 1),
        ("nowhere", "it is not an address", 2),
        ("slurm:none.toml", "No such file", 2),
        ("slurm:bad.toml", "jobs is 0 in bad.toml", 2),
        ("slurm:odd.toml", "odd.toml", 2),
    ],
)
def test_a_place_that_cannot_be_used_is_one_line(lull: Lull, where, words, code):
    files(lull.folder)
    (lull.folder / "bad.toml").write_text("jobs = 0\n")
    (lull.folder / "odd.toml").write_text("corse = 1\n")
    batch_system(lull)
    failed = lull.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--dask", where)
    assert failed.returncode == code, failed.stderr
    assert words in failed.stderr
    assert "Traceback" not in failed.stderr


def test_ctrl_c_ends_the_workers_too(lull: Lull):
    files(lull.folder, 'base = "net.toml"\n[matrix]\n"jobs.0.messages" = [1, 1000000, 1000001]\n', NET)
    lull.env["MARK"] = str(lull.folder)
    running = lull.start("simulate", "--sweep", "sweep.toml", "--out", "out", "--dask", "local", "--workers", "2")
    # The first point, a small one, is done: the others are under way. Before that three processes import Dask.
    done = wait_until(lambda: any((lull.folder / "out").glob("*/*.json")))
    assert done, "they do not simulate"
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 130
    assert "Traceback" not in told
    assert gone(str(lull.folder))
