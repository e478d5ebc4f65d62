"""Comparisons as a document: one candidate in every figure, or several candidates with a row each."""

from __future__ import annotations

from collections.abc import Sequence

from lull.comparison.result import Comparison, Marginal, SideOfComparison
from lull.comparison.words import category_words, marginal_words, scope_words, sensor_words
from lull.present import cells
from lull.present.document import Cell, Column, Columns, Document, Line, Note, Part, Row, Table, Tone, row, table
from lull.record import EnergyKind
from lull.statistics.bootstrap import Interval, Spread
from lull.statistics.gpsup import reduction


def describe(comparisons: Sequence[Comparison], marginal: Marginal | None = None) -> Document:
    """The subject, a table, the verdicts and the caveats of one or more comparisons with the same baseline."""
    first = comparisons[0]
    if len(comparisons) == 1:
        title = f"{first.candidate.label} against {first.baseline.label}: {first.quantity}"
        figures = details(first)
    else:
        title = f"{len(comparisons)} records against {first.baseline.label}: {first.quantity}"
        figures = overview(comparisons)
    scopes = "; ".join(dict.fromkeys(scope_words(found) for found in comparisons))
    parts: list[Part] = [
        Line(f"Medians with 95 % intervals. Energy of {scopes}.", "aside"),
        figures,
        *(Line(_sentence(found.verdict), _tone(found)) for found in comparisons),
        *([Line(marginal_words(marginal))] if marginal else []),
        *(Line(words, "aside") for words in dict.fromkeys(map(sensor_words, comparisons))),
        *(Note(line) for line in dict.fromkeys(line for found in comparisons for line in found.warnings)),
    ]
    return Document(title, tuple(parts))


def details(found: Comparison) -> Table:
    """Time, energy, power and products of both sides with ratios, the kinds of the energies, and the wire."""
    first, second = found.baseline, found.candidate
    columns: Columns = [
        Column("", words=True, key="quantity"),
        Column("unit", words=True, shown=False),
        Column(first.label, wraps=True, key="baseline"),
        Column("95 %", optional=3, in_data=False),
        Column(second.label, wraps=True, key="candidate"),
        Column("95 %", optional=3, in_data=False),
        Column("", words=True, key="ratio_name"),
        Column("ratio (95 %)", words=True, key="ratio"),
        Column("saved"),
        Column("shift", optional=2),
        Column("p"),
    ]
    shifts, tests = found.hodges_lehmann, found.rank_tests
    energies = (first.energy_j, second.energy_j)
    rows = [
        _sides("runs", (cells.count(first.runs), cells.count(second.runs))),
        _figure("time", "s", "Speedup", found.speedup, (first.time_s, second.time_s), shifts.time_s, tests.time_p),
        _figure("energy", "J", "Greenup", found.greenup, energies, shifts.energy_j, tests.energy_p),
        *_dynamic_rows(found),
        _figure("power", "W", "Powerup", found.powerup, (first.power_w, second.power_w), saves=False),
        _figure("EDP", "J·s", "ratio", found.edp_ratio, (first.edp_js, second.edp_js)),
        _figure("ED²P", "J·s²", "ratio", found.ed2p_ratio, (first.ed2p_js2, second.ed2p_js2)),
        *_moved_rows(found),
        _sides("energy is", (Cell(first.kind.value), Cell(second.kind.value))),
        _sides("sensor band", (_band(first), _band(second))),
        *_wire_rows(found),
    ]
    return table(columns, rows)


def overview(comparisons: Sequence[Comparison]) -> Table:
    """A row for the baseline, and one for each candidate with its ratios."""
    first = comparisons[0].baseline
    columns: Columns = [
        Column("", words=True, wraps=True, key="record"),
        Column("runs", optional=3),
        Column("time", "s"),
        Column("energy", "J"),
        *(Column(name, words=True, wraps=True) for name in ("Speedup", "Greenup", "Powerup")),
        Column("EDP ratio", words=True, optional=2),
        Column("energy saved", optional=4),
        Column("category", words=True, wraps=True),
        Column("energy is", words=True, key="kind"),
    ]
    rows = [row(*_medians(first), *[""] * 6, first.kind.value)]
    for found in comparisons:
        ratios = (found.speedup, found.greenup, found.powerup, found.edp_ratio)
        saved = cells.share(reduction(found.greenup.value))
        rows.append(
            row(
                *_medians(found.candidate),
                *map(cells.ratio, ratios),
                saved,
                category_words(found),
                found.candidate.kind.value,
                tone=_tone(found),
            )
        )
    return table(columns, rows)


def ratios(named: Sequence[tuple[str, Comparison]]) -> Table:
    """A row of ratios for each named comparison, for a study."""
    columns: Columns = [
        Column("", words=True, wraps=True, key="comparison"),
        *(Column(name, words=True) for name in ("Speedup", "Greenup", "Powerup")),
        Column("category", words=True, wraps=True),
        Column("energy is", words=True, key="kind"),
    ]
    rows = [
        row(
            name,
            *map(cells.ratio, (found.speedup, found.greenup, found.powerup)),
            category_words(found),
            found.kind.value,
            tone=_tone(found),
        )
        for name, found in named
    ]
    return table(columns, rows)


def _medians(side: SideOfComparison) -> list[Cell]:
    medians = [cells.spread(side.time_s, "s"), cells.spread(side.energy_j, "J")]
    return [Cell(side.label), cells.count(side.runs), *medians]


def _sentence(words: str) -> str:
    return words if words.endswith(".") else f"{words}."


def _tone(found: Comparison) -> Tone:
    tones: dict[bool | None, Tone] = {True: "good", False: "bad", None: "plain"}
    return tones[found.saves]


def _sides(name: str, sides: tuple[Cell, Cell], unit: str = "") -> Row:
    """A row of values without intervals and ratio."""
    return row(name, unit, sides[0], "", sides[1], "", "", "", "", "", "")


def _figure(
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
    first, second = spreads
    return row(
        name,
        unit,
        cells.spread(first, unit),
        cells.ends(first.low, first.high, unit) if first else "",
        cells.spread(second, unit),
        cells.ends(second.low, second.high, unit) if second else "",
        ratio_name if ratio else "",
        cells.ratio(ratio),
        cells.share(reduction(ratio.value)) if ratio and saves else "",
        cells.shift(shift, unit),
        cells.probability(p),
    )


def _band(side: SideOfComparison) -> Cell:
    return cells.ends(side.energy_low_j, side.energy_high_j, "J")


def _dynamic_rows(found: Comparison) -> list[Row]:
    sides = (found.baseline.dynamic, found.candidate.dynamic)
    there = [side for side in sides if side]
    if not there:
        return []
    kinds = dict.fromkeys(side.kind.value for side in there if side.kind is not found.kind)
    name = ", ".join(["above idle", *kinds])
    energies = (sides[0].joules if sides[0] else None, sides[1].joules if sides[1] else None)
    first, second = (cells.si(side.idle_w if side else None, "W") for side in sides)
    return [_figure(name, "J", "Greenup", found.dynamic_greenup, energies), _sides("idle power", (first, second), "W")]


def _moved_rows(found: Comparison) -> list[Row]:
    sides = (found.baseline.moved, found.candidate.moved)
    there = [side for side in sides if side]
    if not there:
        return []
    spreads = (sides[0].j_per_mb if sides[0] else None, sides[1].j_per_mb if sides[1] else None)
    energies = _figure("energy per MB", "J/MB", "ratio", found.j_per_mb_ratio, spreads)
    if all(side.basis.startswith("metric") for side in there):
        return [energies]
    first, second = (cells.si(side.mb * 1e6 if side else None, "B") for side in sides)
    return [_sides("wire bytes", (first, second), "B"), energies]


def _wire_rows(found: Comparison) -> list[Row]:
    wires = (found.baseline.wire, found.candidate.wire)
    made = []
    for name, of, kind_of in (("wire", "joules", "kind"), ("node + wire", "node_and_wire_j", "node_and_wire_kind")):
        values: list[float | None] = [getattr(wire, of) if wire else None for wire in wires]
        if all(value is None for value in values):
            continue
        kinds: list[EnergyKind | None] = [getattr(wire, kind_of) for wire in wires if wire]
        label = ", ".join([name, *dict.fromkeys(kind.value for kind in kinds if kind is not None)])
        first, second = (cells.si(value, "J") for value in values)
        made.append(_sides(label, (first, second), "J"))
    return made
