"""The OpenSHMEM runtime: its libraries, the networks that they can use, and two test programs."""

from __future__ import annotations

import ctypes
from pathlib import Path

from lull.base import installed
from lull.base.errors import LullError
from lull.doctor.finding import Finding, Machine, last_line
from lull.doctor.parts import libraries_of

UP = ("up", "unknown")  # states of an active interface; that of the loopback is "unknown"
BUILT_IN = ("tcp", "posix", "sysv", "self")  # transports of UCX that need no module


def look(machine: Machine) -> list[Finding]:
    """Check the versions of UCX and PMIx, the transports, and jobs of two PEs, on one node and between two."""
    if not machine.is_this:
        return []
    library = installed.library("liblull-shmem.so")
    if not library.is_file():
        return []  # reported with Lull's own parts
    libraries = libraries_of(machine, library)
    ucp = _loaded("libucp.so.0")
    found = [
        _version("UCX", ucp, "ucp_get_version_string", machine.system.install("ucx")),
        _version("PMIx", libraries.get("libpmix.so.2"), "PMIx_Get_version", machine.system.install("pmix")),
    ]
    if ucp:
        found.append(_transports(machine, ucp))
    found.append(_libfabric(machine))
    return [
        *found,
        _cross_memory(machine),
        _tried(machine, "2 PEs on a node", []),
        _tried(machine, "2 PEs on 2 nodes", ["--nodes", "2"]),
    ]


def _loaded(name: str) -> Path | None:
    """The file that the loader finds for a library that Lull loads on demand."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return None
    files = (line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").read_text().splitlines())
    stem = name.partition(".so")[0] + ".so"
    return next((Path(file) for file in files if Path(file).name.startswith(stem)), None)


def _version(what: str, library: Path | None, function: str, fix: str) -> Finding:
    if library is None:
        return Finding(what, "missing", "its library is not found", fix, needed=True)
    try:
        asked = getattr(ctypes.CDLL(str(library)), function)
    except (OSError, AttributeError) as error:
        return Finding(what, "missing", f"{library}: {error}", needed=True)
    asked.restype = ctypes.c_char_p
    text = (asked() or b"").decode(errors="replace").strip()
    return Finding(what, "works", f"{text.removeprefix('OpenPMIx').split(',')[0].split('(')[0].strip()} in {library}")


def _transports(machine: Machine, ucp: Path) -> Finding:
    modules = sorted(path.name for path in (ucp.resolve().parent / "ucx").glob("libuct_*.so"))
    more = [name.removeprefix("libuct_").removesuffix(".so") for name in modules]
    nets = machine.below("/sys/class/net")
    up = [one.name for one in sorted(nets.glob("*")) if machine.read(f"/sys/class/net/{one.name}/operstate") in UP]
    fabrics = [one.name for one in sorted(machine.below("/sys/class/infiniband").glob("*"))]
    words = f"{', '.join([*BUILT_IN, *more])}; interfaces {', '.join(up) or 'none'}"
    if fabrics:
        return Finding("transports", "works", f"{words}; RDMA devices {', '.join(fabrics)}: {rdma_over(_numbers(ucp))}")
    return Finding("transports", "works", f"{words}; no RDMA device")


REPORTS_TRANSPORTS = (1, 14)  # UCX, from this version on


def _numbers(ucp: Path) -> tuple[int, int]:
    numbers = [ctypes.c_uint() for _ in range(3)]
    ctypes.CDLL(str(ucp)).ucp_get_version(*(ctypes.byref(one) for one in numbers))
    return numbers[0].value, numbers[1].value


def rdma_over(ucx: tuple[int, int]) -> str:
    """Say what LULL_RDMA=auto does over such a device and this version of UCX."""
    if ucx >= REPORTS_TRANSPORTS:
        return "LULL_RDMA=auto uses them where UCX reaches a PE by reliable connections alone (rc, dc)"
    return f"UCX {ucx[0]}.{ucx[1]} does not report what it uses, so RDMA needs LULL_RDMA=on"


def _libfabric(machine: Machine) -> Finding:
    adapters = [
        one.name
        for folder, pattern in (("cxi", "*"), ("infiniband", "efa_*"), ("infiniband", "hfi1_*"))
        for one in sorted(machine.below(f"/sys/class/{folder}").glob(pattern))
    ]
    library = _loaded("libfabric.so.1")
    if library is None:
        words = (
            f"its library is not found, and {adapters[0]} needs it" if adapters else "not found; nothing here needs it"
        )
        fix = machine.system.install("libfabric") if adapters else ""
        return Finding("libfabric", "limited" if adapters else "works", words, fix)
    version = ctypes.CDLL(str(library)).fi_version()
    words = f"{version >> 16}.{version & 0xFFFF} in {library}"
    use = f"used for {', '.join(adapters)}" if adapters else "used with LULL_TRANSPORT=libfabric"
    return Finding("libfabric", "works", f"{words}; {use}")


def _cross_memory(machine: Machine) -> Finding:
    scope = machine.read("/proc/sys/kernel/yama/ptrace_scope")
    if scope in ("", "0"):
        return Finding("copies between processes", "works", "permitted (process_vm_readv)")
    words = f"kernel.yama.ptrace_scope is {scope}: UCX's cma is not available"
    return Finding(
        "copies between processes", "limited", words, "sysctl kernel.yama.ptrace_scope=0, if the site permits"
    )


def _tried(machine: Machine, what: str, options: list[str]) -> Finding:
    try:
        installed.find_program("shift")
    except LullError as error:
        return Finding(what, "missing", str(error), needed=True)
    words = ["run", "-n", "2", *options, "shift", "--max", "8", "--iterations", "10"]
    code, said = machine.output_of(installed.module_command("lull", *words))
    shown = f"lull {' '.join(words)}"
    if code == 0:
        return Finding(what, "works", shown)
    return Finding(what, "missing", f"{shown}: {last_line(said)}", "the line says why", needed=True)
