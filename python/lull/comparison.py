"""Two records compared: time, energy, power and EDP, GPS-UP with intervals, a verdict in words, and every caveat."""

from __future__ import annotations

from statistics import median

import numpy as np

from lull import figures, gpsup, stats
from lull.caveats import caveats
from lull.errors import LullError
from lull.gpsup import Outcome, Side
from lull.quantity import BYTES_PER_MB, Quantity, quantity
from lull.record import EnergyKind, Model, Run
from lull.stats import Interval, Spread

FINE = 1.2  # ratios below this are told in percent, above as "times"


class WireEnergy(Model):
    """Energy on the wire, medians over the repeats. Already inside the node total where a meter covers the network."""

    joules: float
    kind: EnergyKind
    bytes: float  # sent and received, summed over the endpoints
    node_j_per_mb: float  # node energy per MB of these bytes
    node_kind: EnergyKind
    node_and_wire_j: float | None  # only where the node total is a sum of parts without the network interface
    node_and_wire_kind: EnergyKind | None


class SideOfComparison(Model):
    """One of the two records."""

    label: str
    runs: int  # that count
    failed: int  # left out
    time_s: Spread
    energy_j: Spread
    power_w: Spread
    edp_js: Spread
    energy_low_j: float  # systematic band of the median energy: the sensor's, not the runs'
    energy_high_j: float
    kind: EnergyKind
    scope: str  # what the energy covers and by which sources
    wire: WireEnergy | None


class RankTests(Model):
    """Two-sided p of Mann-Whitney's test, adjusted by Holm for testing both."""

    time_p: float
    energy_p: float


class Shifts(Model):
    """Hodges-Lehmann shift from baseline to candidate."""

    time_s: float
    energy_j: float


class Comparison(Model):
    """What comparing two records gave. `speedup`, `greenup` and `edp_ratio` are baseline over candidate."""

    baseline: SideOfComparison
    candidate: SideOfComparison
    quantity: str
    speedup: Interval
    greenup: Interval
    powerup: Interval  # speedup / greenup: candidate's power over baseline's
    edp_ratio: Interval
    mann_whitney: RankTests
    hodges_lehmann: Shifts
    category: int | None
    outcome: str  # the category in words, or what stands in its place: neutral, undecided, too few runs ...
    saves: bool | None  # whether energy is saved; None where it stays the same or cannot be told
    verdict: str
    kind: EnergyKind
    seed: int
    warnings: list[str]


def compare_runs(
    baseline: Run,
    candidate: Run,
    *,
    region: str | None = None,
    per: str | None = None,
    allow_mixed: bool = False,
    seed: int = stats.SEED,
    delta: float = gpsup.DELTA,
) -> Comparison:
    """Compare two records.

    Args:
        baseline: A, what is divided.
        candidate: B, what divides.
        region: Compare this region instead of whole runs.
        per: Divide time and energy of every repeat by this metric of its own.
        allow_mixed: Compare energies of different kinds nevertheless, labelled by the weakest.
        seed: Of the bootstrap.
        delta: How close to 1 a ratio is no difference.

    Raises:
        LullError: Nothing to compare (no successful repeat, no such region or metric), or the kinds are mixed.
    """
    first = quantity(baseline, region=region, per=per)
    second = quantity(candidate, region=region, per=per)
    if not allow_mixed:
        _refuse_mixed(first, second)
    rows = [np.array(side.rows) for side in (first, second)]
    (time_a, energy_a), (time_b, energy_b) = (np.median(side, axis=0) for side in rows)
    edp_a, edp_b = (float(np.median(side[:, 0] * side[:, 1])) for side in rows)
    speedup, greenup = float(time_a / time_b), float(energy_a / energy_b)
    ratios = [Interval(value) for value in (speedup, greenup, gpsup.powerup(speedup, greenup), edp_a / edp_b)]
    enough = stats.enough_runs(len(first.samples), len(second.samples))
    if enough:
        with_edp = [np.column_stack([side, side[:, 0] * side[:, 1]]) for side in rows]
        drawn = stats.resampled_ratios(*with_edp, seed=seed)
        columns = (drawn[:, 0], drawn[:, 1], drawn[:, 0] / drawn[:, 1], drawn[:, 2])
        ratios = [stats.percentile_interval(r.value, column) for r, column in zip(ratios, columns, strict=True)]
    outcome = gpsup.classify(ratios[0], ratios[1], ratios[2], delta) if enough else None
    time_p, energy_p = stats.holm([stats.mann_whitney(rows[0][:, i], rows[1][:, i]) for i in (0, 1)])
    return Comparison(
        baseline=_side(first, rows[0]),
        candidate=_side(second, rows[1]),
        quantity=first.words,
        speedup=ratios[0],
        greenup=ratios[1],
        powerup=ratios[2],
        edp_ratio=ratios[3],
        mann_whitney=RankTests(time_p=time_p, energy_p=energy_p),
        hodges_lehmann=Shifts(
            time_s=stats.hodges_lehmann(rows[0][:, 0], rows[1][:, 0]),
            energy_j=stats.hodges_lehmann(rows[0][:, 1], rows[1][:, 1]),
        ),
        category=outcome.category if outcome else None,
        outcome=outcome.name if outcome else "too few runs",
        saves=outcome.saves if outcome else None,
        verdict=_verdict(first, second, speedup, greenup, outcome),
        kind=max(first.kind, second.kind, key=list(EnergyKind).index),
        seed=seed,
        warnings=caveats(first, second, outcome, time_p, energy_p),
    )


def _refuse_mixed(first: Quantity, second: Quantity) -> None:
    kinds = [sorted({sample.kind.value for sample in side.samples}) for side in (first, second)]
    if kinds[0] != kinds[1] or len(kinds[0]) > 1:
        raise LullError(
            f"compare {first.run.label} with {second.run.label}",
            f"the energy of the first is {' and '.join(kinds[0])}, of the second {' and '.join(kinds[1])},"
            " and a difference of methods would pass for one of programs",
            "measure both the same way, or say --allow-mixed",
        )


def _side(side: Quantity, rows: np.ndarray[tuple[int, int], np.dtype[np.float64]]) -> SideOfComparison:
    times, energies = rows[:, 0], rows[:, 1]
    sources = sorted({channel.source for channel in side.channels})
    return SideOfComparison(
        label=side.run.label,
        runs=len(side.samples),
        failed=len(side.failed),
        time_s=stats.spread(times),
        energy_j=stats.spread(energies),
        power_w=stats.spread(energies / times),
        edp_js=stats.spread(energies * times),
        energy_low_j=median(sample.low_j / sample.work for sample in side.samples),
        energy_high_j=median(sample.high_j / sample.work for sample in side.samples),
        kind=side.kind,
        scope=" and ".join(side.scopes) + (f", from {', '.join(sources)}" if sources else ""),
        wire=_wire(side),
    )


def _wire(side: Quantity) -> WireEnergy | None:
    wires = [sample.wire for sample in side.samples if sample.wire is not None]
    if len(wires) < len(side.samples) or any(wire.bytes == 0 for wire in wires):
        return None
    pairs = list(zip(side.samples, wires, strict=True))
    kind = max((wire.kind for wire in wires), key=list(EnergyKind).index)
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
        node_and_wire_kind=max(kind, side.kind, key=list(EnergyKind).index) if apart else None,
    )


def _verdict(first: Quantity, second: Quantity, speedup: float, greenup: float, outcome: Outcome | None) -> str:
    """The comparison as one sentence about the candidate."""
    name = second.run.label
    if outcome is None:
        return (
            f"too few runs to tell: {len(first.samples)} of {first.run.label} and {len(second.samples)} of {name},"
            f" at least {stats.runs_for_interval()} of each are needed"
        )
    time = {
        Side.ABOVE: f"is {_more(speedup)} faster",
        Side.BELOW: f"is {_more(1 / speedup)} slower",
        Side.SAME: "takes the same time",
        Side.UNDECIDED: "shows no clear difference in time",
    }[outcome.speed]
    energy = {
        Side.ABOVE: f"uses {_less(greenup)} less energy",
        Side.BELOW: f"uses {_more(1 / greenup)} more energy",
        Side.SAME: "uses the same energy",
        Side.UNDECIDED: "shows no clear difference in energy",
    }[outcome.green]
    if outcome.speed is outcome.green and outcome.speed in (Side.SAME, Side.UNDECIDED):
        both = (
            "takes the same time and energy"
            if outcome.speed is Side.SAME
            else ("shows no clear difference in time or energy")
        )
        return f"{name} {both}"
    group = f" (category {outcome.category}: {outcome.name})" if outcome.category else ""
    return f"{name} {time} and {energy}{group}"


def _more(ratio: float) -> str:
    """How much faster, slower or more: 2.1× or, of small differences, 4.2 %."""
    return f"{figures.three_digits(ratio)}×" if ratio >= FINE else figures.percent(ratio - 1)


def _less(ratio: float) -> str:
    """How much less: 1.8× or, of small differences, the share saved."""
    return f"{figures.three_digits(ratio)}×" if ratio >= FINE else figures.percent(gpsup.reduction(ratio))
