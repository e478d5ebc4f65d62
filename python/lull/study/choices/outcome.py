"""The results of a study of choices: on the screen, in report.html, and in choices.json, which has every figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lull import __version__, record
from lull.base.whole_file import write_whole
from lull.comparison.quantity import quantity
from lull.model.machine import Machine
from lull.present.document import Column, Document, Line, Note, Part, row, table
from lull.record import EnergyKind, weakest
from lull.report.rendering import rendered
from lull.report.tabled_plot import TabledPlot
from lull.report.write import PlotFiles, write_page, write_plots
from lull.statistics.formatting import count, percent
from lull.study.choices import tables
from lull.study.choices.description import AUTO, StudyOfChoices
from lull.study.choices.points import Group
from lull.study.choices.rows import Row, rows_of
from lull.study.choices.summary import Summary, summary_of
from lull.study.choices.tables import Table

FILE = "choices.json"


@dataclass(frozen=True)
class Outcome:
    """The results."""

    rows: list[Row]
    summary: Summary
    tables: list[Table]
    drawings: list[TabledPlot]


def outcome_of(groups: Sequence[Group], folder: Path, machine: Machine | None) -> Outcome:
    """Read the records of all points in `folder`, predict, and compare.

    Raises:
        LullError: A record cannot be read, or lacks something that the study needs.
    """
    rows = rows_of(groups, folder, machine)
    found = [tables.regrets(rows), tables.costs(rows), tables.errors(rows), tables.wrong(rows)]
    return Outcome(
        rows,
        summary_of(rows),
        [one for one in found if one is not None],
        tables.drawings(rows, _kind(groups, folder)),
    )


def _kind(groups: Sequence[Group], folder: Path) -> EnergyKind | None:
    """The weakest kind of the energies in the results."""
    told = [one for one in groups if one.application.seconds is None]
    autos = [member for one in told if (member := one.member(AUTO)) is not None]
    kinds = [
        quantity(record.read(folder / one.point.name), region=one.study.measure.region, per=one.study.measure.per).kind
        for one in autos
    ]
    return weakest(kinds) if kinds else None


def sentences(summary: Summary) -> list[str]:
    """The summary in sentences."""
    s = summary
    words = [
        f"{count(s.points, 'point')}: regret {_pct(s.regret_mean_pct)} in the mean, "
        f"{_pct(s.regret_worst_pct)} at worst; noise and all {_pct(s.regret_seen_mean_pct)} in the mean; "
        f"the noise is ±{_pct(s.noise_pct)} (median)"
    ]
    if s.product_regret_mean_pct is not None:
        words.append(
            f"of energy times time: regret {_pct(s.product_regret_mean_pct)} in the mean, "
            f"{_pct(s.product_regret_worst_pct)} at worst"
        )
    if s.predictions:
        energy = (
            f"; of energy {_pct(s.energy_error_median_pct)}, {_pct(s.energy_error_worst_pct)} at worst"
            if s.energy_predictions
            else ""
        )
        words.append(
            f"{count(s.predictions, 'prediction')} at {count(s.predicted_points, 'point')}, off in the median by "
            f"{_pct(s.time_error_median_pct)} of time, {_pct(s.time_error_worst_pct)} at worst{energy}"
        )
    if s.not_told:
        words.append(f"{count(s.not_told, 'alternative')} {'has' if s.not_told == 1 else 'have'} no prediction")
    if s.wrong_points:
        words.append(
            f"with a wrong machine file, {count(s.wrong_points, 'point')}: {_pct(s.wrong_start_mean_pct)} more in the "
            f"first tenth, regret of the rest {_pct(s.wrong_regret_mean_pct)} in the mean, "
            f"{_pct(s.wrong_regret_worst_pct)} at worst"
        )
    return words


def _pct(value: float | None) -> str:
    return "–" if value is None else percent(value / 100)


def describe(study: StudyOfChoices, outcome: Outcome) -> Document:
    """The tables and their summary."""
    parts: list[Part] = [Line(study.question)]
    for one in outcome.tables:
        columns = [
            Column(heading, words=place in one.texts, wraps=place > 0 and place in one.texts)
            for place, heading in enumerate(one.headings)
        ]
        parts.append(table(columns, [row(*cells) for cells in one.rows], title=one.title))
    parts += map(Line, sentences(outcome.summary))
    parts += [Note(study.note)] if study.note else []
    return Document(study.title, tuple(parts))


def write(study: StudyOfChoices, outcome: Outcome, folder: Path) -> Path:
    """Write choices.json, the plots and the report; return the report.

    Raises:
        LullError: A file cannot be written.
    """
    content = {"summary": outcome.summary.model_dump(), "points": [as_data(row) for row in outcome.rows]}
    write_whole(folder / FILE, (json.dumps(content, indent=1) + "\n").encode(), "figures", "--out")
    for form in ("svg", "pdf") if outcome.drawings else ():
        write_plots({one.name: one.plot for one in outcome.drawings}, PlotFiles(folder / "plots", form))
    text = rendered(
        "study_of_choices.html.j2",
        title=study.title,
        question=study.question,
        note=study.note,
        version=__version__,
        sentences=sentences(outcome.summary),
        tables=outcome.tables,
        drawings=[(one, one.plot.svg(one.name)) for one in outcome.drawings],
    )
    report = folder / "report.html"
    write_page(report, text)
    return report


def as_data(row: Row) -> dict[str, Any]:
    """A point in the form of choices.json."""
    return {
        "application": row.group.application.name,
        "chooses": row.group.application.chooses,
        "factors": row.group.factors,
        "auto": row.took,
        "took": {name: asdict(one) for name, one in row.taken.items()},
        "regret": {**asdict(row.time), "told": row.time.told},
        "product_regret": None if row.product is None else {**asdict(row.product), "told": row.product.told},
        "predicted": {name: asdict(one) for name, one in row.predicted.told.items()},
        "not_told": row.predicted.unpredicted,
        "wrong": None if row.wrong is None else asdict(row.wrong),
    }
