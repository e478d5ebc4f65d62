"""The identity and the clock of a node, for a job that is measured on several nodes.

Host name and boot together identify a node: two emulated hosts on one kernel have the same boot, two containers may
have the same name. Times are taken by CLOCK_MONOTONIC, whose origin differs between machines. An anchor, which is one
moment by both CLOCK_MONOTONIC and CLOCK_REALTIME, converts them to a common axis, as exactly as the nodes' clocks
agree. Nodes of one boot share the clock and need no anchors.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from lull.record import Host, this_host
from lull.record.part import Anchor

STA_UNSYNC = 0x0040  # <sys/timex.h>
TIME_ERROR = 5
ANCHOR_TRIES = 5


@dataclass(frozen=True)
class Identity:
    """This node, for its own processes and for the other nodes of a job."""

    host: Host
    key: str  # name of this node's files


def this_node() -> Identity:
    """The node that this process runs on. Its cores are those of the node, not only those to which a rank is bound."""
    host = this_host().model_copy(update={"cores": os.cpu_count() or 1})
    try:
        network = Path("/proc/self/ns/net").stat().st_ino
    except OSError:
        network = 0
    return Identity(host, digest(host.node, host.boot_id, str(network)))


def digest(*parts: str) -> str:
    """A short name that differs if one of the parts differs."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def take_anchor() -> Anchor:
    """Read both clocks together; of several attempts, the one with the least uncertainty counts."""
    tries = []
    for _ in range(ANCHOR_TRIES):
        before = time.monotonic_ns()
        realtime = time.time_ns()
        after = time.monotonic_ns()
        tries.append(Anchor(monotonic_ns=(before + after) // 2, realtime_ns=realtime, width_ns=after - before))
    return min(tries, key=lambda anchor: anchor.width_ns)


class _Timex(ctypes.Structure):
    # struct timex of <sys/timex.h> on 64-bit Linux, up to the last field read here, then padding for the rest.
    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


def clock_error_s() -> float | None:
    """The kernel's bound for the error of CLOCK_REALTIME, in seconds; None if the clock is not synchronized."""
    state = _Timex()
    answer = ctypes.CDLL(None).adjtimex(ctypes.byref(state))
    if answer < 0 or answer == TIME_ERROR or state.status & STA_UNSYNC:
        return None
    return float(state.maxerror) / 1e6
