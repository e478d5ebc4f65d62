"""The machine this process runs on, as a record names it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from lull.record.schema import Host


def this_host() -> Host:
    """The machine this process runs on, from /proc."""

    def first_line(path: str) -> str:
        try:
            return Path(path).read_text(encoding="utf-8").splitlines()[0].strip()
        except (OSError, IndexError):
            return "unknown"

    processor = "unknown"
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return Host(
        node=socket.gethostname(),
        boot_id=first_line("/proc/sys/kernel/random/boot_id"),
        processor=processor,
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=f"{os.uname().sysname} {os.uname().release}",
    )
