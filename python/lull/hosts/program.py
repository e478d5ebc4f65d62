"""Support for programs that make virtual hosts, such as benchmarks: the hosts are removed however the program ends."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import NoReturn

from lull.base.errors import LullError


def end_in_order_on_signals() -> None:
    """Let SIGTERM and SIGHUP end this process by an exception, so that context managers clean up."""

    def stop(signum: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + signum)

    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, stop)


def run_to_its_end(name: str, run: Callable[[], int]) -> int:
    """Call `run()`; return its exit code, or that of an error, which prints one line that begins with `name`."""
    end_in_order_on_signals()
    try:
        return run()
    except LullError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
