"""A comparison as rows of text, for the terminal, a report and Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from lull.comparison.bytes_moved import BYTES_PER_MB
from lull.comparison.result import Comparison, Marginal, SideOfComparison
from lull.record import EnergyKind
from lull.statistics import formatting
from lull.statistics.bootstrap import Interval, Spread
from lull.statistics.gpsup import reduction


@dataclass(frozen=True)
class Row:
    """One quantity of a comparison as text."""

    name: str
    values: tuple[str, str]  # baseline, candidate
    intervals: tuple[str, str] = ("", "")  # of the medians
    ratio_name: str = ""
    ratio: str = ""
    reduction: str = ""  # the share saved
    shift: str = ""  # Hodges-Lehmann
    p: str = ""


def rows(found: Comparison) -> list[Row]:
    """Rows of time, energy, power and products of both sides with ratios, the kind of the energies, and the wire."""
    first, second = found.baseline, found.candidate
    shifts, tests = found.hodges_lehmann, found.mann_whitney
    time = _row("time", "s", "Speedup", found.speedup, (first.time_s, second.time_s), shifts.time_s, tests.time_p)
    energies = (first.energy_j, second.energy_j)
    energy = _row("energy", "J", "Greenup", found.greenup, energies, shifts.energy_j, tests.energy_p)
    power = _row("power", "W", "Powerup", found.powerup, (first.power_w, second.power_w), saves=False)
    return [
        Row("runs", (str(first.runs), str(second.runs))),
        time,
        energy,
        *_dynamic_rows(found),
        power,
        _row("EDP", "J·s", "ratio", found.edp_ratio, (first.edp_js, second.edp_js)),
        _row("ED²P", "J·s²", "ratio", found.ed2p_ratio, (first.ed2p_js2, second.ed2p_js2)),
        *_moved_rows(found),
        Row("energy is", (first.kind.value, second.kind.value)),
        Row("sensor band", (_band(first), _band(second))),
        *_wire_rows(found),
    ]


def category_words(found: Comparison) -> str:
    """The category with its number, or why there is none."""
    return f"{found.category}: {found.outcome}" if found.category else found.outcome


def scope_words(found: Comparison) -> str:
    """What the energies cover, and their sources."""
    scopes = dict.fromkeys((found.baseline.scope, found.candidate.scope))
    wire = found.baseline.wire or found.candidate.wire
    return "; ".join(scopes) + (". Wire bytes are those sent and received, over all nodes" if wire else "")


def sensor_words(found: Comparison) -> str:
    """The effect of the sensor band on Greenup, as a sentence."""
    words = "The sensor band is the source's own error; more runs do not narrow it."
    if found.sensor.cancels:
        return f"{words} In Greenup it largely cancels: the same node, read by the same channels."
    high = found.sensor.greenup_high
    ends = f"{formatting.three_digits(found.sensor.greenup_low)} to {formatting.three_digits(high) if high else 'any'}"
    return f"{words} Nodes or channels differ, so it does not cancel: by it alone Greenup may be {ends}."


def marginal_words(found: Marginal) -> str:
    """The energy of one more megabyte, as a sentence."""
    cost = formatting.si(found.j_per_mb.value, "J")
    if found.j_per_mb.low is not None and found.j_per_mb.high is not None:
        cost += f" ({formatting.si_range(found.j_per_mb.low, found.j_per_mb.high, 'J')})"
    moved = formatting.si_range(found.least_mb * BYTES_PER_MB, found.most_mb * BYTES_PER_MB, "B")
    return (
        f"Each further MB costs {cost}, {found.kind.value}: least squares over {found.runs} runs of {found.records}"
        f" records that differ in {found.factor} and move {moved} ({found.basis})."
    )


def _row(
    name: str,
    unit: str,
    ratio_name: str,
    ratio: Interval | None,
    spreads: tuple[Spread | None, Spread | None],
    shift: Interval | None = None,
    p: float | None = None,
    *,
    saves: bool = True,
) -> Row:
    return Row(
        name,
        _pair([formatting.si(of.median, unit) if of else "–" for of in spreads]),
        _pair([_interval(of, unit) for of in spreads]),
        ratio_name if ratio else "",
        formatting.ratio(ratio) if ratio else "",
        formatting.percent(reduction(ratio.value)) if ratio and saves else "",
        formatting.shift(shift.value, unit) if shift else "",
        formatting.probability(p) if p is not None else "",
    )


def _pair(texts: list[str]) -> tuple[str, str]:
    return (texts[0], texts[1])


def _interval(of: Spread | None, unit: str) -> str:
    return "" if of is None or of.low is None or of.high is None else formatting.si_range(of.low, of.high, unit)


def _band(side: SideOfComparison) -> str:
    return formatting.si_range(side.energy_low_j, side.energy_high_j, "J")


def _dynamic_rows(found: Comparison) -> list[Row]:
    sides = (found.baseline.dynamic, found.candidate.dynamic)
    there = [side for side in sides if side]
    if not there:
        return []
    kinds = dict.fromkeys(side.kind.value for side in there if side.kind is not found.kind)
    name = ", ".join(["above idle", *kinds])
    energies = (sides[0].joules if sides[0] else None, sides[1].joules if sides[1] else None)
    idle = [formatting.si(side.idle_w, "W") if side else "–" for side in sides]
    return [_row(name, "J", "Greenup", found.dynamic_greenup, energies), Row("idle power", _pair(idle))]


def _moved_rows(found: Comparison) -> list[Row]:
    sides = (found.baseline.moved, found.candidate.moved)
    there = [side for side in sides if side]
    if not there:
        return []
    spreads = (sides[0].j_per_mb if sides[0] else None, sides[1].j_per_mb if sides[1] else None)
    row = _row("energy per MB", "J/MB", "ratio", found.j_per_mb_ratio, spreads)
    if all(side.basis.startswith("metric") for side in there):
        return [row]
    volume = _pair([formatting.si(side.mb * 1e6, "B") if side else "–" for side in sides])
    return [Row("wire bytes", volume), row]


def _wire_rows(found: Comparison) -> list[Row]:
    wires = (found.baseline.wire, found.candidate.wire)
    made = []
    for name, of, kind_of in (("wire", "joules", "kind"), ("node + wire", "node_and_wire_j", "node_and_wire_kind")):
        values = [getattr(wire, of) if wire else None for wire in wires]
        if all(value is None for value in values):
            continue
        kinds: list[EnergyKind | None] = [getattr(wire, kind_of) for wire in wires if wire]
        label = ", ".join([name, *dict.fromkeys(kind.value for kind in kinds if kind is not None)])
        made.append(Row(label, _pair([formatting.si(value, "J") if value is not None else "–" for value in values])))
    return made
