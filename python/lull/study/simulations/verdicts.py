"""The paper's statements and the results of simulations: reproduced, not reproduced, or undecided, and why.

A simulation is a function of its description, so there are no intervals. A statement is reproduced if all its checks
hold at each combination of factors concerned, and undecided as long as one of these has no rows. A verdict may rest on
a part of a grid: its words begin with the number of points that it rests on, of all that the statement is about.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from lull.statistics import formatting
from lull.study.file import Value
from lull.study.runs.points import factors_in_words
from lull.study.simulations.description import FACTORS, Bound, Only, Statement
from lull.study.simulations.grids import Point
from lull.study.simulations.rows import Row

REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
MOST_TOLD = 4  # combinations of one check; of more, only the least and the greatest are shown
STATISTICS: dict[str, Callable[[Iterable[float]], float]] = {"median": median, "least": min, "most": max}
WORDS = {
    "saved": "power saved",
    "network_saved": "power saved between switches",
    "used_saved": "power saved of links in use",
    "slowdown": "slowdown",
}
IN_GRID = "in the grid "


@dataclass(frozen=True)
class Verdict:
    """The verdict on one statement, and the figures behind it in words."""

    statement: Statement
    verdict: str
    words: str

    @property
    def claim(self) -> str:
        """What the paper says, and where."""
        where = f" ({self.statement.where})" if self.statement.where else ""
        return f"{self.statement.says}{where}"


@dataclass(frozen=True)
class CheckedValue:
    """The figure of one check at one combination; None if there are no rows."""

    value: float | None
    where: str
    holds: bool


def judge(statement: Statement, rows: Sequence[Row], points: Sequence[Point] = ()) -> Verdict:
    """Judge a statement by the rows of all grids.

    Args:
        statement: The statement.
        rows: The rows of simulated points.
        points: All points of the study; the words then say how many of those concerned have rows.
    """
    if not statement.checks:
        return Verdict(statement, UNDECIDED, statement.note or "nothing here simulates it")
    verdicts: list[str] = []
    words = [_rests_on(statement, rows, points)] if points else []
    for check in statement.checks:
        seen = look(check, rows)
        verdicts += [_verdict(one) for one in seen] or [UNDECIDED]
        words.append(_in_words(check, seen))
    worst = next((one for one in (NOT_REPRODUCED, UNDECIDED) if one in verdicts), REPRODUCED)
    return Verdict(statement, worst, "; ".join([*words, statement.note] if statement.note else words))


def look(check: Bound, rows: Sequence[Row]) -> list[CheckedValue]:
    """The figure of a check at each combination of the factors in its `for_each`."""
    compares = bool(check.minus) or check.minus_grid is not None
    whole = [row for row in rows if row.grid == check.grid and row.is_at(check.at)]
    others = [row for row in rows if row.grid == (check.minus_grid or check.grid) and row.is_at(check.minus)]
    seen = []
    for fixed in _combinations(check.for_each, whole):
        there = {name: [value] for name, value in fixed.items()}
        of_both = [row for row in whole if row.is_at(there)], [row for row in others if row.is_at(there)]
        own, taken_away = _with_partners(check, *of_both) if compares else of_both
        value = _figure(check, own)
        if compares:
            taken = _figure(check, taken_away)
            value = None if value is None or taken is None else value - taken
        holds = value is not None and (value > check.than if check.relation == "above" else value < check.than)
        seen.append(CheckedValue(value, factors_in_words(fixed), holds))
    return seen


def _rests_on(statement: Statement, rows: Sequence[Row], points: Sequence[Point]) -> str:
    concerned = {
        point.name
        for check in statement.checks
        for grid, only in _sides(check)
        for point in points
        if point.grid == grid and point.is_at(only)
    }
    there = concerned & {row.point for row in rows}
    part = "all" if there == concerned else f"{len(there):,} of"
    return f"on {part} {len(concerned):,} points"


def _sides(check: Bound) -> list[tuple[str, Only]]:
    """The grids and factors of the rows that a check uses."""
    compares = bool(check.minus) or check.minus_grid is not None
    return [(check.grid, check.at), *([(check.minus_grid or check.grid, check.minus)] if compares else [])]


def _combinations(names: Sequence[str], rows: Sequence[Row]) -> list[dict[str, Value]]:
    """The combinations that occur, in the order of their values in the rows."""
    values = [list(dict.fromkeys(row.factors[name] for row in rows)) for name in names]
    there = {tuple(row.factors[name] for name in names) for row in rows}
    return [dict(zip(names, one, strict=True)) for one in itertools.product(*values) if one in there]


def _with_partners(check: Bound, own: list[Row], others: list[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of both lists that have a partner at the same factors, except for those that the check compares. A point
    that is missing on one side thus does not count on the other."""
    compared = {name for name, values in check.minus.items() if check.at.get(name) != values}
    compared |= {"workload"} if check.minus_grid else set()

    def place(row: Row) -> tuple[Value, ...]:
        return tuple(row.factors[name] for name in FACTORS if name not in compared)

    both = {place(row) for row in own} & {place(row) for row in others}
    return [row for row in own if place(row) in both], [row for row in others if place(row) in both]


def _figure(check: Bound, rows: Sequence[Row]) -> float | None:
    # Power is that of a point, of which there is a row for each job.
    of_point = check.quantity != "slowdown"
    found: dict[str, float] = {}
    for number, row in enumerate(rows):
        if (value := row.quantity(check.quantity)) is not None:
            found[row.point if of_point else str(number)] = value
    return STATISTICS[check.of](found.values()) if found else None


def _verdict(one: CheckedValue) -> str:
    return UNDECIDED if one.value is None else REPRODUCED if one.holds else NOT_REPRODUCED


def _in_words(check: Bound, seen: Sequence[CheckedValue]) -> str:
    name = f"{check.of} {WORDS[check.quantity]}"
    known = [(one.value, _one_in_words(one, check.than)) for one in seen if one.value is not None]
    if not known:
        return f"no {name} yet, {IN_GRID}{check.grid}"
    relation = f"{check.relation} {shown(check.than)}"
    if check.minus or check.minus_grid:
        other = f"{IN_GRID}{check.minus_grid}" if check.minus_grid else f"at {_places(check.minus)}"
        name += f" less that {other}"
    at = f" at {_places(check.at)}" if check.at else ""
    if len(known) <= MOST_TOLD:
        return f"{name}{at} {', '.join(words for _, words in known)} (wanted: {relation})"
    ends = [min(known)[1], max(known)[1]]
    held = sum(one.holds for one in seen)
    return f"{name}{at} is {relation} in {held} of {len(seen)}, from {ends[0]} to {ends[1]}"


def _one_in_words(one: CheckedValue, than: float) -> str:
    assert one.value is not None
    value = shown(one.value)
    if value == shown(than) and one.value != than:  # it would read "38 % (wanted: above 38 %)"
        value = f"{'−' if one.value < 0 else ''}{formatting.three_digits(abs(100 * one.value))} %"
    return value + (f" at {one.where}" if one.where else "")


def _places(at: Only) -> str:
    return ", ".join(f"{name} {' or '.join(str(value) for value in values)}" for name, values in at.items())


def shown(share: float) -> str:
    """A share in percent, with enough digits for small ones."""
    if share != 0 and abs(share) < 0.0005:
        return f"{'−' if share < 0 else ''}{formatting.three_digits(abs(100 * share))} %"
    return formatting.percent(share)
