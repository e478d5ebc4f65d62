"""Named shared segments, System V's and those of /dev/shm: only those of this process and its descendants.

Nothing in such a segment identifies its job. Therefore the process gets its own IPC namespace and /dev/shm, which
everything that it starts inherits. Where that is not permitted (it needs root), no segments are seen.
"""

import ctypes
from pathlib import Path

_CLONE_NEWNS, _CLONE_NEWIPC = 0x00020000, 0x08000000
_MS_REC, _MS_SLAVE = 1 << 14, 1 << 19
_separate: list[bool] = []


def separate_segments() -> bool:
    """Leave the segments of the machine, once; returns whether that is permitted."""
    if not _separate:
        libc = ctypes.CDLL(None)
        _separate.append(
            libc.unshare(_CLONE_NEWIPC | _CLONE_NEWNS) == 0
            and libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None) == 0
            and libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", ctypes.c_ulong(0), b"mode=1777") == 0
        )
    return _separate[0]


def shared_segments() -> set[str]:
    """The names of existing segments. A memfd has no name and ends with the processes that hold it."""
    if not separate_segments():
        return set()
    system_v = [line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return {path.name for path in Path("/dev/shm").iterdir()} | set(system_v)
