"""Does waiting stay cheap when PEs outnumber cores, and what does aggregation gain? (`make bench-histogram`)

Runs the histogram application in different settings, in turn and in several rounds, so that a drift of the machine
affects all of them. Prints one line of JSON: medians of the ratios taken within each round, and their quartiles;
figures.toml describes them.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass

ROUNDS = 7


@dataclass(frozen=True)
class Run:
    """One setting of the application."""

    pes: int
    nodes: int
    mode: str
    updates: int


@dataclass(frozen=True)
class Figures:
    """The printed results: updates per second and PE, and CPU nanoseconds per update."""

    rate: float
    cpu_ns: float


RUNS = {
    "2 PEs": Run(2, 1, "aggregated", 1_000_000),
    "8 PEs": Run(8, 1, "aggregated", 1_000_000),
    "2 PEs, direct": Run(2, 1, "direct", 1_000_000),
    "2 nodes": Run(2, 2, "aggregated", 1_000_000),
    "2 nodes, direct": Run(2, 2, "direct", 50_000),
}


def once(run: Run) -> Figures:
    """Run the application once and parse its output."""
    command = ["lull", "run", "-n", str(run.pes), "--nodes", str(run.nodes), "histogram"]
    command += ["--mode", run.mode, "--updates", str(run.updates), "--table", "10000", "--min-time", "0.5"]
    environment = {**os.environ, "LULL_WAIT": "interrupt"}
    text = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    found = re.search(r"([\d.e+]+) M updates/s per PE, ([\d.e+]+) ns CPU per update", text)
    if "verified" not in text or found is None:
        raise SystemExit(f"histogram printed something else: {text!r}")
    return Figures(float(found[1]) * run.pes, float(found[2]))


def main() -> None:
    """Print the ratios as JSON."""
    ratios: dict[str, list[float]] = {}
    for round_number in range(ROUNDS):
        seen = {name: once(run) for name, run in RUNS.items()}
        of_round = {
            "cpu_ratio_8pe": seen["8 PEs"].cpu_ns / seen["2 PEs"].cpu_ns,
            "speedup_shared_memory": seen["2 PEs"].rate / seen["2 PEs, direct"].rate,
            "speedup_two_nodes": seen["2 nodes"].rate / seen["2 nodes, direct"].rate,
            "cpu_ratio_two_nodes": seen["2 nodes, direct"].cpu_ns / seen["2 nodes"].cpu_ns,
        }
        for name, value in of_round.items():
            ratios.setdefault(name, []).append(value)
        print(f"round {round_number + 1}/{ROUNDS}", file=sys.stderr)
    result: dict[str, object] = {"rounds": ROUNDS}
    for name, values in ratios.items():
        low, middle, high = statistics.quantiles(values, n=4)
        result[name] = round(middle, 3)
        result[f"{name}_quartiles"] = [round(low, 3), round(high, 3)]
    print(json.dumps(result))


if __name__ == "__main__":
    main()
