"""The page of a report: collects the data of records, and prints the sections with `templates/report.html.j2`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lull import __version__, record
from lull.base.errors import LullError
from lull.comparison.compare import compare_all, refuse_mixed
from lull.comparison.quantity import Quantity, quantity
from lull.comparison.result import Comparison
from lull.present.kinds import MEANINGS
from lull.record import Run
from lull.record.labels import distinct
from lull.report.rendering import rendered
from lull.report.section import ReportData, Supplied
from lull.report.sections import SECTIONS
from lull.report.svg import Plot
from lull.statistics import formatting


@dataclass(frozen=True)
class Page:
    """The page as HTML text, and its plots by the names of their files."""

    text: str
    plots: dict[str, Plot] = field(default_factory=dict)


@dataclass
class Drawn:
    """The plots of a page, collected while its templates insert them."""

    plots: dict[str, Plot] = field(default_factory=dict)

    def svg(self, name: str, plot: Plot) -> str:
        """Keep the plot under its name; return its SVG text, in which every id begins with the name."""
        self.plots[name] = plot
        return plot.svg(name)


def render_page(
    folders: list[Path],
    supplied: Supplied,
    *,
    title: str | None,
    comparisons: list[tuple[str, Comparison]] | None,
    baseline: int,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> Page:
    """The report on the records in `folders`; see `lull.report.write.write_report` for the arguments."""
    runs = distinct(folders, [record.read(folder) for folder in folders])
    quantities = [(run.label, quantity(run, region=region, per=per)) for run in runs]
    refused: list[str] = []
    against = None
    if comparisons is None:
        against = runs[baseline].label if len(runs) > 1 else None
        comparisons, refused = _compare(runs, quantities, baseline, region=region, per=per, allow_mixed=allow_mixed)
    data = ReportData(folders, runs, quantities, comparisons, refused, region, supplied)
    contents = [(section, section.content(data)) for section in SECTIONS]
    drawn = Drawn()
    days = sorted({f"{run.created:%Y-%m-%d}" for run in runs})
    text = rendered(
        "report.html.j2",
        title=title or ("Time and energy of " + ", ".join(run.label for run in runs[:4]) + (" …" * (len(runs) > 4))),
        version=__version__,
        days=days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}",
        words=quantities[0][1].words,
        records=len(runs),
        baseline=against if comparisons else None,
        commands=list(dict.fromkeys(shlex.join(run.command) for run in runs)),
        sections=[(section, content) for section, content in contents if content is not None],
        svg=drawn.svg,
        energy_words=data.energy_words,
        kinds={kind.value: meaning for kind, meaning in MEANINGS.items()},
        ratio=formatting.ratio,
        probability=formatting.probability,
        si=formatting.si,
        si_range=formatting.si_range,
    )
    return Page(text, drawn.plots)


def _compare(
    runs: Sequence[Run],
    quantities: Sequence[tuple[str, Quantity]],
    baseline: int,
    *,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
) -> tuple[list[tuple[str, Comparison]], list[str]]:
    """Every record compared with the baseline, and, in words, those that cannot be compared."""
    candidates, refused = [], []
    for place, run in enumerate(runs):
        if place == baseline:
            continue
        try:
            if not allow_mixed:
                refuse_mixed(quantities[baseline][1], quantities[place][1])
            candidates.append(run)
        except LullError as error:
            refused.append(f"{run.label} is not compared: {str(error).partition(': ')[2]}")
    found = compare_all(runs[baseline], candidates, region=region, per=per, allow_mixed=allow_mixed)
    return [(run.label, one) for run, one in zip(candidates, found, strict=True)], refused
