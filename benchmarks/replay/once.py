"""A trace read and replayed in its own process, so that its memory is its own (for benchmarks/replay.py).

Reads {"trace": folder} as JSON from standard input; prints one line of JSON: CPU seconds of reading and of the event
loop, and the additional bytes of memory, mapped files included (proc_pid_status(5)).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from lull import _core


def resident(what: str) -> int:
    """Bytes of memory of this process now (VmRSS), or at most since the last reset of the peak (VmHWM)."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{what}:"):
            return 1024 * int(line.split()[1])
    raise SystemExit(f"read memory: /proc/self/status has no {what}")


def main() -> None:
    """Read, replay and print."""
    trace = json.load(sys.stdin)["trace"]
    topology = {"name": "leaf-spine", "leaves": 1, "nodes_per_leaf": 2, "spines": 1}
    asked = {"topology": topology, "jobs": [{"trace": trace, "mapping": [0, 1]}]}
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    before = resident("VmRSS")
    began = time.process_time()
    _core.read_trace(trace)
    read = time.process_time() - began
    run = _core.simulate(_core.read_simulation(asked, "read the description"), [[0, 1]])
    cpu_s = read + run.setup_cpu_s + run.loop_cpu_s
    print(
        json.dumps(
            {"cpu_s": cpu_s, "bytes": resident("VmHWM") - before, "read_cpu_s": read, "loop_cpu_s": run.loop_cpu_s}
        )
    )


if __name__ == "__main__":
    main()
