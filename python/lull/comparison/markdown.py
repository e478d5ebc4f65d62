"""Comparisons as Markdown for papers and pull requests: a table in GitHub's syntax, the verdicts, and the caveats."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lull.comparison.result import Comparison, Marginal
from lull.comparison.table import Row, category_words, marginal_words, rows, scope_words, sensor_words
from lull.statistics import formatting
from lull.statistics.gpsup import reduction


def markdown(comparisons: Sequence[Comparison], marginal: Marginal | None = None) -> str:
    """One comparison with every number of both sides; several with a row each."""
    lines = [_one(comparisons[0])] if len(comparisons) == 1 else [_several(comparisons)]
    lines += ["", *(f"{'' if len(comparisons) == 1 else '- '}{escaped(found.verdict)}." for found in comparisons)]
    lines += ["", escaped(marginal_words(marginal))] if marginal else []
    scopes = dict.fromkeys(scope_words(found) for found in comparisons)
    lines += ["", escaped(f"Medians with 95 % intervals. Energy of {'; '.join(scopes)}. {_sensors(comparisons)}")]
    notes = list(dict.fromkeys(line for found in comparisons for line in found.warnings))
    if notes:
        lines += ["", *(f"- note: {escaped(line)}" for line in notes)]
    return "\n".join(lines) + "\n"


def table(headings: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table; the first column holds words, the others numbers."""
    line = ["---", *["---:"] * (len(headings) - 1)]
    return "\n".join(f"| {' | '.join(escaped(cell) for cell in row)} |" for row in [headings, line, *body])


def _one(found: Comparison) -> str:
    headings = ["", found.baseline.label, found.candidate.label, "", "ratio (95 %)", "saved", "shift", "p"]
    return table(headings, [_cells(row) for row in rows(found)])


def _cells(row: Row) -> list[str]:
    sides = [f"{value} ({ends})" if ends else value for value, ends in zip(row.values, row.intervals, strict=True)]
    return [row.name, *sides, row.ratio_name, row.ratio, row.reduction, row.shift, row.p]


def _several(comparisons: Sequence[Comparison]) -> str:
    headings = ["", "runs", "time", "energy", "Speedup", "Greenup", "Powerup", "EDP ratio"]
    headings += ["energy saved", "category", "energy is"]
    first = comparisons[0].baseline
    sides = [first, *(found.candidate for found in comparisons)]
    body = []
    for side, found in zip(sides, [None, *comparisons], strict=True):
        words = [""] * 6
        if found is not None:
            words = [formatting.ratio(one) for one in (found.speedup, found.greenup, found.powerup, found.edp_ratio)]
            words += [formatting.percent(reduction(found.greenup.value)), category_words(found)]
        medians = [formatting.si(side.time_s.median, "s"), formatting.si(side.energy_j.median, "J")]
        body.append([side.label, str(side.runs), *medians, *words, side.kind.value])
    return table(headings, body)


def _sensors(comparisons: Sequence[Comparison]) -> str:
    words = list(dict.fromkeys(sensor_words(found) for found in comparisons))
    return (
        words[0]
        if len(words) == 1
        else " ".join(f"{found.candidate.label}: {sensor_words(found)}" for found in comparisons)
    )


def escaped(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
