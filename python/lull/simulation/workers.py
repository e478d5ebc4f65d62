"""Processes on this machine that simulate the points of a sweep, one at a time each.

They share only a pipe with this process, ignore Ctrl-C (which the terminal also sends to them), and are killed when
this process dies, even by a signal. Each runs `lull.simulation.worker`, and not the calling script, as children of
multiprocessing would; a user's script therefore needs no guard around its calls.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable
from contextlib import suppress
from multiprocessing import connection
from typing import Protocol

from lull.base import installed
from lull.base.errors import LullError, describe_os_error
from lull.simulation.task import Task, TaskResult


class Workers(Protocol):
    """Where the tasks of a sweep run."""

    capacity: int  # number of tasks that may be submitted before one is done

    def submit(self, task: Task) -> None:
        """Start a task."""

    def finished(self, timeout_s: float) -> Iterable[tuple[Task, TaskResult]]:
        """Tasks done since the last call, after waiting for one for at most `timeout_s`."""

    def close(self) -> None:
        """End every process at once; unfinished tasks are lost."""


class LocalWorkers:
    """Up to `number` processes, each started when it is first needed."""

    def __init__(self, number: int) -> None:
        self.capacity = number
        self._idle: list[_Worker] = []
        self._busy: dict[connection.Connection, tuple[_Worker, Task]] = {}

    def submit(self, task: Task) -> None:
        """Start a task in an idle process, or in a new one."""
        worker = self._idle.pop() if self._idle else _Worker()
        with suppress(BrokenPipeError):  # the process has ended, which `finished` reports
            worker.pipe.send(task)
        self._busy[worker.pipe] = (worker, task)

    def finished(self, timeout_s: float) -> list[tuple[Task, TaskResult]]:
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
                raise LullError(f"simulate {task.name}", worker.ending, "check that there is enough memory") from error
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
    def __init__(self) -> None:
        self.pipe, theirs = connection.Pipe()
        words = (str(theirs.fileno()), str(os.getpid()))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the new process inherits this mask
        try:
            self._process = subprocess.Popen(
                installed.module_command("lull.simulation.worker", *words),
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        except OSError as error:
            self.pipe.close()
            raise LullError("start a simulation", describe_os_error(error)) from error
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            theirs.close()

    @property
    def ending(self) -> str:
        code = self._process.returncode
        return f"its process was ended by signal {-code}" if code is not None and code < 0 else "its process ended"

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        self._process.wait()
        self.pipe.close()
