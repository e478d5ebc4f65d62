"""Dask workers that simulate the points of a sweep: on a running cluster, on this machine, or in jobs of Slurm.

    --dask tcp://HOST:8786     a running scheduler; its workers need Lull installed
    --dask local               processes on this machine
    --dask slurm:cluster.toml  jobs of Slurm, by dask-jobqueue: the file's keys are options of SLURMCluster, and `jobs`

Results return over the network, so no shared file system is needed.
"""

from __future__ import annotations

import logging
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from lull.base import installed
from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import LullError, UsageError, describe_os_error
from lull.simulation.task import Task, TaskResult, simulate_task

AT_ONCE = 10_000  # tasks submitted to the scheduler at a time; it distributes them, and workers may join later
CONNECT_S = 5
CLOSE_S = 0.3
ADDRESS = re.compile(r"(\w+://)?[^/\s]+:\d+")
# A worker that dies with this process (prctl's PR_SET_PDEATHSIG is 1). Dask's own local cluster takes seconds to end.
WORKER = """
import ctypes, signal, sys
ctypes.CDLL(None).prctl(1, signal.SIGKILL)
from distributed.cli.dask_worker import main
main()
"""


class DaskWorkers:
    """Workers of a Dask cluster.

    Args:
        where: `local`, `slurm:FILE.toml`, or the address of a scheduler.
        number: Number of processes, for `local`.

    Raises:
        UsageError: `where` is none of these.
        LullError: Dask is not installed, or the scheduler does not answer.
    """

    capacity = AT_ONCE

    def __init__(self, where: str, number: int) -> None:
        asked = f"use Dask at {where}"
        if where != "local" and not where.startswith("slurm:") and not ADDRESS.fullmatch(where):
            raise UsageError(
                asked, "it is not an address", "name local, slurm:FILE.toml or an address as tcp://HOST:8786"
            )
        try:
            distributed: Any = import_module("dask.distributed")
        except ImportError as error:
            raise LullError(asked, "Dask is not installed", "python -m pip install 'lull[cluster]'") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._done: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()
        self._futures: dict[Task, Any] = {}
        self._cluster: Any = None
        self._processes: list[subprocess.Popen[bytes]] = []
        # Threads and processes created now inherit the mask, so that only this thread receives Ctrl-C.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            if where == "local":
                self._cluster = distributed.LocalCluster(
                    n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL, processes=False, protocol="tcp"
                )
                self._processes = [_worker(self._cluster.scheduler_address) for _ in range(number)]
            elif where.startswith("slurm:"):
                self._cluster = _slurm(Path(where.removeprefix("slurm:")), asked)
            self._client = distributed.Client(self._cluster or where, timeout=CONNECT_S, set_as_default=False)
        except (OSError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else "no answer"
            raise LullError(asked, first, "check that the scheduler runs there") from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def submit(self, task: Task) -> None:
        """Submit a task to the scheduler."""
        future = self._client.submit(simulate_task, task, pure=False)
        self._futures[task] = future
        future.add_done_callback(lambda done: self._done.put((task, done)))

    def finished(self, timeout_s: float) -> list[tuple[Task, TaskResult]]:
        """Tasks done since the last call.

        Raises:
            LullError: A worker failed for a reason other than the simulation.
        """
        if any(process.poll() is not None for process in self._processes):
            raise LullError("simulate with Dask", "a worker of this machine ended", "check that there is enough memory")
        found = []
        try:
            found.append(self._done.get(timeout=timeout_s))
            while True:
                found.append(self._done.get_nowait())
        except queue.Empty:
            pass
        done = []
        for task, future in found:
            del self._futures[task]
            if future.status != "finished":
                why = str(future.exception()).splitlines()[0] if future.status == "error" else future.status
                raise LullError(f"simulate {task.name}", f"its Dask worker failed: {why}", "see the worker's log")
            done.append((task, future.result()))
        return done

    def close(self) -> None:
        """Cancel unfinished tasks, and end the processes that were started for this sweep."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
        with suppress(Exception):  # leave the cluster, whatever its state
            self._client.cancel(list(self._futures.values()))
        with suppress(Exception):
            self._client.close(timeout=CLOSE_S)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=CLOSE_S)


def _worker(address: str) -> subprocess.Popen[bytes]:
    """A worker with one thread on this machine, which imports the same package as this process."""
    package = str(installed.import_folder())
    path = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-P", "-c", WORKER, address, "--no-nanny", "--nthreads", "1", "--no-dashboard"],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _slurm(path: Path, asked: str) -> Any:
    """A cluster of Slurm jobs, with the options in a TOML file."""
    try:
        options = parse_toml(path.read_bytes())
    except OSError as error:
        raise UsageError(asked, f"{path}: {describe_os_error(error)}", "name a TOML file") from error
    except DamagedError as error:
        raise UsageError(asked, f"{path} is not TOML: {error}") from error
    if shutil.which("sbatch") is None:
        raise LullError(asked, "there is no sbatch on PATH", "start this on a machine that submits to Slurm")
    jobs = options.pop("jobs", 1)
    if type(jobs) is not int or jobs < 1:
        raise UsageError(asked, f"jobs is {jobs!r} in {path}", "it must be a whole number, 1 or more")
    try:
        jobqueue: Any = import_module("dask_jobqueue")
    except ImportError as error:
        raise LullError(asked, "dask-jobqueue is not installed", "python -m pip install 'lull[cluster]'") from error
    try:
        cluster = jobqueue.SLURMCluster(**options)
    except (TypeError, ValueError) as error:
        raise UsageError(
            asked, f"{path}: {' '.join(str(error).split())}", "its keys are options of dask_jobqueue.SLURMCluster"
        ) from error
    cluster.scale(jobs=jobs)
    return cluster
