"""Abandon work of the native module that cannot be stopped, such as the set-up of a large simulation, on a signal.

The work runs in a separate thread, so that the main thread notices signals. Work that reacts to signals gets time to
end by itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

from lull.base.interrupts import InterruptedBySignal, Interrupts

T = TypeVar("T")

GRACE_S = 2.0


class AbandonedError(InterruptedBySignal):
    """A signal asked to stop, and a thread still works: the process must exit without cleaning up what it uses."""


def run_until_interrupted(asked: str, work: Callable[[], T], interrupts: Interrupts) -> T:
    """Return what `work` returns, or raise what it raises.

    Raises:
        AbandonedError: A signal asked to stop, and the work did not end within the grace period.
    """
    done = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    results: list[T] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            failures.append(error)
        finally:
            os.eventfd_write(done, 1)

    thread = threading.Thread(target=run, name=asked, daemon=True)
    thread.start()
    while thread.is_alive() and interrupts.stop is None:
        interrupts.wait(done, 1.0)
    if interrupts.stop is not None:
        thread.join(GRACE_S)
        if thread.is_alive():
            raise AbandonedError(asked, interrupts.stop)
    thread.join()
    os.close(done)
    if failures:
        raise failures[0]
    return results[0]
