"""`lull approaches`: predict the cost of each approach to write output, to choose which processes should write."""

from __future__ import annotations

from pathlib import Path

import click

from lull import _core
from lull.base.native import native_errors
from lull.model.output import Case, Claim, Paper, case_of, read_site, site_content
from lull.present import cells
from lull.present.document import Cell, Column, Columns, Document, Heading, Note, Part, Table, row, table
from lull.present.forms import format_option, show_result
from lull.statistics.formatting import si

OBJECTIVES = ("time", "energy", "edp")
FEW = 2  # choices with at most this many dedicated cores or nodes are shown, and the best of each approach


@click.command(short_help="Predict the cost of each approach to write output.")
@click.argument("site", required=False)
@click.option("--nodes", type=click.IntRange(min=1), help="Nodes of the job.")
@click.option("--cores", type=click.IntRange(min=1), help="Cores of a node, with one process on each.")
@click.option("--steps-per-output", type=click.IntRange(min=1), help="Steps between two outputs.")
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key of SITE, e.g. machine.storage_bytes_per_s=2e8.",
)
@click.option(
    "--from",
    "figures",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Take machine and simulation from a run: its figures (lull stage --figures FILE) or its record. Each output is"
    " a step.",
)
@click.option("--objective", type=click.Choice(OBJECTIVES), default="time", help="What to minimize.  [default: time]")
@click.option("--all", "every_approach", is_flag=True, help="Show every number of dedicated cores and nodes.")
@format_option
def approaches(
    site: str | None,
    nodes: int | None,
    cores: int | None,
    steps_per_output: int | None,
    assignments: tuple[str, ...],
    figures: Path | None,
    objective: str,
    every_approach: bool,
    form: str,
) -> None:
    """Predict time, CPU use, power and energy of each approach to write a simulation's output, the best first.

    SITE is a TOML file with [machine] and [simulation], or one of the sites of a publication, nancy and rennes, whose
    results are shown next to the prediction. Everything has a default. The predictions are estimates for a choice, not
    measurements.

    \b
        lull approaches --nodes 14 --cores 4
        lull approaches --from figures.json --objective energy
        lull approaches nancy --steps-per-output 10
    """
    from lull.simulation.settings_by_key import changed

    content = site_content(site) if site else {}
    short = (("machine.nodes", nodes), ("machine.cores", cores), ("simulation.steps_per_output", steps_per_output))
    named = [f"{key}={value}" for key, value in short if value is not None]
    described = read_site(changed(content, [*assignments, *named]), f"read the site {site}" if site else "approaches")
    case = case_of(described, figures)
    with native_errors():
        choices = case.choices(_core.output_ways(case.machine), objective)
        show_result(
            form,
            lambda: describe_output(described.title, case, choices, described.paper, objective, every_approach),
            lambda: _as_json(case, choices, described.paper, objective),
        )


def _as_json(case: Case, choices: list[_core.OutputChoice], paper: Paper | None, objective: str) -> str:
    from lull.schemas.approaches import OutputAdvice, OutputAdviceOfSite
    from lull.schemas.text import json_text

    shown = {"objective": objective, "simulation_is_assumed": case.simulation_is_assumed, "ways": choices}
    if paper is None:
        return json_text(OutputAdvice, shown)
    uses = [
        {"every": every, "way": approach, "paper": found, "predicted": predicted}
        for every, approach, found, predicted in _uses(case, paper)
    ]
    claims = [
        {"says": claim.says, "holds": holds, "predicted_pct": change, "paper_pct": claim.paper_pct}
        for claim in paper.claims
        for holds, change in [_judged(case, claim)]
    ]
    return json_text(OutputAdviceOfSite, {**shown, "cpu_use_pct": uses, "claims": claims})


def describe_output(
    title: str, case: Case, choices: list[_core.OutputChoice], paper: Paper | None, objective: str, every_approach: bool
) -> Document:
    """The approaches, the best first, and what the paper says of them."""
    on, what = case.machine, case.simulation
    after = f"{what.steps_per_output} steps" if what.steps_per_output > 1 else "step"
    head = title or f"{on.nodes} x {on.cores} cores"
    output_of = f"an output of {si(what.bytes_per_output, 'B')} after each {after}"
    parts: list[Part] = []
    if case.simulation_is_assumed:
        parts.append(Note("nothing is known of the simulation: an atmosphere model is assumed; compare only ratios"))
    parts.append(_approaches(choices, objective, every_approach=every_approach))
    if paper is not None:
        parts.append(Heading(f"Next to the results of {paper.source}"))
        parts += [_paper_uses(case, paper)] if paper.cpu_use_pct else []
        parts.append(_paper_claims(case, paper))
    subject = f"{head}: {what.steps} steps, {output_of}; predicted by the model, energy is an estimate"
    return Document(subject, tuple(parts))


def _approaches(choices: list[_core.OutputChoice], objective: str, *, every_approach: bool) -> Table:
    best = choices[0]
    rows = []
    for one in choices if every_approach else _few(choices):
        more = one.cost(objective) / best.cost(objective) - 1
        is_best = one.way == best.way
        rows.append(
            row(
                one.way,
                cells.si(one.seconds, "s"),
                cells.share(one.cpu_use),
                cells.si(one.watts, "W"),
                cells.si(one.joules, "J"),
                cells.si(one.stall_seconds_per_output, "s"),
                cells.si(one.write_seconds_per_output, "s"),
                Cell("best" if is_best else f"{100 * more:.1f}", 100 * more),
                tone="strong" if is_best else "plain",
            )
        )
    columns: Columns = [
        "approach",
        Column("time", "s"),
        "CPU use",
        Column("power", "W"),
        Column("energy", "J"),
        Column("stall per output", "s"),
        Column("write per output", "s"),
        f"{objective} +%",
    ]
    return table(columns, rows)


def _few(choices: list[_core.OutputChoice]) -> list[_core.OutputChoice]:
    """The best choice of each approach, and those that dedicate few cores or nodes."""
    seen: set[str] = set()
    shown = []
    for one in choices:
        approach, _, count = one.way.partition("=")
        if approach not in seen or int(count) <= FEW:
            shown.append(one)
        seen.add(approach)
    return shown


def _paper_uses(case: Case, paper: Paper) -> Table:
    rows = [
        row(str(every), approach, cells.decimal(found, 1), cells.decimal(predicted, 1), f"{predicted - found:+.1f}")
        for every, approach, found, predicted in _uses(case, paper)
    ]
    columns = [
        Column("CPU use %, every"),
        Column("approach", words=True),
        *map(Column, ("paper", "predicted", "difference")),
    ]
    return table(columns, rows)


def _paper_claims(case: Case, paper: Paper) -> Table:
    rows = []
    for claim in paper.claims:
        holds, change = _judged(case, claim)
        verdict = "so" if holds else "not so"
        paper_pct = ""
        if claim.paper_pct is not None:
            paper_pct = f"{claim.paper_pct:+.0f}"
            if holds and abs(change - claim.paper_pct) > abs(claim.paper_pct) / 2:
                verdict = "in part"
        rows.append(row(claim.says, verdict, paper_pct, Cell(f"{change:+.1f}", change)))
    columns: Columns = [Column("the paper says", words=True, wraps=True), "predicted", "paper %", "predicted %"]
    return table(columns, rows)


def _uses(case: Case, paper: Paper) -> list[tuple[int, str, float, float]]:
    """Rows of steps between outputs, approach, the paper's value and the prediction, both in per cent."""
    return [
        (every, approach, found, 100 * case.quantity("cpu_use", f"{approach}@{every}"))
        for every, by_approach in paper.cpu_use_pct.items()
        for approach, found in by_approach.items()
    ]


def _judged(case: Case, claim: Claim) -> tuple[bool, float]:
    """Whether the prediction confirms the claim, and the change from `than[0]` to `less[0]`, in per cent."""
    less = [case.quantity(claim.quantity, one) for one in claim.less]
    than = [case.quantity(claim.quantity, one) for one in claim.than]
    return max(less) < min(than), 100 * (less[0] / than[0] - 1)
