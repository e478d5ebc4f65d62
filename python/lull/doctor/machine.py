"""The machine itself: processor, kernel, clock, and the limits of shared and locked memory."""

from __future__ import annotations

import os
import resource
import time

from lull.doctor import processor
from lull.doctor.finding import Finding, Machine
from lull.statistics import formatting

SLOW_CLOCKS = ("hpet", "acpi_pm", "jiffies", "refined-jiffies")
LEAST_SHARED_BYTES = 64 << 20  # the default of containers is 64 MB
LEAST_FILES = 1024


def look(machine: Machine) -> list[Finding]:
    """Check the machine and the limits of its processes."""
    found = [processor.look(machine)]
    if machine.is_this:
        found.append(Finding("system", "works", f"{_distribution(machine)}, {os.uname().sysname} {os.uname().release}"))
    found.append(_clock(machine))
    if machine.is_this:
        found += [_shared_memory(machine), _locked_memory(), _open_files()]
    return found


def _distribution(machine: Machine) -> str:
    for line in machine.read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return "Linux"


def _clock(machine: Machine) -> Finding:
    source = machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
    words = f"source {source}"
    if machine.is_this:
        words += f", resolution {time.clock_getres(time.CLOCK_MONOTONIC) * 1e9:g} ns"
    if source in SLOW_CLOCKS:
        return Finding("clock", "limited", f"{words}: reading it takes microseconds", "boot with clocksource=tsc")
    return Finding("clock", "works", words)


def _shared_memory(machine: Machine) -> Finding:
    try:
        there = os.statvfs(machine.below("/dev/shm"))
    except OSError as error:
        return Finding("shared memory", "missing", f"/dev/shm: {error.strerror}", "mount a tmpfs there", needed=True)
    free, size = there.f_bavail * there.f_frsize, there.f_blocks * there.f_frsize
    words = f"/dev/shm has {formatting.si(free, 'B')} of {formatting.si(size, 'B')} free"
    if free <= LEAST_SHARED_BYTES:
        return Finding("shared memory", "limited", words, "mount it larger (--shm-size for containers)")
    return Finding("shared memory", "works", words)


def _locked_memory() -> Finding:
    limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if limit == resource.RLIM_INFINITY:
        return Finding("locked memory", "works", "no limit")
    words = f"limit {formatting.si(limit, 'B')} a process"
    return Finding("locked memory", "limited", words, "ulimit -l unlimited, for networks that register memory")


def _open_files() -> Finding:
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    words = f"limit {limit}, at most {most}"
    if limit < LEAST_FILES:
        return Finding("open files", "limited", words, f"ulimit -n {LEAST_FILES}, for jobs of many processes on a node")
    return Finding("open files", "works", words)
