"""The native part: the settings table and the energy meter (C++ rooms base/ and meter/)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class CoreError(Exception):
    """A lull::error: one line saying what was asked, what was found, what to do."""

class CoreUsageError(CoreError):
    """A lull::usage_error: a setting, or a file that a setting names, is not valid."""

class Setting:
    """One row of the settings table."""

    variable: str
    type: str  # "text" | "choice" | "integer" | "real" | "size"
    default: str
    choices: str  # "a|b|c" for a choice, "min..max" for numbers, else ""
    meaning: str
    value: str  # the text in force; raises nothing even if it is not valid
    origin: str  # "default" | "environment"
    problem: str  # why the value in force is not valid; "" when it is

def settings() -> list[Setting]:
    """Every setting of Lull, in the table's order."""

def unknown_variables() -> list[tuple[str, str]]:
    """(variable, nearest known one) for every LULL_* variable in the environment that is no setting."""

class Channel:
    """One stream of energy readings."""

    name: str  # unique on the node, e.g. "powercap:package-0"
    source: str
    domain: str  # node | package | dram | gpu | nic | wire
    kind: str  # measured | vendor-model | derived | estimated
    interval_s: float
    basis: str  # path, or coefficients with citation

class Source:
    """One energy source of this machine, readable or not."""

    name: str  # "powercap", "nvml", "net", ...
    kind: str
    unit: str  # of its raw values, e.g. "uJ", "bytes"
    interval_s: float
    range: str  # e.g. "wraps at 262143328850 uJ"; "" when it does not wrap
    permission: str  # what reading it needs, e.g. "root since Linux 5.10"
    readable: bool
    used: bool  # the sampler would use it by default on this machine
    reason: str  # why it is not readable, or not used; "" otherwise
    remedy: str  # the one line that mends it; "" when there is none
    channels: list[Channel]

def sources(sysroot: str = "/") -> list[Source]:
    """All sources Lull knows, in order of preference, as found below `sysroot`."""

def calibration_toml(idle: tuple[float, float], full: tuple[float, float], meter: str, when: str) -> str:
    """The table [calibration] of a site file: the line through two points (utilisation 0 to 1, watts) of `meter`.

    Raises:
        CoreError: The two loads are less than a tenth apart, or make no rising line.
    """

class ChannelTotal:
    """What one channel counted between start() and stop()."""

    joules: float
    low_j: float
    high_j: float
    bytes: int | None  # for the domain wire
    wraps: int
    gaps: int
    resets: int
    stale: int
    lower_bound: bool

class Samples:
    """What a sampler saw. Row i of `joules` is cumulative since start() at `time_ns[i]` (CLOCK_MONOTONIC)."""

    time_ns: NDArray[np.int64]  # shape (n,), n >= 2: the first at start(), the last at stop()
    joules: NDArray[np.float64]  # shape (n, channels), never decreasing
    totals: list[ChannelTotal]  # one per channel

class Sampler:
    """Reads the meter at a fixed rate in a thread of its own, without holding Python's lock.

    Args:
        sysroot: Root below which sys/ and proc/ are read.
        hz: Samples per second, 0.1 to 100.
        sources: Names of the sources to use; empty means those with `used`.

    Raises:
        CoreError: A named source is not readable, or hz is out of range.
    """

    def __init__(self, sysroot: str = "/", hz: float = 10.0, sources: Sequence[str] = ()) -> None: ...
    @property
    def channels(self) -> list[Channel]: ...
    def start(self) -> None:
        """Begin a new series; the first sample is taken before it returns."""
    def stop(self) -> Samples:
        """Take the last sample, end the thread and hand over the series. A sampler can be started again."""
    def latest(self) -> tuple[int, list[float]]:
        """(time_ns, cumulative joules per channel) of the newest sample, while it runs."""

def now_ns() -> int:
    """CLOCK_MONOTONIC in nanoseconds: the clock of samples and regions."""
