"""Dask workers that simulate the points of a sweep: on a cluster that runs, on this machine, or started through Slurm.

    --dask tcp://HOST:8786     a scheduler that is there; its workers need Lull installed
    --dask local               processes of this machine
    --dask slurm:cluster.toml  jobs of Slurm, by dask-jobqueue: the file's keys are options of SLURMCluster, and `jobs`

Results come back over the network: no shared file system is needed.
"""

from __future__ import annotations

import logging
import queue
import signal
import tomllib
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from lull.errors import LullError, UsageError, describe_os_error
from lull.simulation.task import Outcome, Task, simulate_task

AT_ONCE = 10_000  # tasks handed to the scheduler at a time: it spreads them, and workers may join later
CONNECT_S = 10
CLOSE_S = 0.3


class DaskWorkers:
    """Workers of a Dask cluster.

    Args:
        where: `local`, `slurm:FILE.toml`, or the address of a scheduler.
        number: Processes, for `local`.

    Raises:
        UsageError: The place cannot be meant.
        LullError: Dask is not installed, or the scheduler does not answer.
    """

    capacity = AT_ONCE

    def __init__(self, where: str, number: int) -> None:
        asked = f"use Dask at {where}"
        try:
            distributed: Any = import_module("dask.distributed")
        except ImportError as error:
            raise LullError(asked, "Dask is not installed", "python -m pip install 'lull[cluster]'") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._done: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()
        self._futures: dict[Task, Any] = {}
        self._cluster: Any = None
        # Processes and threads that are made now inherit the mask: Ctrl-C is for this process alone.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            before = _children()
            if where == "local":
                self._cluster = distributed.LocalCluster(
                    n_workers=number, threads_per_worker=1, processes=True, dashboard_address=None,
                    silence_logs=logging.CRITICAL,
                )  # fmt: skip
            elif where.startswith("slurm:"):
                self._cluster = _slurm(Path(where.removeprefix("slurm:")), asked)
            self._client = distributed.Client(self._cluster or where, timeout=CONNECT_S, set_as_default=False)
            self._ours = _children() - before
        except (OSError, ValueError) as error:
            first = str(error).splitlines()[0] if str(error) else "no answer"
            raise LullError(asked, first, "name local, slurm:FILE.toml or the address of a scheduler") from error
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

    def submit(self, task: Task) -> None:
        """Hand a task to the scheduler."""
        future = self._client.submit(simulate_task, task, pure=False)
        self._futures[task] = future
        future.add_done_callback(lambda done: self._done.put((task, done)))

    def finished(self, timeout_s: float) -> list[tuple[Task, Outcome]]:
        """Tasks done since the last call.

        Raises:
            LullError: A worker failed in a way a simulation does not.
        """
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
        """Withdraw what is not done, and end the processes that were started for this sweep."""
        with suppress(Exception):  # whatever state the cluster is in, it is left
            self._client.cancel(list(self._futures.values()))
        with suppress(Exception):
            self._client.close(timeout=CLOSE_S)
        if self._cluster is not None:
            with suppress(Exception):
                self._cluster.close(timeout=CLOSE_S)
        psutil: Any = import_module("psutil")
        for child in self._ours:
            with suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(list(self._ours), timeout=1)


def _children() -> set[Any]:
    psutil: Any = import_module("psutil")  # comes with Dask
    return set(psutil.Process().children(recursive=True))


def _slurm(path: Path, asked: str) -> Any:
    """A cluster of Slurm jobs, by the options in a TOML file."""
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(asked, f"{path}: {describe_os_error(error)}", "name a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(asked, f"{path} is not TOML: {error}") from error
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
        raise UsageError(asked, f"{path}: {error}", "its keys are options of dask_jobqueue.SLURMCluster") from error
    cluster.scale(jobs=jobs)
    return cluster
