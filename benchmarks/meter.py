"""What does measuring itself cost, and how long does comparing take? (`make bench-meter`)

The counters are files of a fixture tree, RAPL zones of ten packages with their DRAM: reading them costs as much as
reading the text of a file, which is less than some drivers need to get a value from the hardware. The thread's time is
the kernel's own account (schedstat), in nanoseconds. Prints one line of JSON; figures.toml describes its figures.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "python" / "support"), str(ROOT / "tests" / "fixtures")]

from make_sysfs_fixtures import RANGE_ESU_14, RANGE_ESU_16, Tree  # noqa: E402

import records  # noqa: E402
from lull import _core  # noqa: E402

PACKAGES = 10  # with the DRAM of each: 20 counters
SECONDS = 10.0
RUNS = 1000
ROUNDS = 5


def tree_of_counters(root: Path) -> None:
    """Make twenty RAPL counters below `root`."""
    tree = Tree(root)
    tree.powercap_control("intel-rapl")
    for number in range(PACKAGES):
        tree.powercap_zone(f"package-{number}", [number], 124_599_532_281, RANGE_ESU_14)
        tree.powercap_zone("dram", [number, 0], 900_000, RANGE_ESU_16)


def threads() -> set[str]:
    """The threads of this process."""
    return {path.name for path in Path("/proc/self/task").iterdir()}


def cpu_ns(thread: str) -> int:
    """The CPU time of a thread of this process."""
    return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[0])


def overhead_pct(root: Path, hz: float) -> float:
    """CPU time of the meter's thread as a percentage of elapsed time."""
    sampler = _core.Sampler(sysroot=str(root), hz=hz, sources=["powercap"])
    if len(sampler.channels) != 2 * PACKAGES:
        raise SystemExit(f"the tree has {len(sampler.channels)} counters, not {2 * PACKAGES}")
    before = threads()
    sampler.start()
    [thread] = threads() - before
    begin, used = time.monotonic(), cpu_ns(thread)
    time.sleep(SECONDS)
    used, seconds = cpu_ns(thread) - used, time.monotonic() - begin
    rows = len(sampler.stop().time_ns)
    if rows < 0.9 * hz * SECONDS:
        raise SystemExit(f"only {rows} readings in {seconds:.3g} s at {hz:g} Hz: the machine is too busy")
    return used / 1e9 / seconds * 100


def compare_ms(folder: Path) -> float:
    """Median time of comparing two records of a thousand runs."""
    times = [10 + 0.05 * ((7 * i) % 31 - 15) / 15 for i in range(RUNS)]
    sides = [
        records.write(folder / "a", records.run("a", times)),
        records.write(folder / "b", records.run("b", records.faster(times, 1.1))),
    ]
    took = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        subprocess.run(["lull", "compare", *map(str, sides)], check=True, stdout=subprocess.DEVNULL)
        took.append((time.monotonic() - begin) * 1e3)
    return statistics.median(took)


def main() -> None:
    """Print the figures as JSON."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tree_of_counters(folder / "tree")
        result = {
            "overhead_10hz_pct": round(overhead_pct(folder / "tree", 10), 4),
            "overhead_100hz_pct": round(overhead_pct(folder / "tree", 100), 4),
            "compare_ms_1000_runs": round(compare_ms(folder)),
        }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
