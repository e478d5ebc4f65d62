"""Compare records: time, energy, power and EDP, GPS-UP with intervals, a verdict in words, and caveats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Literal

from lull.base.errors import LullError
from lull.comparison.bytes_moved import BYTES_PER_MB
from lull.comparison.caveats import caveats, in_turn
from lull.comparison.measures import Measures, measures, ratio, ratio_if_positive
from lull.comparison.quantity import Quantity, quantity
from lull.comparison.result import (
    Comparison,
    DynamicEnergy,
    Moved,
    RankTests,
    SensorBand,
    Shifts,
    SideOfComparison,
    WireEnergy,
)
from lull.comparison.verdict import verdict
from lull.record import Run, weakest
from lull.statistics import bootstrap, gpsup, ranks
from lull.statistics.bootstrap import Interval
from lull.statistics.gpsup import reduction_interval

TESTED = ("time", "energy")  # each of these for each candidate is one test of the family that Holm adjusts


def compare_runs(
    baseline: Run,
    candidate: Run,
    *,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    seed: int = bootstrap.SEED,
    delta: float = gpsup.DELTA,
) -> Comparison:
    """Compare two records; see `compare_all`."""
    return compare_all(baseline, [candidate], region=region, per=per, allow_mixed=allow_mixed, seed=seed, delta=delta)[
        0
    ]


def compare_all(
    baseline: Run,
    candidates: Sequence[Run],
    *,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    seed: int = bootstrap.SEED,
    delta: float = gpsup.DELTA,
) -> list[Comparison]:
    """Compare every candidate with the baseline; see `compare_pairs`.

    Args:
        baseline: A, the numerator of ratios.
        candidates: B, C ..., the denominators.
        region: See `compare_pairs`, like the rest.
        per: Likewise.
        allow_mixed: Likewise.
        seed: Likewise.
        delta: Likewise.
    """
    pairs = [(baseline, candidate) for candidate in candidates]
    return compare_pairs(pairs, region=region, per=per, allow_mixed=allow_mixed, seed=seed, delta=delta)


def compare_pairs(
    pairs: Sequence[tuple[Run, Run]],
    *,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    seed: int = bootstrap.SEED,
    delta: float = gpsup.DELTA,
) -> list[Comparison]:
    """Compare pairs of records; the p-values are adjusted over the rank tests of all pairs, which are one family.

    Rounds of commands that ran in turn are resampled as wholes: a drift of the machine is common to both sides. Ratios
    and tests then use the rounds that both sides have; what describes one side uses all its runs.

    Args:
        pairs: Baseline, the numerator of ratios, and candidate.
        region: Compare this region instead of whole runs.
        per: Divide time and energy of every repeat by this metric of the repeat.
        allow_mixed: Allow energies of different kinds; the weakest labels the comparison.
        seed: Seed of the bootstrap.
        delta: Ratios within 1 +- delta are no difference.

    Raises:
        LullError: There is nothing to compare (no successful repeat, no such region or metric), or kinds are mixed.
    """
    quantities: dict[int, Quantity] = {}  # by record
    columns: dict[tuple[int, int, tuple[int, ...]], Measures] = {}  # by record, stream of the generator and runs

    def side(of: Quantity, stream: int) -> Side:
        key = id(of.run), stream, tuple(sample.index for sample in of.samples)
        if key not in columns:
            columns[key] = measures(of, seed=seed, stream=stream)
        return of, columns[key]

    for run in (run for pair in pairs for run in pair):
        if id(run) not in quantities:
            quantities[id(run)] = quantity(run, region=region, per=per)
    sides: list[Sides] = []
    for baseline, candidate in pairs:
        first, second = quantities[id(baseline)], quantities[id(candidate)]
        if second.per_unit != first.per_unit:
            raise LullError(
                f"compare {baseline.label} with {candidate.label} per {per}",
                f"one gives it in '{first.per_unit}', the other in '{second.per_unit}'",
                "measure both with one unit",
            )
        if not allow_mixed:
            refuse_mixed(first, second)
        paired = pairs_of(first, second)
        whole = side(first, 0), side(second, 0 if paired else 1)
        used = whole if paired is None else (side(paired[0], 0), side(paired[1], 0))
        sides.append(Sides(whole, used, in_rounds=paired is not None))
    found = [_test(one, 2 * len(sides)) for one in sides]
    adjusted = ranks.holm([p for _, of_pair in found for p in of_pair])
    return [
        _compare(
            sides[place],
            RankTests(method=method, time_p=adjusted[2 * place], energy_p=adjusted[2 * place + 1]),
            seed=seed,
            delta=delta,
        )
        for place, (method, _) in enumerate(found)
    ]


Side = tuple[Quantity, Measures]


@dataclass(frozen=True)
class Sides:
    """Baseline and candidate: with all their runs, and with those that ratios and tests use."""

    whole: tuple[Side, Side]
    used: tuple[Side, Side]
    in_rounds: bool  # run i of one belongs to run i of the other in `used`


def _test(sides: Sides, family: int) -> tuple[Literal["Mann-Whitney", "signed-rank"], list[float]]:
    """The rank test of a pair, by method, and its p for each quantity of `TESTED`, not adjusted.

    Rounds are compared one by one if they are enough for a family of so many tests to reach the level; which test is
    used does not depend on the values.
    """
    (first, of_first), (_, of_second) = sides.used
    columns = [(of_first.values[name], of_second.values[name]) for name in TESTED]
    enough = family * ranks.smallest_p_of_rounds(len(first.samples)) < 1 - bootstrap.CONFIDENCE
    if sides.in_rounds and enough:
        return "signed-rank", [ranks.signed_rank(*pair) for pair in columns]
    return "Mann-Whitney", [ranks.mann_whitney(*pair) for pair in columns]


def pairs_of(first: Quantity, second: Quantity) -> tuple[Quantity, Quantity] | None:
    """The sides with only the rounds in which both succeeded: run i of one then belongs to run i of the other.

    With equal streams, `measures` draws the same rounds for both.

    Returns:
        None if the sides did not run in turn, or if so few rounds are common that an interval would be lost.
    """
    if not in_turn(first, second):
        return None
    sides = (first, second)
    common = set.intersection(*({sample.index for sample in side.samples} for side in sides))
    least = min(len(first.samples), len(second.samples), bootstrap.runs_for_interval())
    if len(common) < least:
        return None
    first, second = (
        replace(side, samples=tuple(sample for sample in side.samples if sample.index in common)) for side in sides
    )
    return first, second


def _compare(sides: Sides, tests: RankTests, *, seed: int, delta: float) -> Comparison:
    (first, all_of_first), (second, all_of_second) = sides.whole
    (_, of_first), (_, of_second) = sides.used
    pairs = len(of_first.values["time"]) if sides.in_rounds else None
    speedup, greenup, edp, ed2p = (ratio(of_first, of_second, name) for name in ("time", "energy", "edp", "ed2p"))
    enough = bootstrap.enough_runs(*(len(side.samples) for side, _ in sides.used))
    powerup = _powerup(of_first, of_second, speedup, greenup)
    outcome = None
    if enough:
        confirmed = {"time_p": tests.time_p, "energy_p": tests.energy_p}
        outcome = gpsup.classify(speedup, greenup, powerup, delta, **confirmed)
    return Comparison(
        baseline=_side(first, all_of_first),
        candidate=_side(second, all_of_second),
        quantity=first.words,
        in_rounds=sides.in_rounds,
        pairs=pairs,
        speedup=speedup,
        greenup=greenup,
        powerup=powerup,
        edp_ratio=edp,
        ed2p_ratio=ed2p,
        j_per_mb_ratio=ratio_if_positive(of_first, of_second, "j_per_mb") if first.moved == second.moved else None,
        dynamic_greenup=ratio_if_positive(of_first, of_second, "dynamic"),
        time_reduction=reduction_interval(speedup),
        energy_reduction=reduction_interval(greenup),
        sensor=_sensor_band(first, second),
        rank_tests=tests,
        hodges_lehmann=Shifts(
            time_s=ranks.hodges_lehmann(all_of_first.values["time"], all_of_second.values["time"]),
            energy_j=ranks.hodges_lehmann(all_of_first.values["energy"], all_of_second.values["energy"]),
        ),
        category=outcome.category if outcome else None,
        outcome=outcome.name if outcome else "too few runs",
        saves=outcome.saves if outcome else None,
        verdict=verdict(first, second, speedup.value, greenup.value, outcome, tests),
        kind=weakest([first.kind, second.kind]),
        seed=seed,
        delta=delta,
        warnings=caveats(first, second, outcome, (speedup, greenup), tests, pairs),
    )


def _powerup(first: Measures, second: Measures, speedup: Interval, greenup: Interval) -> Interval:
    """Speedup over Greenup, of the medians and in every resample: variation common to time and energy cancels."""
    value = gpsup.powerup(speedup.value, greenup.value)
    if speedup.low is None:
        return Interval(value)
    times, energies = (first.resampled[name] / second.resampled[name] for name in TESTED)
    return bootstrap.percentile_interval(value, times / energies)


def refuse_mixed(first: Quantity, second: Quantity) -> None:
    """Check that the energies of both sides are of one kind.

    Raises:
        LullError: They are not.
    """
    kinds = [sorted({sample.kind.value for sample in side.samples}) for side in (first, second)]
    if kinds[0] != kinds[1] or len(kinds[0]) > 1:
        raise LullError(
            f"compare {first.run.label} with {second.run.label}",
            f"the energy of the first is {' and '.join(kinds[0])}, of the second {' and '.join(kinds[1])},"
            " and a difference of methods would pass for one of programs",
            "measure both by the same method, or use --allow-mixed",
        )


def _side(side: Quantity, of: Measures) -> SideOfComparison:
    sources = sorted({channel.source for channel in side.channels})
    return SideOfComparison(
        label=side.run.label,
        runs=len(side.samples),
        failed=len(side.failed),
        time_s=of.spread("time"),
        energy_j=of.spread("energy"),
        power_w=of.spread("power"),
        edp_js=of.spread("edp"),
        ed2p_js2=of.spread("ed2p"),
        energy_low_j=median(sample.low_j / sample.work for sample in side.samples),
        energy_high_j=median(sample.high_j / sample.work for sample in side.samples),
        kind=side.kind,
        scope=" and ".join(side.scopes) + (f", from {', '.join(sources)}" if sources else ""),
        moved=_moved(side, of),
        dynamic=_dynamic(side, of),
        wire=_wire(side),
    )


def _moved(side: Quantity, of: Measures) -> Moved | None:
    if "j_per_mb" not in of.values:
        return None
    megabytes = median((sample.moved_bytes or 0.0) / BYTES_PER_MB / sample.work for sample in side.samples)
    return Moved(basis=side.moved, mb=megabytes, j_per_mb=of.spread("j_per_mb"))


def _dynamic(side: Quantity, of: Measures) -> DynamicEnergy | None:
    pairs = [(sample, sample.idle) for sample in side.samples if sample.idle is not None]
    if "dynamic" not in of.values:
        return None
    return DynamicEnergy(
        idle_w=median(idle.watts for _, idle in pairs),
        idle_seconds=min(idle.seconds for _, idle in pairs),
        kind=weakest([side.kind, *(idle.kind for _, idle in pairs)]),
        joules=of.spread("dynamic"),
        low_j=median((sample.low_j - idle.high_w * sample.time_s) / sample.work for sample, idle in pairs),
        high_j=median((sample.high_j - idle.low_w * sample.time_s) / sample.work for sample, idle in pairs),
    )


def _sensor_band(first: Quantity, second: Quantity) -> SensorBand:
    def read_by(side: Quantity) -> set[tuple[str, str, str]]:
        return {(channel.node, channel.name, channel.kind.value) for channel in side.channels}

    def median_of(side: Quantity, end: str) -> float:
        return median(float(getattr(sample, end)) / sample.work for sample in side.samples)

    low, high = median_of(first, "low_j"), median_of(first, "high_j")
    other_low, other_high = median_of(second, "low_j"), median_of(second, "high_j")
    return SensorBand(
        cancels=bool(read_by(first)) and read_by(first) == read_by(second),
        greenup_low=low / other_high,
        greenup_high=high / other_low if other_low > 0 else None,
    )


def _wire(side: Quantity) -> WireEnergy | None:
    wires = [sample.wire for sample in side.samples if sample.wire is not None]
    if len(wires) < len(side.samples) or any(wire.bytes == 0 for wire in wires):
        return None
    pairs = list(zip(side.samples, wires, strict=True))
    kind = weakest([wire.kind for wire in wires])
    apart = not side.covers_network
    return WireEnergy(
        joules=median(wire.joules / sample.work for sample, wire in pairs),
        kind=kind,
        bytes=median(wire.bytes / sample.work for sample, wire in pairs),
        node_j_per_mb=median(sample.energy_j / (wire.bytes / BYTES_PER_MB) for sample, wire in pairs),
        node_kind=side.kind,
        node_and_wire_j=median((sample.energy_j + wire.joules) / sample.work for sample, wire in pairs)
        if apart
        else None,
        node_and_wire_kind=weakest([kind, side.kind]) if apart else None,
    )
