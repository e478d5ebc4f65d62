"""Signals during the measurement of a command: they are noted, and never raised asynchronously.

SIGINT, SIGTERM and SIGHUP ask Lull to stop; SIGUSR1 and SIGUSR2 are for the command; SIGCONT says that both had been
stopped, usually by Ctrl-Z. A signal that was ignored when Lull started (nohup, a background job) stays ignored.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from lull.base.errors import LullError

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FOR_THE_COMMAND = (signal.SIGUSR1, signal.SIGUSR2)


class InterruptedBySignal(LullError):
    """A signal asked to stop; the exit code is that of a shell."""

    def __init__(self, asked: str, signum: int, fix: str = "") -> None:
        super().__init__(asked, f"interrupted by {signal.Signals(signum).name}", fix)
        self.signum = signum
        self.exit_code = 128 + signum


class Interrupts:
    """Notes signals within a `with` block.

    Python handles signals in its main thread only: in another thread, none is noted, and handlers remain unchanged.
    `stop` is the first signal that asked to stop, or None. `continued` counts the SIGCONT.
    """

    def __init__(self) -> None:
        self.stop: int | None = None
        self.continued = 0
        self._arrived: list[int] = []
        self._previous: dict[signal.Signals, Any] = {}
        self._reader = self._writer = self._previous_fd = -1
        self._notes = False

    def __enter__(self) -> Interrupts:
        self._reader, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._notes = threading.current_thread() is threading.main_thread()
        if not self._notes:
            return self
        self._previous_fd = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for signum in (*STOPPING, *FOR_THE_COMMAND, signal.SIGCONT):
            if signal.getsignal(signum) != signal.SIG_IGN:
                self._previous[signum] = signal.signal(signum, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for signum, handler in self._previous.items():
            # Python cannot restore a handler that a C library installed.
            signal.signal(signum, signal.SIG_DFL if handler is None else handler)
        if self._notes:
            signal.set_wakeup_fd(self._previous_fd)
        os.close(self._reader)
        os.close(self._writer)

    def _note(self, signum: int, frame: FrameType | None) -> None:
        if signum == signal.SIGCONT:
            self.continued += 1
            return
        self._arrived.append(signum)
        if signum in STOPPING and self.stop is None:
            self.stop = signum

    def wait(self, descriptor: int | None, seconds: float | None) -> list[int]:
        """Sleep until `descriptor` (if any) is readable, a signal arrives, or `seconds` have passed; None: no limit.

        Return the signals that have arrived since the last call.
        """
        watched = [self._reader] if descriptor is None else [descriptor, self._reader]
        waiting = select.poll()  # unlike select, for descriptors of any value
        for one in watched:
            waiting.register(one, select.POLLIN)
        ready = {one for one, _ in waiting.poll(None if seconds is None else max(0.0, seconds) * 1e3)}
        if self._reader in ready:
            os.read(self._reader, 4096)
        arrived, self._arrived = self._arrived, []
        return arrived

    def sleep(self, asked: str, seconds: float) -> None:
        """Sleep for `seconds`, or raise `InterruptedBySignal` as soon as a signal asks to stop."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check(asked)
            self.wait(None, left)
        self.check(asked)

    def check(self, asked: str) -> None:
        """Raise `InterruptedBySignal` if a signal asked to stop."""
        if self.stop is not None:
            raise InterruptedBySignal(asked, self.stop)
