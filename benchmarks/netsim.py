"""How fast is the network simulator, what does accounting for power cost it, and how does it compare? (`make
bench-netsim`)

Uniform random traffic at half of the capacity of the nodes' links: 460,800 messages of 16 KiB in packets of 4 KiB, on
networks of 4,608 nodes at 100 Gbit/s; 4 virtual channels, round robin. Each run is a separate process; all runs take
turns, in several rounds, so that a drift of the machine affects all of them. Prints one line of JSON: medians;
figures.toml describes them.

A packet-hop is a packet that crosses a link; CPU seconds are those of the event loop. For links that sleep, their power
is accounted for (deep sleep, hold 0) but no packet waits for them: the traffic is thus the same, and the additional
cost is that of the accounting. `details` has every case, with its quartiles, also with the waits, and the CPU time of
the process.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lull import _core

ROUNDS = 5
TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "bench-netsim"
SIMGRID_LIMIT_S = 300
# Printed by CODES, with minimal routing, from the start of injection.
PEERS_LATENCY_US = {"fat-tree-4608": 3.5, "dragonfly-rows-4608": 3.7}

NETWORK = {"virtual_channels": 4}  # everything else by default
JOB = {"load": 0.5, "message": 16384, "messages": 100}
POWER_SETTINGS: dict[str, dict[str, Any]] = {
    "off": {},
    "accounted": {"mode": "deep-sleep", "wake_delays": False},
    "waited-for": {"mode": "deep-sleep"},
}


@dataclass(frozen=True)
class Case:
    """One timed simulation."""

    preset: str
    algorithm: str
    power: str  # a key of POWER_SETTINGS
    messages: int = 100  # per node
    network: dict[str, Any] = field(default_factory=dict)  # differences from NETWORK

    @property
    def name(self) -> str:
        """Its key in the details."""
        parts = [self.preset, self.algorithm, self.power]
        if self.network.get("queues") == "fifo":
            parts.append("fifo")
        if "switching" in self.network:
            parts.append("store-and-forward")
        return " ".join(parts)

    def description(self) -> dict[str, Any]:
        """The input of the simulator."""
        return describe(self.preset, self.algorithm, self.power, [{**JOB, "messages": self.messages}], self.network)


def describe(
    preset: str, algorithm: str, power: str, jobs: list[dict[str, Any]], network: dict[str, Any]
) -> dict[str, Any]:
    """A description as in a file."""
    return {
        "topology": {"preset": preset},
        "network": {**NETWORK, **network},
        "routing": {"algorithm": algorithm},
        "power": POWER_SETTINGS[power],
        "jobs": jobs,
    }


def nodes_of(preset: str) -> int:
    """The number of nodes of a preset."""
    known = next(p for p in _core.topology_presets() if p.name == preset)
    return _core.topology_nodes(known.topology, known.parameters)


def cases() -> list[Case]:
    """All simulations, those that are compared next to each other."""
    # Departures are known on arrival only if no buffer fills, so these runs get larger buffers.
    fifo = {"queues": "fifo", "virtual_channels": 1, "input_buffer": 1 << 20, "output_buffer": 1 << 20}
    result = [
        Case(preset, algorithm, power)
        for preset in ("fat-tree-4608", "dragonfly-rows-4608", "hyperx-4608")
        for algorithm in ("minimal", "adaptive")
        for power in POWER_SETTINGS
    ]
    result += [Case("fat-tree-4608", "minimal", power, network=fifo) for power in ("off", "accounted")]
    # Only for the latency: other simulators store a packet before they forward it.
    result += [
        Case(preset, algorithm, "off", network={"switching": "store-and-forward"})
        for preset in PEERS_LATENCY_US
        for algorithm in ("minimal", "adaptive")
    ]
    return [*result, *(Case("fat-tree-65536", "adaptive", power, messages=10) for power in ("off", "accounted"))]


def simulate_once(description: dict[str, Any]) -> dict[str, Any]:
    """One run in a new process."""
    command = [sys.executable, str(TOP / "benchmarks" / "netsim" / "once.py")]
    ended = subprocess.run(command, input=json.dumps(description), capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"time the simulator: a run failed: {ended.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def links_per_cpu_s(run: dict[str, Any]) -> float:
    """Packet-hops per CPU second of the event loop."""
    return float(run["packet_hops"] / run["loop_cpu_s"])


def spread(values: list[float]) -> dict[str, float | list[float]]:
    """The median and the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else (values[0],) * 3
    return {"median": middle, "quartiles": [low, high]}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The results of one case: varying ones as median and quartiles, the rest once."""
    first = runs[0]
    same = (
        "packet_hops",
        "packets",
        "messages",
        "simulated_us",
        "latency_from_creation_us",
        "latency_from_first_bit_us",
        "why_not_fifo",
    )
    return {
        "links_per_cpu_s": spread([links_per_cpu_s(r) for r in runs]),
        "process_cpu_s": statistics.median(r["process_cpu_s"] for r in runs),
        "loop_cpu_s": statistics.median(r["loop_cpu_s"] for r in runs),
        "peak_rss_mb": max(r["peak_rss_mb"] for r in runs),
        "rss_before_mb": max(r["rss_before_mb"] for r in runs),
        **{key: first[key] for key in same},
        "links_per_packet": first["packet_hops"] / first["packets"],
    }


# Comparison with SimGrid. Nodes are paired at random; the two nodes of a pair send each other a message, at a random
# time in the period in which one message is half of a link's capacity. A closed job of one iteration sends at a given
# time.
def pairs_that_exchange(nodes: int) -> list[dict[str, Any]]:
    """A job for each pair."""
    draw = random.Random(1)
    order = list(range(nodes))
    draw.shuffle(order)
    period = 2 * 16384 * 80  # picoseconds
    return [
        {
            "message": JOB["message"],
            "mapping": [one, other],
            "pattern": "permutation",
            "arrivals": "closed",
            "iterations": 1,
            "compute": 0,
            "start": f"{draw.randrange(period)} ps",
        }
        for one, other in zip(order[::2], order[1::2], strict=True)
    ]


def build_simgrid() -> Path:
    """The other simulator's program."""
    subprocess.run([str(TOP / "scripts" / "setup"), "packages/bench-netsim.txt"], check=True, stdout=sys.stderr)
    BUILD.mkdir(parents=True, exist_ok=True)
    program = BUILD / "simgrid"
    source = TOP / "benchmarks" / "netsim" / "simgrid.cpp"
    subprocess.run(["g++", "-std=c++17", "-O2", str(source), "-o", str(program), "-lsimgrid"], check=True)
    return program


def write_messages(jobs: list[dict[str, Any]]) -> Path:
    """The messages of jobs of two nodes, in the input format of SimGrid's program."""
    path = BUILD / "messages"
    pairs = [(int(job["start"].removesuffix(" ps")), job["mapping"]) for job in jobs]
    lines = [(start, *ends) for start, pair in pairs for ends in (pair, pair[::-1])]
    path.write_text("".join(f"{a} {b} {time} {JOB['message']}\n" for time, a, b in sorted(lines)))
    return path


def simgrid_once(program: Path, messages: Path) -> dict[str, Any]:
    """One run of SimGrid."""
    command = [str(program), str(messages), "--log=root.thres:error"]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SIMGRID_LIMIT_S).stdout
    except subprocess.TimeoutExpired:
        raise SystemExit(f"time SimGrid: it did not end within {SIMGRID_LIMIT_S} s; give it fewer messages") from None
    found: dict[str, Any] = json.loads(text)
    return found


def against_simgrid(rounds: int) -> tuple[list[float], dict[str, Any]]:
    """Ratios of messages per CPU second, one per round, and the numbers behind them."""
    jobs = pairs_that_exchange(nodes_of("fat-tree-4608"))
    program = build_simgrid()
    path = write_messages(jobs)
    description = describe("fat-tree-4608", "minimal", "off", jobs, {})
    ratios = []
    for _ in range(rounds):
        ours = simulate_once(description)
        theirs = simgrid_once(program, path)
        if ours["messages"] != theirs["messages"]:
            raise SystemExit(f"time SimGrid: it delivered {theirs['messages']} messages, not {ours['messages']}")
        ratios.append((ours["messages"] / ours["loop_cpu_s"]) / (theirs["messages"] / theirs["cpu_s"]))
    return ratios, {"this simulator": ours, "SimGrid": theirs, "ratio": spread(ratios)}


def threads_against_one(load: float, rounds: int) -> list[float]:
    """Speed of two threads over that of one by the clock, one ratio per round; both run in turn."""
    jobs = [{**JOB, "load": load, "messages": 50}]
    ratios = []
    for round_number in range(rounds):
        took: dict[int, float] = {}
        for threads in (1, 2) if round_number % 2 == 0 else (2, 1):
            described = {**describe("fat-tree-4608", "adaptive", "off", jobs, {}), "threads": threads}
            took[threads] = float(simulate_once(described)["loop_wall_s"])
        ratios.append(took[1] / took[2])
    return ratios


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="rounds of everything (default: %(default)s)")
    rounds: int = parser.parse_args().rounds
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    all_cases = cases()
    for round_number in range(rounds):
        for case in all_cases:
            runs[case.name].append(simulate_once(case.description()))
        print(f"round {round_number + 1}/{rounds}", file=sys.stderr)
    threads = {load: threads_against_one(load, rounds) for load in (1.0, 0.05)}
    ratios, beside_simgrid = against_simgrid(rounds)

    costs = [
        100 * (links_per_cpu_s(off) / links_per_cpu_s(on) - 1)
        for case in all_cases
        if case.power == "off" and case.name.replace(" off", " accounted") in runs
        for off, on in zip(runs[case.name], runs[case.name.replace(" off", " accounted")], strict=True)
    ]
    details: dict[str, Any] = {name: summary(found) for name, found in runs.items()}
    for name, entry in details.items():
        entry["peers_latency_us"] = PEERS_LATENCY_US.get(name.split()[0])
    rate = {name: entry["links_per_cpu_s"]["median"] for name, entry in details.items()}
    result = {
        "fattree_links_per_cpu_s": round(rate["fat-tree-4608 adaptive accounted"]),
        "dragonfly_links_per_cpu_s": round(rate["dragonfly-rows-4608 adaptive accounted"]),
        "hyperx_links_per_cpu_s": round(rate["hyperx-4608 adaptive accounted"]),
        "fattree65k_links_per_cpu_s": round(rate["fat-tree-65536 adaptive accounted"]),
        "fattree_fifo_links_per_cpu_s": round(rate["fat-tree-4608 minimal accounted fifo"]),
        "threads_dense_ratio": round(statistics.median(threads[1.0]), 2),
        "threads_sparse_ratio": round(statistics.median(threads[0.05]), 2),
        "peak_rss_mb": round(max(e["peak_rss_mb"] for name, e in details.items() if "4608" in name), 1),
        "power_model_cost_pct": round(statistics.median(costs), 1),
        "simgrid_messages_ratio": round(statistics.median(ratios), 1),
        "rounds": rounds,
        "details": {
            **details,
            "power_model_cost_pct": spread(costs),
            "two threads over one": {f"load {load}": spread(found) for load, found in threads.items()},
            "against SimGrid": beside_simgrid,
        },
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
