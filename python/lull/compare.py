"""`lull compare A B`: is B faster, and does it use less energy? One screen, or JSON.

The comparison itself is `lull.comparison`; here it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lull import figures, record
from lull.comparison import Comparison, compare_runs
from lull.errors import UsageError
from lull.record import Run, is_simulated

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["Comparison", "compare", "compare_runs", "distinct", "render", "render_table", "rows"]

PIPED_WIDTH = 160  # columns when nobody's terminal sets them: no line of a table is folded


@click.command(short_help="Compare two records: Speedup, Greenup, Powerup.")
@click.argument("baseline", metavar="A", type=click.Path(path_type=Path))
@click.argument("candidate", metavar="B", type=click.Path(path_type=Path))
@click.option("--region", metavar="R", help="Compare this region of the program instead of whole runs.")
@click.option("--per", metavar="METRIC", help="Divide time and energy by this metric the program reported.")
@click.option("--allow-mixed", is_flag=True, help="Compare energies of different kinds, e.g. measured with estimated.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def compare(
    baseline: Path, candidate: Path, region: str | None, per: str | None, allow_mixed: bool, as_json: bool
) -> None:
    """Compare the record B with the record A, the baseline.

    Of two simulations, it compares simulated time, power of links and latencies. Otherwise:
    Speedup is A's time over B's, Greenup A's energy over B's, Powerup B's mean power over A's; intervals hold 95 %.
    """
    first, second = distinct([baseline, candidate], [record.read(baseline), record.read(candidate)])
    if is_simulated(first) and is_simulated(second):
        from lull.simulation.comparison import compare_folders

        if region or per:
            asked = f"compare {first.label} with {second.label}"
            raise UsageError(
                asked, "simulations have no regions and no work to divide by", "leave out --region and --per"
            )
        compare_folders([baseline, candidate], [first.label, second.label], as_json)
        return
    found = compare_runs(first, second, region=region, per=per, allow_mixed=allow_mixed)
    if as_json:
        click.echo(found.model_dump_json(indent=1))
    else:
        render(found, console_for_tables())


def distinct(folders: Sequence[Path], runs: Sequence[Run]) -> list[Run]:
    """The runs with labels that tell them apart: the folder's name, or its whole path, where labels are alike."""
    names = [run.label for run in runs]
    for of in (lambda folder: folder.resolve().name, str):
        names = [of(folder) if names.count(name) > 1 else name for folder, name in zip(folders, names, strict=True)]
    return [run.model_copy(update={"label": name}) for run, name in zip(runs, names, strict=True)]


def render(found: Comparison, console: Console) -> None:
    """Print one comparison: what was compared, a table, the verdict, and what to mind."""
    from rich.text import Text

    first, second = found.baseline, found.candidate
    console.print(
        Text.assemble((second.label, "bold"), " against ", (first.label, "bold"), f": {found.quantity}"),
        Text(f"Medians. Energy of {_scope(found)}", "dim"),
        sep="\n",
    )
    console.print(_figures(found, console.is_terminal))
    console.print(Text(_sentence(found.verdict), _colour(found)), soft_wrap=not console.is_terminal)
    for warning in found.warnings:
        console.print(Text.assemble(("note: ", "yellow"), warning), soft_wrap=not console.is_terminal)


def render_table(named: list[tuple[str, Comparison]], console: Console) -> None:
    """Print one row per named comparison, for a study."""
    table = _table(console.is_terminal)
    table.add_column("", no_wrap=True)
    for heading in ("Speedup", "Greenup", "Powerup"):
        table.add_column(heading, no_wrap=True, justify="left")
    table.add_column("category")
    table.add_column("energy", no_wrap=True)
    for name, found in named:
        ratios = [figures.ratio(ratio) for ratio in (found.speedup, found.greenup, found.powerup)]
        table.add_row(name, *ratios, category_words(found), found.kind.value, style=_colour(found))
    console.print(table)


def category_words(found: Comparison) -> str:
    """The category with its number, or why there is none."""
    return f"{found.category}: {found.outcome}" if found.category else found.outcome


def _figures(found: Comparison, terminal: bool) -> Table:
    table = _table(terminal)
    table.add_column("", no_wrap=True)
    for side in (found.baseline, found.candidate):
        table.add_column(side.label, justify="right", overflow="fold", min_width=12)
    table.add_column("", no_wrap=True)
    table.add_column("ratio (95 %)", no_wrap=True)
    table.add_column("p", no_wrap=True)
    for row in rows(found):
        table.add_row(row.name, *row.values, row.ratio_name, row.ratio, row.p)
    return table


@dataclass(frozen=True)
class Row:
    """One quantity of a comparison as text, for a table on the terminal or in a report."""

    name: str
    values: tuple[str, str]  # baseline, candidate
    ratio_name: str = ""
    ratio: str = ""
    p: str = ""


def rows(found: Comparison) -> list[Row]:
    """Time, energy, power and EDP of both sides with their ratios, the kind of the energies, and the wire."""
    first, second = found.baseline, found.candidate

    def values(of: str, unit: str) -> tuple[str, str]:
        return figures.si(getattr(first, of).median, unit), figures.si(getattr(second, of).median, unit)

    p = [figures.probability(value) for value in (found.mann_whitney.time_p, found.mann_whitney.energy_p)]
    return [
        Row("runs", (str(first.runs), str(second.runs))),
        Row("time", values("time_s", "s"), "Speedup", figures.ratio(found.speedup), p[0]),
        Row("energy", values("energy_j", "J"), "Greenup", figures.ratio(found.greenup), p[1]),
        Row("power", values("power_w", "W"), "Powerup", figures.ratio(found.powerup)),
        Row("EDP", values("edp_js", "J·s"), "ratio", figures.ratio(found.edp_ratio)),
        Row("energy is", (first.kind.value, second.kind.value)),
        *_wire_rows(found),
    ]


def _wire_rows(found: Comparison) -> list[Row]:
    wires = (found.baseline.wire, found.candidate.wire)
    made = []
    for name, of, unit, kind_of in (
        ("wire bytes", "bytes", "B", ""),
        ("energy per MB", "node_j_per_mb", "J/MB", ""),
        ("wire", "joules", "J", "kind"),
        ("node + wire", "node_and_wire_j", "J", "node_and_wire_kind"),
    ):
        values = [getattr(wire, of) if wire else None for wire in wires]
        if all(value is None for value in values):
            continue
        left, right = (figures.si(value, unit) if value is not None else "–" for value in values)
        kinds = [getattr(wire, kind_of) for wire in wires if wire and kind_of]
        label = ", ".join([name, *dict.fromkeys(kind.value for kind in kinds if kind is not None)])
        made.append(Row(label, (left, right)))
    return made


def _scope(found: Comparison) -> str:
    scopes = dict.fromkeys((found.baseline.scope, found.candidate.scope))
    wire = found.baseline.wire or found.candidate.wire
    return "; ".join(scopes) + (". Wire bytes are those sent and received, over all nodes" if wire else "")


def _sentence(words: str) -> str:
    return words if words.endswith(".") else f"{words}."


def _colour(found: Comparison) -> str:
    return {True: "cyan", False: "red", None: "default"}[found.saves]


def _table(terminal: bool) -> Table:
    from rich import box
    from rich.table import Table

    return Table(
        box=box.SIMPLE_HEAD if terminal else None,
        pad_edge=False,
        show_edge=False,
        collapse_padding=terminal,
        header_style="bold",
    )


def console_for_tables() -> Console:
    """A console as wide as the terminal, or wide enough where there is none."""
    import sys

    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)
