"""Regions and metrics of a Python program: `lull.region`, `lull.metric_sum`, `lull.flush`.

    with lull.region("exchange"):
        ...

    @lull.region("solve")
    def solve(): ...

    lull.metric_sum("updates", 1e9, "1")

They call the library liblull-meter, which C, C++ and Fortran parts of the process also use: all write one account.
Nothing is recorded unless `lull measure` runs the program. A child of `multiprocessing` exits without the exit handlers
of a process, and a worker of its pools may be killed at any moment: it writes its account when its outermost region
ends, unless that would take more than half a percent of its time. Other processes that exit by `os._exit` must call
`lull.flush()`; the measurement reports missing visits.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import time
from contextlib import ContextDecorator
from types import TracebackType

from lull.base import installed
from lull.base.errors import LullError

LIBRARY = "liblull-meter.so.0"
BAD_ARGUMENT = (-1, -2, -6)  # LULL_METER_BAD_NAME, LULL_METER_BAD_VALUE, LULL_METER_CONFLICT
MOST_SHARE = 0.005  # largest share of a worker's time for writing its account
METRICS = ("lull_metric_sum", "lull_metric_mean", "lull_metric_min", "lull_metric_max")


class region(ContextDecorator):
    """A named part of the program: the body of `with`, or every call of a decorated function.

    Args:
        name: Name of the region, not empty. Regions nest within their thread; a region may be entered repeatedly.

    Raises:
        ValueError: The name is empty or contains a zero byte; raised on entry.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> region:
        _check(_library().lull_region_begin(_text(self.name)))
        _in_worker.depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        code = _library().lull_region_end(_text(self.name))
        _in_worker.depth -= 1
        if _in_worker.depth == 0:
            _in_worker.ended()
        if error is None:  # an error in the region must not be hidden by one of its end
            _check(code)


class _InWorker(threading.local):
    """Writes the account of a child of multiprocessing after its outermost regions; regions nest within a thread."""

    def __init__(self) -> None:
        self.depth = 0
        self._process = 0
        self._due = 0.0

    def ended(self) -> None:
        """Note that the outermost region of this thread has ended."""
        process = sys.modules.get("multiprocessing.process")
        if process is None or process.parent_process() is None:
            return
        now = time.monotonic()
        if self._process != os.getpid():
            self._process, self._due = os.getpid(), now
            from multiprocessing import util

            # Writes the visits that are not in the account yet when the child ends normally.
            util.Finalize(None, _library().lull_region_flush, exitpriority=0)
        if now >= self._due:
            _library().lull_region_flush()
            written = time.monotonic()
            self._due = written + (written - now) / MOST_SHARE

    def begins_anew(self) -> None:
        """Forget the regions of the parent, in a child of fork."""
        self.depth = 0


_in_worker = _InWorker()
os.register_at_fork(after_in_child=_in_worker.begins_anew)


def metric_sum(name: str, value: float, unit: str = "") -> None:
    """Report a figure of the program that is summed over processes, e.g. `("throughput", 2.5e9, "B/s")`.

    Within a process, the last report of a name counts. A name has one unit and one combination.

    Raises:
        ValueError: The name is empty, the value is infinite or not a number, or this process has reported the name with
            another unit or combination.
    """
    _report("lull_metric_sum", name, value, unit)


def metric_mean(name: str, value: float, unit: str = "") -> None:
    """Like `metric_sum`, for a figure that is averaged over processes, e.g. `("latency", 1.7e-6, "s")`."""
    _report("lull_metric_mean", name, value, unit)


def metric_min(name: str, value: float, unit: str = "") -> None:
    """Like `metric_sum`, for a figure whose minimum over processes counts."""
    _report("lull_metric_min", name, value, unit)


def metric_max(name: str, value: float, unit: str = "") -> None:
    """Like `metric_sum`, for a figure whose maximum over processes counts."""
    _report("lull_metric_max", name, value, unit)


def _report(call: str, name: str, value: float, unit: str) -> None:
    _check(getattr(_library(), call)(_text(name), float(value), _text(unit)))


def flush() -> None:
    """Write the account of this process now, and replace an earlier one.

    Raises:
        RuntimeError: It cannot be written.
    """
    _check(_library().lull_region_flush())


@functools.cache
def _library() -> ctypes.CDLL:
    path = installed.library(LIBRARY)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LullError(f"load {LIBRARY}", str(error), "install Lull again") from error
    for call in METRICS:
        getattr(library, call).argtypes = [ctypes.c_char_p, ctypes.c_double, ctypes.c_char_p]
    library.lull_meter_strerror.restype = ctypes.c_char_p
    return library


def _text(name: str) -> bytes:
    if "\0" in name:
        raise ValueError(f"a name with a zero byte: {name!r}")
    return name.encode()


def _check(code: int) -> None:
    if code == 0:
        return
    said = _library().lull_meter_strerror(code).decode()
    raise ValueError(said) if code in BAD_ARGUMENT else RuntimeError(said)
