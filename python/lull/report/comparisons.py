"""The sections of a report on its comparisons: verdicts in words, then ratios as tables and GPS-UP planes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lull.comparison.describe import details
from lull.comparison.result import Comparison
from lull.comparison.words import sensor_words
from lull.present.document import Table
from lull.report.quadrant import MOST_NAMES, gps_up
from lull.report.section import ReportData
from lull.report.svg import Plot


@dataclass(frozen=True)
class PageComparison:
    """One comparison in the form of the page."""

    name: str
    verdict: str
    found: Comparison
    details: Table
    tone: str  # saves, wastes or neither: class and marker
    mark: str
    sensor: str
    warnings: list[str]  # below the verdict: those that do not apply to all
    notes: list[str]  # below the numbers: within a part, all of them


@dataclass(frozen=True)
class ComparisonGroup:
    """Comparisons in one table and one plane; a single group has no title."""

    title: str
    words: str  # the number that save and that waste energy
    compared: list[PageComparison]


@dataclass(frozen=True)
class Plane:
    """A group with its GPS-UP plane."""

    group: ComparisonGroup
    name: str  # base name of the plot's file
    plot: Plot


@dataclass(frozen=True)
class Summary:
    """Verdicts, and the reasons why records are not compared."""

    groups: list[ComparisonGroup]
    refused: list[str]
    common_warnings: list[str]


def summary(data: ReportData) -> Summary | None:
    """The verdict of each comparison."""
    parted = planes(data.comparisons)
    if not parted and not data.refused:
        return None
    common = _common_warnings(data.comparisons, groups=len(parted))
    return Summary([_group(*part, common) for part in parted], data.refused, common)


def ratios(data: ReportData) -> list[Plane] | None:
    """The ratios of each comparison, drawn and as tables."""
    parted = planes(data.comparisons)
    common = _common_warnings(data.comparisons, groups=len(parted))
    return [
        Plane(_group(title, found, common), f"gps-up-{place}" if title else "gps-up", gps_up(found))
        for place, (title, found) in enumerate(parted, 1)
    ] or None


def planes(comparisons: Sequence[tuple[str, Comparison]]) -> list[tuple[str, list[tuple[str, Comparison]]]]:
    """The comparisons of each GPS-UP plane, with the title of the plane.

    Too many comparisons of a study for one plane are divided by their subject: their names are ``what: where``.
    """
    if not comparisons:
        return []
    parts: dict[str, list[tuple[str, Comparison]]] = {}
    for name, found in comparisons:
        what, colon, where = name.partition(": ")
        parts.setdefault(what, []).append((where if colon else name, found))
    if len(comparisons) <= MOST_NAMES or len(parts) == 1 or len(parts) == len(comparisons):
        return [("", list(comparisons))]
    return list(parts.items())


def condense(warnings: list[str]) -> list[str]:
    """The warnings in order, each once; of those that differ only in names and numbers, the first and their number.

    The text before a colon in a warning names its record.
    """
    alike: dict[str, list[str]] = {}
    for warning in dict.fromkeys(warnings):
        shape = re.sub(r"[0-9.]+( [mun]?s\b)?", "#", re.sub(r"^[^ ]+: ", "", warning))
        alike.setdefault(shape, []).append(warning)
    return [
        found[0] if len(found) == 1 else f"{found[0]} (and {len(found) - 1} more like this)" for found in alike.values()
    ]


def _common_warnings(named: Sequence[tuple[str, Comparison]], *, groups: int) -> list[str]:
    """The caveats that apply to all of several comparisons; of several groups, all caveats, condensed."""
    comparisons = [found for _, found in named]
    if groups > 1:  # too many to repeat the same words for each
        return condense([line for found in comparisons for line in found.warnings])
    if len(comparisons) < 2:
        return []
    return [line for line in comparisons[0].warnings if all(line in one.warnings for one in comparisons)]


def _group(title: str, comparisons: Sequence[tuple[str, Comparison]], common: list[str]) -> ComparisonGroup:
    saves = [found.saves for _, found in comparisons]
    words = f"of {len(saves)}, {saves.count(True)} save energy, {saves.count(False)} waste it"
    return ComparisonGroup(title, words, [_compared(*one, common, in_part=bool(title)) for one in comparisons])


def _compared(name: str, found: Comparison, common: list[str], *, in_part: bool) -> PageComparison:
    tone, mark = {True: ("saves", "●"), False: ("wastes", "■"), None: ("neither", "◆")}[found.saves]
    sensor = sensor_words(found)
    if in_part:
        verdict = found.verdict.removeprefix(f"{found.candidate.label} ")
        return PageComparison(name, verdict, found, details(found), tone, mark, sensor, [], found.warnings)
    own = [line for line in found.warnings if line not in common]
    return PageComparison(name, found.verdict, found, details(found), tone, mark, sensor, own, [])
