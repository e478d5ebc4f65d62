"""What a node says of itself when several are measured together: who it is, and how its clock stands.

A node is known by its host name and its boot together: two emulated hosts on one kernel share the boot, two containers
may share the name. Times are taken by CLOCK_MONOTONIC, which starts anew on every machine; an anchor, the same moment
by CLOCK_MONOTONIC and by CLOCK_REALTIME, puts them on an axis that nodes have in common as far as their clocks agree.
Nodes of one boot share the clock itself, and then the anchors do not matter.
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
    key: str  # names files of this node beside those of others


def this_node() -> Identity:
    """The node this process runs on. Its cores are those of the node, not the few a rank may be bound to."""
    host = this_host().model_copy(update={"cores": os.cpu_count() or 1})
    try:
        network = Path("/proc/self/ns/net").stat().st_ino
    except OSError:
        network = 0
    return Identity(host, digest(host.node, host.boot_id, str(network)))


def digest(*parts: str) -> str:
    """A short name that differs whenever one of the parts does."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def take_anchor() -> Anchor:
    """Both clocks read together, the narrowest of a few tries."""
    tries = []
    for _ in range(ANCHOR_TRIES):
        before = time.monotonic_ns()
        realtime = time.time_ns()
        after = time.monotonic_ns()
        tries.append(Anchor(monotonic_ns=(before + after) // 2, realtime_ns=realtime, width_ns=after - before))
    return min(tries, key=lambda anchor: anchor.width_ns)


class _Timex(ctypes.Structure):
    # struct timex of <sys/timex.h> on 64-bit Linux, up to what is read here; the rest is room for the kernel.
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
    """The largest error the kernel allows for in CLOCK_REALTIME; None when nothing disciplines the clock."""
    state = _Timex()
    answer = ctypes.CDLL(None).adjtimex(ctypes.byref(state))
    if answer < 0 or answer == TIME_ERROR or state.status & STA_UNSYNC:
        return None
    return float(state.maxerror) / 1e6
