"""The machine that this process runs on, as a record describes it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from lull.record.schema import Host

# Names of Arm's cores; /proc/cpuinfo gives only their numbers (MIDR_EL1, in the reference manual of each core).
# Makers that license Arm's cores keep Arm's numbers: Graviton 2 is a Neoverse N1, Graviton 4 and Grace are Neoverse V2.
_MAKERS = {
    0x41: "Arm",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0x6D: "Microsoft",
    0x70: "Phytium",
    0xC0: "Ampere",
}
_CORES = {  # by maker and part, as util-linux's lscpu knows them
    (0x41, 0xD08): "Cortex-A72",
    (0x41, 0xD0C): "Neoverse N1",
    (0x41, 0xD40): "Neoverse V1",
    (0x41, 0xD49): "Neoverse N2",
    (0x41, 0xD4F): "Neoverse V2",
    (0x41, 0xD83): "Neoverse V3AE",
    (0x41, 0xD84): "Neoverse V3",
    (0x41, 0xD8E): "Neoverse N3",
    (0x43, 0x0AF): "ThunderX2",
    (0x46, 0x001): "A64FX",
    (0x46, 0x003): "MONAKA",
    (0x48, 0xD01): "TaiShan v110",
    (0x4E, 0x010): "Olympus",
    (0x6D, 0xD49): "Azure Cobalt 100",
    (0xC0, 0xAC3): "Ampere-1",
    (0xC0, 0xAC4): "Ampere-1a",
}


def processor_in(cpuinfo: str) -> str:
    """The processor that the text of /proc/cpuinfo names: its model, or on Arm the maker and name of the core."""
    said: dict[str, str] = {}
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        said.setdefault(key.strip(), value.strip())
    if model := said.get("model name"):
        return model
    try:
        implementer, part = int(said["CPU implementer"], 0), int(said["CPU part"], 0)
    except (KeyError, ValueError):
        return "unknown"
    maker = _MAKERS.get(implementer, f"implementer {implementer:#x}")
    return f"{maker} {_CORES.get((implementer, part), f'part {part:#x}')}"


def this_host() -> Host:
    """The machine that this process runs on, from /proc."""

    def first_line(path: str) -> str:
        try:
            return Path(path).read_text(encoding="utf-8").splitlines()[0].strip()
        except (OSError, IndexError):
            return "unknown"

    try:
        processor = processor_in(Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace"))
    except OSError:
        processor = "unknown"
    return Host(
        node=socket.gethostname(),
        boot_id=first_line("/proc/sys/kernel/random/boot_id"),
        processor=processor,
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=f"{os.uname().sysname} {os.uname().release}",
    )
