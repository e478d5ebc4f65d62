"""Numbers of the page on host and GPU, from the kept runs of `gpu-patterns` and `gpu-waiting`: medians."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rows_numbers import number, percent, percents, span
from rows_runs import KeptRuns, Quantity, column, table

from lull.statistics.bootstrap import Interval

PATTERNS = ("PAGE", "MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQ")
FRAGMENTS = (1, 16, 256, 4_096)
PAYLOADS = {"4 KiB": 1 << 12, "64 KiB": 1 << 16, "512 KiB": 1 << 19, "8 MiB": 1 << 23, "256 MiB": 1 << 28}
TRANSFORMATIONS = {
    "pinned, blocking: MPQMPQ to PQPQ": ("MPQMPQ", "PQPQ"),
    "non-blocking, unpinned: MPQMPQ to MPMPQ": ("MPQMPQ", "MPMPQ"),
    "non-blocking, pinned: PQPQ to PPQ": ("PQPQ", "PPQ"),
    "packed: PPQ to MMPQ": ("PPQ", "MMPQ"),
}
LATENCY, CPU = column("latency_us"), column("cpu_us")
QUANTITIES: dict[str, Quantity] = {
    "time": LATENCY,
    "energy": lambda run: float(run["energy_j"]) / float(run["payloads"]) * 1e3,  # mJ
    "power": lambda run: float(run["energy_j"]) / float(run["wall_s"]),
    "cpu": CPU,
}


@cache
def _patterns() -> KeptRuns:
    return KeptRuns("gpu-patterns", ["fragments", "pattern"])


@cache
def _waits() -> KeptRuns:
    return KeptRuns("gpu-waiting", ["payload", "wait"])


def points() -> str:
    """The number of points of the study of patterns."""
    return number(len(_patterns().of_point), 0)


def _value(pattern: str, fragments: int, quantity: str) -> float:
    return _patterns().median((str(fragments), pattern), QUANTITIES[quantity])


def _millijoules(value: float) -> str:
    return number(value) if value >= 100 else number(value, 1 if value < 10 else 0)


def latencies_and_energies() -> str:
    """The table of latency and energy of a payload."""
    rows = []
    for fragments in FRAGMENTS:
        cells = [
            f"{number(_value(pattern, fragments, 'time'))}, {_millijoules(_value(pattern, fragments, 'energy'))}"
            for pattern in PATTERNS
        ]
        rows.append([f"{fragments:,}", *cells])
    return table(["fragments", *PATTERNS], rows)


@cache
def _ratio(baseline: str, candidate: str, fragments: int, quantity: str) -> Interval:
    places = [(str(fragments), pattern) for pattern in (baseline, candidate)]
    return _patterns().ratio(places[0], places[1], QUANTITIES[quantity])


def _decided(ratio: Interval) -> bool:
    assert ratio.low is not None
    assert ratio.high is not None
    return ratio.low > 1 or ratio.high < 1


def _saved(ratio: Interval) -> float:
    return 1 - 1 / ratio.value


def saved() -> str:
    """The table of the shares that each transformation saves."""
    rows = []
    for fragments in FRAGMENTS:
        cells = []
        for baseline, candidate in TRANSFORMATIONS.values():
            time, energy = (_ratio(baseline, candidate, fragments, one) for one in ("time", "energy"))
            both = f"{percent(_saved(time))} ({percent(_saved(energy))})"
            cells.append(both if _decided(time) and _decided(energy) else "undecided")
        rows.append([f"{fragments:,}", *cells])
    return table(["fragments", *TRANSFORMATIONS], rows)


def saves(transformation: str, fragments: int, quantity: str = "time") -> str:
    """One of these shares, by the beginning of the transformation's name."""
    baseline, candidate = next(both for name, both in TRANSFORMATIONS.items() if name.startswith(transformation))
    return percent(_saved(_ratio(baseline, candidate, fragments, quantity)))


def speedup(baseline: str, candidate: str, fragments: int) -> str:
    """A Speedup with its interval in words."""
    found = _ratio(baseline, candidate, fragments, "time")
    return f"{number(found.value, 2)} ({number(found.low or 0, 2)} to {number(found.high or 0, 2)})"


def _powers() -> Iterator[float]:
    for fragments, pattern in _patterns().of_point:
        yield _value(pattern, int(fragments), "power")


def watts() -> str:
    """The power of the card in the patterns."""
    return f"{span(_powers(), 0)} W"


def rate() -> str:
    """The greatest rate over PCIe."""
    return f"{number(max(_patterns().median(point, column('gb_per_s')) for point in _patterns().of_point), 0)} GB/s"


def powerups() -> str:
    """The least and the greatest Powerup of the transformations."""
    both = (
        _ratio(one, other, fragments, "time").value / _ratio(one, other, fragments, "energy").value
        for one, other in TRANSFORMATIONS.values()
        for fragments in FRAGMENTS
    )
    return span(both, 2, " and ")


def of_a_transfer(pattern: str) -> str:
    """The time of one of many small transfers: 4,096 and 256 fragments."""
    return f"{span((_value(pattern, n, 'time') / n for n in FRAGMENTS[2:]), 1)} µs"


def of_the_copy() -> str:
    """The time of the copy of a payload: of `MMPQ` above `PPQ`, in one fragment."""
    return f"{number(_copy(), 0)} µs"


def _copy() -> float:
    return _value("MMPQ", 1, "time") - _value("PPQ", 1, "time")


def copy_in(fragments: int) -> str:
    """The share of the copy in `MPQMPQ`."""
    return percent(_copy() / _value("MPQMPQ", fragments, "time"))


def spread_of_power(most: bool) -> str:
    """By how much the runs of a point differ in power: of all points but the two that differ most, or of these two."""
    found = sorted(
        (max(powers) - min(powers)) / min(powers)
        for powers in (_patterns().values(point, QUANTITIES["power"]) for point in _patterns().of_point)
    )
    return f"{percent(found[-1], 1)} and {percent(found[-2], 1)}" if most else percent(found[-3], 1)


# Waiting


def _wait(payload: str, wait: str, quantity: str) -> float:
    return _waits().median((str(PAYLOADS[payload]), wait), QUANTITIES[quantity])


def waits() -> str:
    """The table of latency, CPU time and energy."""
    rows = [
        [
            payload,
            *(
                ", ".join(number(_wait(payload, how, of)) for how in ("spin", "block"))
                for of in ("time", "cpu", "energy")
            ),
        ]
        for payload in PAYLOADS
    ]
    heads = ["latency, µs: spin, block", "CPU time, µs: spin, block", "energy of the GPU, mJ: spin, block"]
    return table(["payload", *heads], rows)


def _more(payload: str, quantity: str) -> float:
    return _wait(payload, "block", quantity) - _wait(payload, "spin", quantity)


def added_by_blocking() -> str:
    """The latency that `block` adds."""
    return f"{span((_more(payload, 'time') for payload in PAYLOADS), 0)} µs"


def watts_while_waiting() -> str:
    """The power of the card under `block`."""
    return f"{span((_wait(payload, 'block', 'power') for payload in PAYLOADS), 0)} W"


def cpu_saved() -> str:
    """The share of CPU time that `block` saves from 8 MiB on."""
    return percents(1 - _wait(one, "block", "cpu") / _wait(one, "spin", "cpu") for one in ("8 MiB", "256 MiB"))


def gpu_costs(payload: str) -> str:
    """The share of energy that `block` costs the GPU more."""
    return percent(_wait(payload, "block", "energy") / _wait(payload, "spin", "energy") - 1)


def breaks_even(payload: str) -> str:
    """The energy that it costs, the CPU time that it saves, and their quotient."""
    millijoules, microseconds = _more(payload, "energy"), -_more(payload, "cpu")
    time = f"{number(microseconds / 1e3, 1)} ms" if microseconds >= 1000 else f"{number(microseconds, 0)} µs"
    watts = millijoules / microseconds * 1e3
    return f"{_millijoules(millijoules)} mJ in {time}, or {number(watts, 0 if watts >= 10 else 1)} W"
