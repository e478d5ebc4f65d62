"""The processor: its name, its cores and hardware threads, and how many of them this process may use."""

from __future__ import annotations

import os
import platform
from pathlib import PurePosixPath

from lull.doctor.finding import Finding, Machine
from lull.record.host import processor_in
from lull.statistics import formatting

CPUS = "/sys/devices/system/cpu"
CGROUPS = "/sys/fs/cgroup"


def look(machine: Machine) -> Finding:
    """Check the processor of the machine, and what a container or a launcher leaves of it."""
    info = machine.read("/proc/cpuinfo")
    lines = [line.partition(":") for line in info.splitlines()]
    flags = next((value.split() for key, _, value in lines if key.strip() in ("flags", "Features")), [])
    name = processor_in(info)
    words = [name if name != "unknown" else platform.machine(), *_threads(machine)]
    waits = [flag for flag in ("waitpkg", "mwaitx", "wfxt") if flag in flags]
    if waits:
        words.append(f"waits in user space ({', '.join(waits)})")
    if "hypervisor" in flags:
        words.append("virtual")
        return Finding("processor", "limited", ", ".join(words), "energy and frequency are the host's: measure there")
    return Finding("processor", "works", ", ".join(words))


def _threads(machine: Machine) -> list[str]:
    online = numbers_in(machine.read(f"{CPUS}/online"))
    if not online and machine.is_this:
        online = list(range(os.cpu_count() or 1))
    if not online:
        return []
    words = [_of_cores(machine, online)]
    efficient = set(numbers_in(machine.read("/sys/devices/cpu_atom/cpus"))) & set(online)
    if efficient:
        words.append(f"{len(efficient)} of them on efficient cores")
    if offline := set(numbers_in(machine.read(f"{CPUS}/present"))) - set(online):
        words.append(f"{len(offline)} more offline")
    if machine.is_this:
        allowed = len(os.sched_getaffinity(0))
        if allowed < len(online):
            words.append(f"this process may use {allowed}")
        if quota := _quota(machine):
            words.append(f"for {quota:g} of them at a time (cgroup)")
    return words


def _of_cores(machine: Machine, online: list[int]) -> str:
    """Hardware threads, and cores if those have several."""
    siblings = {
        machine.read(f"{CPUS}/cpu{cpu}/topology/thread_siblings_list") or str(cpu) for cpu in online
    }  # equal for all threads of a core
    threads = formatting.count(len(online), "hardware thread")
    return threads if len(siblings) == len(online) else f"{threads} of {formatting.count(len(siblings), 'core')}"


def _quota(machine: Machine) -> float | None:
    """The processor time per time that cgroups of version 2 leave to this process; None if it is not limited."""
    path = next((line[3:] for line in machine.read("/proc/self/cgroup").splitlines() if line.startswith("0::")), "/")
    limits = []
    for group in (PurePosixPath(path), *PurePosixPath(path).parents):
        quota, _, period = machine.read(f"{CGROUPS}/{group}/cpu.max").partition(" ")
        if quota.isdecimal() and period.isdecimal() and int(period) > 0:
            limits.append(int(quota) / int(period))
    return min(limits, default=None)


def numbers_in(text: str) -> list[int]:
    """The numbers of a list as the kernel writes it, `0-3,8`; none if it is something else."""
    found: list[int] = []
    for item in text.split(","):
        first, dash, last = item.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            return []
        found += range(int(first), int(last or first) + 1)
    return found
