"""Is a plain loop of puts as fast as the best pattern written by hand? (`make bench-patterns`)

The application access_patterns, 2 PEs, 512 KiB in N fragments, as words of M (copy), P (a blocking put), Q (quiet)
and A (notify the receiver, which copies). By hand means each word as it is, with LULL_TRANSFORM=off. The unmodified
program is PPQ, a loop of blocking puts and one quiet, with LULL_TRANSFORM=auto. Programs for which nothing can be
gained call quiet after each put: PQPQ with auto compared with off. All run in turn in each round; ratios are of medians
over the rounds, and the spread is that of the ratios within each round. The cost of auto where nothing can be gained is
some per cent at most: there the fastest tenths of the fastest rounds are compared, which other load on the machine has
disturbed least. "tcp" is UCX's tcp over the loopback, between two emulated nodes. Puts by RDMA are compared with those
by messages, LULL_RDMA=auto and off, both over UCX's shared memory between two emulated nodes: PQ with one fragment, of
which the receiver, asleep in a barrier, is not notified. Prints tables, then one line of JSON; figures.toml describes
its figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import unlucky

from lull.base import installed

ROUNDS = 3
LIMIT_S = 300
PAYLOAD = 512 * 1024
FRAGMENTS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536]
BY_HAND = ["MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQAMM"]
WARM_UP = ["PQ", "MMPQAMM"]  # touches all memory once before the measurements
LOOP, PACKED, NAIVE, QUIETS = "PPQ", "MMPQAMM", "MPQMPQ", "PQPQ"
MOST = {NAIVE: 16384, QUIETS: 1024}  # fragments: over tcp, more quiets take seconds
ALONE = "off, alone"  # nothing rewritten, and no other word before it in its process
WAYS = {"shared memory": [], "tcp": ["--nodes", "2"]}
RMA_TLS = "posix,cma,self"
RMA_PUT = "PQ"
RMA_BYTES = [4096, 16384, 65536, 262144, 1 << 20]


@dataclass(frozen=True)
class Key:
    """One of the settings that run in turn."""

    way: str
    transform: str
    word: str
    fragments: int


@dataclass(frozen=True)
class Figures:
    """Results per payload, in microseconds."""

    latency: float
    undisturbed: float  # latency of the fastest tenth
    sender_cpu: float
    receiver_cpu: float


Seen = dict[Key, list[Figures]]


def once(way: str, transform: str, words: Sequence[str], fragments: int, seconds: float) -> dict[Key, Figures]:
    """One process per PE, which runs the words one after the other."""
    launch = [str(installed.executable("lull-launch")), "-n", "2", *WAYS[way], "--"]
    program = [str(installed.applications()["access_patterns"]), "--json", "--seconds", str(seconds)]
    what = [
        "--payload",
        str(PAYLOAD),
        "--fragments",
        str(fragments),
        "--working-set",
        "64M",
        "--pattern",
        *WARM_UP,
        *words,
    ]
    environment = {**os.environ, "LULL_TRANSFORM": transform.partition(",")[0], "LULL_WAIT": "interrupt"}
    environment.setdefault("UCX_TLS", "tcp,self")
    run = subprocess.run(
        [*launch, *program, *what], capture_output=True, text=True, check=False, env=environment, timeout=LIMIT_S
    )
    if run.returncode != 0:
        said = run.stderr.strip().splitlines() or ["it said nothing"]
        raise SystemExit(f"time {' '.join(words)} over {way}: exit {run.returncode}: {said[-1]}")
    found: dict[Key, Figures] = {}
    for line in map(json.loads, run.stdout.splitlines()[len(WARM_UP) :]):
        found[Key(way, transform, line["pattern"], fragments)] = Figures(
            line["latency_us"], line["p10_us"], line["sender_cpu_us"], line["receiver_cpu_us"]
        )
    return found


def put_over_shared_memory(rdma: str, payload: int, seconds: float) -> Figures:
    """A put and a quiet to another emulated node, over UCX's shared memory."""
    program = [str(installed.applications()["access_patterns"]), "--json", "--seconds", str(seconds)]
    what = ["--payload", str(payload), "--fragments", "1", "--working-set", "64M", "--pattern", *WARM_UP, RMA_PUT]
    environment = {**os.environ, "LULL_RDMA": rdma, "UCX_TLS": RMA_TLS, "LULL_WAIT": "interrupt"}
    run = subprocess.run(
        [str(installed.executable("lull-launch")), "-n", "2", "--nodes", "2", "--", *program, *what],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=LIMIT_S,
    )
    if run.returncode != 0:
        said = run.stderr.strip().splitlines() or ["it said nothing"]
        raise SystemExit(f"put {payload} bytes over {RMA_TLS}: exit {run.returncode}: {said[-1]}")
    line = json.loads(run.stdout.splitlines()[-1])
    return Figures(line["latency_us"], line["p10_us"], line["sender_cpu_us"], line["receiver_cpu_us"])


def measure_rma(rounds: int, seconds: float) -> Seen:
    """By messages and by RDMA in turn."""
    seen: Seen = defaultdict(list)
    for number in range(rounds):
        for payload in RMA_BYTES:
            for rdma in ("off", "auto")[:: 1 if number % 2 == 0 else -1]:
                seen[Key("rma", rdma, RMA_PUT, payload)].append(put_over_shared_memory(rdma, payload, seconds))
    return seen


def print_rma(seen: Seen) -> None:
    """Latency of a put, and CPU time of the PE that it goes to."""
    print(f"\n{RMA_TLS}: a put and a quiet in us, by messages and by RDMA; CPU time of the sleeping target in us")
    print(f"{'bytes':>9} {'messages':>10} {'RDMA':>10} {'ratio':>20} {'messages':>10} {'RDMA':>10}")
    for payload in RMA_BYTES:
        off, auto = Key("rma", "off", RMA_PUT, payload), Key("rma", "auto", RMA_PUT, payload)
        took = [statistics.median(f.latency for f in seen[key]) for key in (off, auto)]
        cpu = [statistics.median(f.receiver_cpu for f in seen[key]) for key in (off, auto)]
        over = ratio(seen, off, auto)
        print(
            f"{payload:>9} {took[0]:>10.1f} {took[1]:>10.1f} {over.value:>8.2f} ({over.low:.2f} to {over.high:.2f})"
            f" {cpu[0]:>10.2f} {cpu[1]:>10.2f}"
        )


def rma_figures(seen: Seen) -> dict[str, Ratio]:
    """The figures of a put of the largest size."""
    off, auto = (Key("rma", how, RMA_PUT, RMA_BYTES[-1]) for how in ("off", "auto"))
    return {
        "rma_put_1m_ratio": ratio(seen, off, auto),
        "rma_target_cpu_ratio": ratio(seen, auto, off, lambda f: f.receiver_cpu),
    }


def by_hand(fragments: int) -> list[str]:
    """The words to try."""
    return [word for word in BY_HAND if fragments <= MOST.get(word, fragments)]


def measure(rounds: int, seconds: float) -> Seen:
    """Run all of them in turn."""
    seen: Seen = defaultdict(list)
    for number in range(rounds):
        for way in WAYS:
            for fragments in FRAGMENTS:
                turns = [("off", by_hand(fragments)), ("auto", [LOOP])]
                if way == "tcp":
                    turns.append((ALONE, [LOOP]))
                if fragments <= MOST[QUIETS] and way == "tcp":
                    turns += [("auto", [QUIETS]), (ALONE, [QUIETS])]
                for transform, words in turns[:: 1 if number % 2 == 0 else -1]:
                    for key, figures in once(way, transform, words, fragments, seconds).items():
                        seen[key].append(figures)
        print(f"round {number + 1}/{rounds}", file=sys.stderr)
    return seen


@dataclass(frozen=True)
class Ratio:
    """The ratio of two medians, and its minimum and maximum within a round."""

    value: float
    low: float
    high: float


def ratio(seen: Seen, above: Key, below: Key, of: Callable[[Figures], float] = lambda f: f.latency) -> Ratio:
    """`above` over `below`."""
    pairs = list(zip(map(of, seen[above]), map(of, seen[below]), strict=True))
    within = [a / b for a, b in pairs]
    middle = statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)
    return Ratio(middle, min(within), max(within))


def best_by_hand(seen: Seen, way: str, fragments: int) -> Key:
    """The word with the smallest latency."""
    keys = [Key(way, "off", word, fragments) for word in by_hand(fragments)]
    return min(keys, key=lambda key: statistics.median(f.latency for f in seen[key]))


def print_tables(seen: Seen) -> None:
    """Print the latencies of all words, and those of the unmodified program under auto."""
    for way in WAYS:
        print(f"\n{way}: latency of a payload in us, by hand; the loop under auto; best by hand over that")
        print(f"{'fragments':>9} {''.join(f'{word:>10}' for word in BY_HAND)} {'auto':>10} {'best/auto':>20}")
        for fragments in FRAGMENTS:
            cells = ""
            for word in BY_HAND:
                values = [f.latency for f in seen.get(Key(way, "off", word, fragments), [])]
                cells += f"{statistics.median(values):>10.0f}" if values else f"{'':>10}"
            auto = Key(way, "auto", LOOP, fragments)
            over = ratio(seen, best_by_hand(seen, way, fragments), auto)
            took = statistics.median(f.latency for f in seen[auto])
            print(f"{fragments:>9} {cells} {took:>10.0f} {over.value:>8.2f} ({over.low:.2f} to {over.high:.2f})")
    print("\ntcp: CPU time of both PEs for a payload in us, the loop, and latency of PQPQ in us, off and auto")
    print(f"{'fragments':>9} {'off':>10} {'auto':>10} {'PQPQ off':>10} {'auto':>10} {'auto/off':>20}")
    for fragments in FRAGMENTS:
        cpu = [
            statistics.median(f.sender_cpu + f.receiver_cpu for f in seen[Key("tcp", how, LOOP, fragments)])
            for how in ("off", "auto")
        ]
        line = f"{fragments:>9} {cpu[0]:>10.0f} {cpu[1]:>10.0f}"
        if fragments <= MOST[QUIETS]:
            off, auto = Key("tcp", ALONE, QUIETS, fragments), Key("tcp", "auto", QUIETS, fragments)
            medians = [statistics.median(f.latency for f in seen[key]) for key in (off, auto)]
            slower = ratio(seen, auto, off)
            line += (
                f" {medians[0]:>10.0f} {medians[1]:>10.0f} {slower.value:>8.2f} ({slower.low:.2f} to {slower.high:.2f})"
            )
        print(line)


def figures(seen: Seen) -> dict[str, Ratio]:
    """The figures of the last line."""

    def auto_over_best(way: str) -> list[Ratio]:
        return [ratio(seen, best_by_hand(seen, way, n), Key(way, "auto", LOOP, n)) for n in FRAGMENTS]

    def packing_gains(way: str, fragments: int) -> float:
        return ratio(seen, Key(way, "off", LOOP, fragments), Key(way, "off", PACKED, fragments)).value

    def first_paying(way: str) -> int:
        """The smallest number of fragments from which on packing pays; one more than all if it never does."""
        paying = len(FRAGMENTS)
        while paying > 0 and packing_gains(way, FRAGMENTS[paying - 1]) > 1:
            paying -= 1
        return FRAGMENTS[paying] if paying < len(FRAGMENTS) else FRAGMENTS[-1] + 1

    def exactly(value: float) -> Ratio:
        return Ratio(value, value, value)

    def undisturbed(key: Key) -> float:
        return min(f.undisturbed for f in seen[key])

    def auto_over_off(word: str) -> list[Ratio]:
        counts = [n for n in FRAGMENTS if n <= MOST.get(word, n)]
        return [
            exactly(undisturbed(Key("tcp", "auto", word, n)) / undisturbed(Key("tcp", ALONE, word, n))) for n in counts
        ]

    return {
        "auto_worst_ratio": min(auto_over_best("tcp"), key=lambda r: r.value),
        "auto_worst_ratio_shm": min(auto_over_best("shared memory"), key=lambda r: r.value),
        "auto_best_speedup_tcp": ratio(seen, Key("tcp", "off", NAIVE, 16384), Key("tcp", "auto", LOOP, 16384)),
        "auto_loop_speedup_tcp": ratio(seen, Key("tcp", "off", LOOP, 16384), Key("tcp", "auto", LOOP, 16384)),
        "auto_loop_cpu_ratio_tcp": ratio(
            seen,
            Key("tcp", "auto", LOOP, 16384),
            Key("tcp", "off", LOOP, 16384),
            lambda f: f.sender_cpu + f.receiver_cpu,
        ),
        "auto_slowest_over_off": max(auto_over_off(LOOP) + auto_over_off(QUIETS), key=lambda r: r.value),
        "crossover_tcp_fragments": exactly(first_paying("tcp")),
        "crossover_shm_bytes": exactly(PAYLOAD // first_paying("shared memory")),
    }


def main() -> None:
    """Print the tables, and the figures as JSON."""
    parser = argparse.ArgumentParser(description="Compare access patterns written by hand with what the runtime does.")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"How often all take their turn. [{ROUNDS}]")
    parser.add_argument("--rma-only", action="store_true", help="Puts by RDMA alone.")
    parser.add_argument("--seconds", type=float, default=0.2, help="Time for each word and number of fragments. [0.2]")
    wanted = parser.parse_args()
    if wanted.rounds < 1:
        parser.error("--rounds must be at least 1")
    found: dict[str, Ratio] = {}
    if not wanted.rma_only:
        seen = measure(wanted.rounds, wanted.seconds)
        print_tables(seen)
        found = figures(seen)
        worst = unlucky.worst("transformation", 5 * wanted.rounds)
        found["unlucky_worst_auto"] = Ratio(worst, worst, worst)
    seen = measure_rma(wanted.rounds, wanted.seconds)
    print_rma(seen)
    found |= rma_figures(seen)
    print()
    spread = {name: [round(r.low, 4), round(r.high, 4)] for name, r in found.items() if r.low != r.high}
    print(json.dumps({**{name: round(r.value, 4) for name, r in found.items()}, "spread": spread}))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
