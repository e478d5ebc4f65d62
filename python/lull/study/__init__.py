"""`lull study`: run an experiment that a TOML file describes, compare its points, and hold them against the paper."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.text import Text

from lull import record
from lull.base import installed
from lull.base.errors import LullError, UsageError
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings, unknown_variables
from lull.base.terminal import output
from lull.hosts.virtual import Link, as_environment, hosts_there, namespace_hosts
from lull.study.claims import Compared, find
from lull.study.description import Description, nearest, read_description
from lull.study.points import Places, Point, all_points, describe, pairs, point_name
from lull.study.runner import environment, prepare_inputs, run_points
from lull.study.state import Begun, State

# What a study says of its runs when they are there: it can be rewritten without running anything again.
TOLD_AT_THE_END = {"title", "question", "note", "paper", "quick", "compare", "curves", "bars", "paper_figures"}


@click.command(short_help="Run an experiment that a TOML file describes.")
@click.argument("name", required=False)
@click.option("--quick", is_flag=True, help="The small version: minutes instead of hours.")
@click.option(
    "--resume/--fresh",
    default=None,
    help="Continue what is there, or start anew.  [default: continue the same study, move another aside]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results.  [default: results/study-NAME]")
@click.option("--list", "list_them", is_flag=True, help="List the studies that come with Lull.")
def study(name: str | None, quick: bool, resume: bool | None, out: Path | None, list_them: bool) -> None:
    """Run the study NAME, or one described by a TOML file of yours.

    Repeats of all points are interleaved; every finished one is kept, so that an interrupted study continues where it
    stopped. At the end stand a table, the paper's claims beside what was found, and OUT/report.html.
    """
    if list_them:
        for known, path in installed.studies().items():
            click.echo(f"{known:<16} {read_description(path).title}")
        return
    if name is None:
        raise UsageError("run a study", "no name was given", "lull study --list shows them")
    path = find_study(name)
    whole = read_description(path)
    chosen = whole.made_quick() if quick else whole
    folder = out or Path("results") / f"study-{path.stem}{'-quick' if quick else ''}"
    places = Places(path.parent.resolve(), folder.resolve() / "inputs")
    points = all_points(chosen, places)
    for line in unknown_variables():
        print(f"lull: {line}", file=sys.stderr)
    with State(folder) as state:
        take_up(state, beginning(path.stem, quick, chosen, points, places), resume)
        if all((folder / point.name).exists() for point in points):
            print(f"lull: the study in {folder} is complete; --fresh runs it anew", file=sys.stderr)
        else:
            with Interrupts() as interrupts:
                prepare_inputs(chosen, places, interrupts)
                with hosts_of(chosen, points):
                    run_points(chosen, points, state, interrupts)
        conclude(chosen, points, folder)


@contextmanager
def hosts_of(chosen: Description, points: list[Point]) -> Iterator[None]:
    """Hosts of namespaces while the points run, if they use any and there are none yet."""
    wanted = chosen.hosts
    if wanted is None or hosts_there() or not any("--hosts" in point.command for point in points):
        yield
        return
    with namespace_hosts(wanted.count, Link(wanted.rate), switch=True) as made, environment(as_environment(made)):
        yield


def find_study(name: str) -> Path:
    """The TOML file of a study: a path, or the name of one that comes with Lull.

    Raises:
        UsageError: There is none; the line names the nearest.
    """
    known = installed.studies()
    if name in known:
        return known[name]
    if name.endswith(".toml") or "/" in name:
        return Path(name)
    raise UsageError(f"run the study {name}", "there is none of that name", nearest(name, list(known)))


def beginning(name: str, quick: bool, chosen: Description, points: list[Point], places: Places) -> Begun:
    """What this study starts from, as it is kept in its folder; the inputs it makes itself are no part of that."""
    named = {Path(word) for point in points for word in point.command if word.startswith("/")}
    used = sorted(path for path in named if path.is_file() and not path.is_relative_to(places.inputs))
    states = {str(path): path.stat() for path in used}
    content = chosen.model_dump_json(exclude=TOLD_AT_THE_END)
    return Begun(
        study=name,
        quick=quick,
        description=hashlib.sha256(content.encode()).hexdigest(),
        settings={
            variable: re.sub(r"@\d+", "", value)  # the processes of hosts are others the next time
            for variable, value in checked_settings().items()
            if variable not in ("LULL_RECORD", "LULL_HOSTS")
        },
        node=record.this_host().node,
        programs={path: f"{stat.st_size} bytes, {stat.st_mtime_ns} ns" for path, stat in states.items()},
        points=[point.name for point in points],
    )


def take_up(state: State, now: Begun, resume: bool | None) -> None:
    """Continue what stands in the folder, or begin; what is no longer the same study is moved aside, not lost.

    Raises:
        LullError: --resume was asked for, and there is nothing to continue or it has changed; the line says how.
    """
    asked = f"continue the study in {state.out}"
    if resume is False:
        state.clear()
    differences = state.begun.differences(now) if state.begun else []
    if differences and resume:
        raise LullError(asked, "; ".join(differences), "--fresh starts anew, --out names another folder")
    if differences:
        aside = state.set_aside()
        print(f"lull: what was in {state.out} is now in {aside}: {'; '.join(differences)}", file=sys.stderr)
    if state.begun is None:
        if resume:
            raise LullError(asked, "there is none", "leave out --resume to begin one")
        state.begin(now)


def conclude(chosen: Description, points: list[Point], folder: Path) -> None:
    """Print the comparisons and the paper's claims beside them, and write the report."""
    from lull.comparison.compare import compare_runs
    from lull.comparison.screen import render_table
    from lull.report.page import condense
    from lull.report.write import PlotFiles, write_plots, write_report
    from lull.study.bars import bar_figures
    from lull.study.curves import families, figure

    runs = {point.name: record.read(folder / point.name) for point in points}
    compared, listed = [], []
    for comparison in chosen.compare:
        for fixed, baseline, candidate in pairs(chosen, comparison):
            first, second = runs[point_name(baseline)], runs[point_name(candidate)]
            found = compare_runs(first, second, region=chosen.measure.region, per=chosen.measure.per)
            varying = {name: value for name, value in fixed.items() if len(chosen.factors[name]) > 1}
            compared.append(Compared(comparison.name, fixed, describe(varying), found, second))
            if comparison.listed:
                listed.append(compared[-1])
    console = output()
    console.print(Text(chosen.title, style="bold"))
    console.print(Text(chosen.question), soft_wrap=True)
    console.print()
    rows = [(f"{one.name}: {one.where}" if one.where else one.name, one.comparison) for one in listed]
    if rows:
        render_table(rows, console)
    curves = [figure(one, f"curves-{place}") for place, one in enumerate(families(chosen, runs), 1)]
    bars = bar_figures(chosen, runs)
    for drawn in (*curves, *bars):
        drawn.print(console)
        console.print()
    for warning in condense([warning for one in compared for warning in one.comparison.warnings]):
        console.print(Text(f"note: {warning}"), soft_wrap=True)
    if chosen.note:
        console.print(Text(f"note: {chosen.note}"), soft_wrap=True)
    if chosen.paper_figures:
        console.print()
        console.print(Text("What the paper says, and what was found here", style="bold"))
        if chosen.paper:
            console.print(Text(chosen.paper.citation), soft_wrap=True)
    claims = []
    for claim in chosen.paper_figures:
        finding = find(claim, compared, chosen.measure.region)
        where = f" ({claim.where})" if claim.where else ""
        claims.append({"The paper": f"{claim.says}{where}", "Here": finding.verdict, "How it was told": finding.words})
        console.print(Text(f"paper: {claim.says}{where}"), soft_wrap=True)
        console.print(Text.assemble("  here: ", (finding.verdict, "bold"), f": {finding.words}"), soft_wrap=True)
    report = folder / "report.html"
    for form in ("svg", "pdf") if curves or bars else ():
        write_plots({one.name: one.plot for one in (*curves, *bars)}, PlotFiles(folder / "plots", form))
    write_report(
        [folder / point.name for point in points],
        report,
        chosen.title,
        rows,
        claims,
        curves=curves,
        bars=bars,
        source=chosen.paper.citation if chosen.paper else "",
        region=chosen.measure.region,
        per=chosen.measure.per,
    )
    console.print()
    console.print(Text(f"report in {report}"), soft_wrap=True)
