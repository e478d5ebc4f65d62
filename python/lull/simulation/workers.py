"""Processes of this machine that simulate the points of a sweep, one each at a time.

They share nothing with this process but a pipe, ignore Ctrl-C (which the terminal sends them too), and are killed when
this process dies, however suddenly. Each runs `lull.simulation.worker`, not the script that asked, as children of
multiprocessing would: a user's script needs no guard around its calls.
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

    capacity: int  # tasks that may be submitted before one is done

    def submit(self, task: Task) -> None:
        """Begin a task."""

    def finished(self, timeout_s: float) -> Iterable[tuple[Task, TaskResult]]:
        """Tasks done since the last call, after waiting for one at most `timeout_s`."""

    def close(self) -> None:
        """End every process at once; what is under way is lost."""


class LocalWorkers:
    """Up to `number` processes, started when they are first needed."""

    def __init__(self, number: int) -> None:
        self.capacity = number
        self._idle: list[_Worker] = []
        self._busy: dict[connection.Connection, tuple[_Worker, Task]] = {}

    def submit(self, task: Task) -> None:
        """Begin a task in an idle process, or a new one."""
        worker = self._idle.pop() if self._idle else _Worker()
        with suppress(BrokenPipeError):  # it has ended: `finished` says so
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
    def __init__(self) -> None:
        self.pipe, theirs = connection.Pipe()
        words = (str(theirs.fileno()), str(os.getpid()))
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the new process inherits
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
