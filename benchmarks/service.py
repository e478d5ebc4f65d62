"""The cost of a node's service, and the errors of its figures (`make bench-service`).

The node is a fixture tree of two packages with DRAM and the cgroups of the jobs. Reading a file of a tree costs as much
as reading the text of a file, which is less than some drivers need. CPU time and memory are the kernel's own account of
the service. The store of jobs is measured by itself (service_store.py). Prints one line of JSON; figures.toml describes
its figures.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "python" / "support"), str(ROOT / "tests" / "python")]

from service_store import store_figures  # noqa: E402

from node_service import ALICE, IS_ROOT, NodeService, node_service  # noqa: E402

SECONDS = 20.0
JOBS = 32
MANY_JOBS = 256
CONNECTIONS = 64
FLOOD_S = 5.0
MEASURED_S = 10.0

COUNTERS = b'{"v": 1, "ask": "counters"}'
BOTH = """
import sys, time
from lull import _core
served = _core.Sampler(hz=10, sources=["served"])
direct = _core.Sampler(sysroot=sys.argv[1], hz=10, sources=["powercap"])
served.start(), direct.start()
time.sleep(float(sys.argv[2]))
print(*(sum(total.joules for total in one.stop().totals) for one in (served, direct)))
"""


def cpu_ns(pid: int) -> int:
    """The CPU time of a process with one thread."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def rss_mb(pid: int) -> float:
    """Its resident memory, shared libraries included."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def open_jobs(service: NodeService, first: int, last: int) -> None:
    """Accounts of jobs of one user, who may therefore read the counters."""
    for job in range(first, last):
        service.open(f"job{job}", ALICE if IS_ROOT else os.getuid())


def run_jobs(service: NodeService, until: threading.Event) -> None:
    """Consume some 60 W, as evenly as this machine allows, with CPU time of all jobs, until the event."""
    usage, steps, last = 0, 0, time.monotonic()
    while not until.wait(0.005):
        now = time.monotonic()
        service.consume(60 * (now - last))
        last, steps = now, steps + 1
        if steps % 50:
            continue
        service.move()
        usage += 100_000
        for job in range(JOBS):
            service.set_cpu_time(f"/jobs/job{job}", usage)
        service.set_cpu_time("/jobs", usage * JOBS)
        service.set_cpu_time("", usage * JOBS)


def cpu_pct(service: NodeService) -> float:
    """CPU time of the service in percent of a core, while jobs run and no client sends a message."""
    assert service.process
    before, began = cpu_ns(service.process.pid), time.monotonic()
    time.sleep(SECONDS)
    return (cpu_ns(service.process.pid) - before) / 1e9 / (time.monotonic() - began) * 100


def ask_without_end(path: str) -> None:
    """Questions of an ordinary user over as many connections as one can get, as fast as they are taken."""
    if IS_ROOT:
        os.setgroups([])
        os.setresuid(ALICE, ALICE, ALICE)
    with ExitStack() as stack:
        connections = []
        for _ in range(CONNECTIONS):
            one = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            one.connect(path)
            one.setblocking(False)
            connections.append(one)
        while True:
            for one in connections:
                with suppress(OSError):
                    one.send(COUNTERS)
                with suppress(OSError):
                    one.recv(65536)


def under_flood(service: NodeService) -> tuple[float, float]:
    """Readings of the hardware a second, and CPU time in percent of a core, while many ask."""
    assert service.process
    flood = multiprocessing.get_context("fork").Process(
        target=ask_without_end, args=(str(service.sockets / "meter"),), daemon=True
    )
    flood.start()
    time.sleep(0.5)
    readings, used, began = service.node()["readings"], cpu_ns(service.process.pid), time.monotonic()
    time.sleep(FLOOD_S)
    seconds = time.monotonic() - began
    readings, used = service.node()["readings"] - readings, cpu_ns(service.process.pid) - used
    flood.kill()
    flood.join()
    return readings / seconds, used / 1e9 / seconds * 100


def through_it(service: NodeService) -> float:
    """What a measurement through the service has over one that reads the counters, at the same time."""
    done = subprocess.run(
        [sys.executable, "-c", BOTH, str(service.tree), str(MEASURED_S)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LULL_SERVICE_SOCKET": str(service.sockets / "meter")},
    )
    served, direct = map(float, done.stdout.split())
    return served / direct


# What the plugin sends for a batch job, in the extern step, the batch step and the epilog, each of which is a process;
# and whether it waits for the answer.
CALLS = (
    (("open", True),),
    (("open", True), ("used", False), ("used", False), ("figures", True)),
    (("close", False),),
)


def delay_of_calls(library: Path, path: str, calls: tuple[tuple[str, bool], ...]) -> float:
    """How long these calls take, in milliseconds."""
    wire = ctypes.CDLL(str(library))
    answer = ctypes.create_string_buffer(65536)
    message = ctypes.create_string_buffer(8192)
    began = time.monotonic_ns()
    for ask, waits in calls:
        wire.lull_begin(message, ask.encode(), b"slurm.delay")
        if ask == "open":
            wire.lull_add_number(message, b"uid", ctypes.c_int64(ALICE))
        if ask == "used":
            wire.lull_add_number(message, b"usage_us", ctypes.c_int64(1000))
        wire.lull_send(message, path.encode(), answer if waits else None, ctypes.c_size_t(65536 if waits else 0))
    return (time.monotonic_ns() - began) / 1e6


def build_wire(folder: Path) -> Path:
    """The code that the plugin and lull-account send messages with, as a library."""
    library = folder / "wire.so"
    source = ROOT / "src" / "service" / "scheduler" / "wire.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{ROOT / 'src'}", "-o", library, source], check=True)
    return library


def delay_ms(service: NodeService, jobs: int) -> float:
    """The delay of a batch job by all calls, the median of some jobs."""
    library, path = build_wire(service.folder), str(service.sockets / "accounts")
    sums = []
    for _ in range(jobs):
        total = 0.0
        for calls in CALLS:
            with multiprocessing.get_context("fork").Pool(1) as pool:  # a process remembers that there was no answer
                total += pool.apply(delay_of_calls, (library, path, calls))
        sums.append(total)
    return statistics.median(sums)


def main() -> None:
    """Print the figures as JSON."""
    with node_service() as service:
        service.start()
        assert service.process
        open_jobs(service, 0, JOBS)
        done = threading.Event()
        jobs = threading.Thread(target=run_jobs, args=(service, done))
        jobs.start()
        try:
            cpu = cpu_pct(service)
            ratio = through_it(service)
            readings, cpu_flood = under_flood(service)
        finally:
            done.set()
            jobs.join()
        delay = delay_ms(service, 50)
        service.process.send_signal(signal.SIGSTOP)
        delay_stopped = delay_ms(service, 5)
        service.process.send_signal(signal.SIGCONT)
        open_jobs(service, JOBS, MANY_JOBS)
        memory = rss_mb(service.process.pid)
        for job in range(MANY_JOBS):
            service.finish(f"job{job}")
        result = {
            "cpu_pct_1hz_32_jobs": round(cpu, 4),
            "rss_mb_256_jobs": round(memory, 2),
            "readings_per_s_flood": round(readings, 2),
            "cpu_pct_flood": round(cpu_flood, 3),
            "conservation_uj": abs(service.unattributed_uj()) + abs(service.consumed_uj - service.node_uj()),
            "measure_direct_ratio": round(ratio, 5),
            "delay_ms_start_step_end": round(delay, 3),
            "delay_ms_service_stopped": round(delay_stopped, 1),
        }
    print(json.dumps(result | store_figures()))


if __name__ == "__main__":
    main()
