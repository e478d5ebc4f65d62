"""Processes of this machine that simulate the points of a sweep, one each at a time.

They share nothing with this process but a pipe, ignore Ctrl-C (which the terminal sends them too), and are killed when
this process dies, however suddenly.
"""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Iterable
from multiprocessing import connection, context, get_context, resource_tracker
from typing import Protocol

from lull.base.errors import LullError
from lull.simulation.task import Outcome, Task, simulate_task

PR_SET_PDEATHSIG = 1  # prctl(2)


class Workers(Protocol):
    """Where the tasks of a sweep run."""

    capacity: int  # tasks that may be submitted before one is done

    def submit(self, task: Task) -> None:
        """Begin a task."""

    def finished(self, timeout_s: float) -> Iterable[tuple[Task, Outcome]]:
        """Tasks done since the last call, after waiting for one at most `timeout_s`."""

    def close(self) -> None:
        """End every process at once; what is under way is lost."""


class LocalWorkers:
    """Up to `number` processes, started when they are first needed."""

    def __init__(self, number: int) -> None:
        self.capacity = number
        self._context = get_context("spawn")  # a fork would copy the threads of numerical libraries half-way
        self._idle: list[_Worker] = []
        self._busy: dict[connection.Connection, tuple[_Worker, Task]] = {}

    def submit(self, task: Task) -> None:
        """Begin a task in an idle process, or a new one."""
        worker = self._idle.pop() if self._idle else _Worker(self._context)
        worker.pipe.send(task)
        self._busy[worker.pipe] = (worker, task)

    def finished(self, timeout_s: float) -> list[tuple[Task, Outcome]]:
        """Tasks done since the last call.

        Raises:
            LullError: A process was killed.
        """
        done = []
        for pipe in connection.wait(list(self._busy), timeout_s):
            assert isinstance(pipe, connection.Connection)
            worker, task = self._busy.pop(pipe)
            try:
                outcome = pipe.recv()
            except (EOFError, ConnectionResetError) as error:
                worker.end()
                raise LullError(f"simulate {task.name}", worker.ending, "see that there is memory enough") from error
            self._idle.append(worker)
            done.append((task, outcome))
        return done

    def close(self) -> None:
        """Kill every process and wait for its end."""
        workers = [*self._idle, *(worker for worker, _ in self._busy.values())]
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.end()
        self._idle, self._busy = [], {}


class _Worker:
    def __init__(self, made_by: context.SpawnContext) -> None:
        self.pipe, theirs = made_by.Pipe()
        self._process = made_by.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
        resource_tracker.ensure_running()  # it unblocks SIGINT when it starts, so it must be there before
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the new process inherits
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        theirs.close()

    @property
    def ending(self) -> str:
        code = self._process.exitcode
        return f"its process was ended by signal {-code}" if code is not None and code < 0 else "its process ended"

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self._process.join()
        self.pipe.close()


def _serve(pipe: connection.Connection, parent: int) -> None:
    """Simulate what comes through the pipe until it closes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # it died before we asked to be told
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(simulate_task(task))
