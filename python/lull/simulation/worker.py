"""A process that simulates the tasks it receives: `python -m lull.simulation.worker DESCRIPTOR PARENT`.

DESCRIPTOR is its end of a pipe of `multiprocessing.connection`, PARENT the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from multiprocessing.connection import Connection
from typing import Any

from lull.simulation.task import simulate_task

PR_SET_PDEATHSIG = 1  # prctl(2)


def serve(descriptor: int, parent: int) -> None:
    """Simulate the tasks from the pipe until it closes; the process is killed when the parent dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return  # the parent died before the call of prctl
    pipe: Connection[Any, Any] = Connection(descriptor)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(simulate_task(task))


if __name__ == "__main__":
    serve(int(sys.argv[1]), int(sys.argv[2]))
