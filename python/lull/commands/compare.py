"""`lull compare A B...`: whether B is faster and uses less energy; --fail-if turns the answer into an exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from lull import __version__, record
from lull.base.errors import UsageError
from lull.base.whole_file import write_whole
from lull.comparison import conditions
from lull.comparison.compare import compare_all
from lull.comparison.conditions import Condition
from lull.comparison.describe import describe
from lull.comparison.junit import Case, as_junit
from lull.comparison.marginal import marginal
from lull.comparison.quantity import quantity
from lull.comparison.result import Comparisons, ConditionFinding
from lull.present.forms import format_option, show_result
from lull.record import Run, is_simulated
from lull.record.labels import distinct


@dataclass(frozen=True)
class CompareRequest:
    """The records to compare, the baseline first, and how to show the result."""

    folders: list[Path]
    runs: list[Run]
    region: str | None
    per: str | None
    allow_mixed: bool
    form: str
    fail_if: list[Condition]
    fail_on_median: bool
    junit: Path | None


@dataclass(frozen=True)
class CompareAnswer:
    """What the comparison found, next to the result itself."""

    findings: list[ConditionFinding]
    cases: list[Case]
    show: Callable[[], None]


@click.command(short_help="Compare records: Speedup, Greenup, Powerup.")
@click.argument("folders", metavar="A B...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Record to compare the others with.  [default: A]",
)
@click.option("--region", metavar="R", help="Use this region of the program instead of whole runs.")
@click.option(
    "--per",
    metavar="METRIC",
    help="Divide time and energy by this metric of the program; a metric in bytes also gives energy per MB.",
)
@click.option("--allow-mixed", is_flag=True, help="Compare energies of different kinds, e.g. measured with estimated.")
@format_option
@click.option(
    "--fail-if",
    metavar="CONDITION",
    multiple=True,
    help="Exit with 3 if the condition holds for a whole interval, e.g. 'greenup<0.98'; may be repeated."
    f" CONDITION is METRIC OPERATOR NUMBER, with the metrics {', '.join(conditions.METRICS)}"
    f" and the operators {' '.join(conditions.OPERATORS)}.",
)
@click.option("--fail-on-median", is_flag=True, help="Let --fail-if test the ratio of medians, not its interval.")
@click.option(
    "--junit",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also write JUnit XML for CI systems: a test case for each of B..., which fails with --fail-if.",
)
@click.pass_context
def compare(
    context: click.Context,
    folders: tuple[Path, ...],
    baseline: Path | None,
    region: str | None,
    per: str | None,
    allow_mixed: bool,
    form: str,
    fail_if: tuple[str, ...],
    fail_on_median: bool,
    junit: Path | None,
) -> None:
    """Compare the records B... with the record A, the baseline.

    Speedup is A's time over B's, Greenup A's energy over B's, Powerup B's mean power over A's; intervals have 95 %
    confidence. For simulations, the command compares simulated time, power of links and latencies.
    """
    parsed = [conditions.parse(text) for text in fail_if]
    if fail_on_median and not parsed:
        raise UsageError("compare --fail-on-median", "there is no condition", "add one with --fail-if")
    ordered = baseline_first(folders, baseline)
    if len(ordered) < 2:
        raise UsageError("compare", "one record alone is compared with nothing", "name a second one")
    runs = distinct(ordered, [record.read(folder) for folder in ordered])
    asked = CompareRequest(ordered, runs, region, per, allow_mixed, form, parsed, fail_on_median, junit)
    simulated = all(is_simulated(run) for run in runs)
    answer = _compare_simulations(asked) if simulated else _compare_measurements(asked)
    if asked.junit is not None:
        write_whole(asked.junit, as_junit(runs[0], answer.cases, answer.findings), "JUnit file", "--junit")
    answer.show()
    for line in filter(None, map(conditions.sentence, answer.findings)):
        print(f"lull: {line}", file=sys.stderr)
    if any(finding.met for finding in answer.findings):
        context.exit(conditions.MET_EXIT_CODE)


def baseline_first(folders: Sequence[Path], baseline: Path | None) -> list[Path]:
    """The folders, with the baseline first: `baseline`, or the first of `folders` if it is None."""
    if baseline is None:
        return list(folders)
    others = [folder for folder in folders if folder.resolve() != baseline.resolve()]
    return [baseline, *others]


def _compare_measurements(asked: CompareRequest) -> CompareAnswer:
    first, *others = asked.runs
    found = compare_all(first, others, region=asked.region, per=asked.per, allow_mixed=asked.allow_mixed)
    slope = marginal([quantity(run, region=asked.region, per=asked.per) for run in asked.runs])
    candidates = [(one.candidate.label, conditions.metrics_of(one)) for one in found]
    findings = conditions.judge(asked.fail_if, candidates, on_median=asked.fail_on_median)
    result = Comparisons(
        lull_version=__version__, baseline=first.label, comparisons=found, marginal=slope, conditions=findings
    )
    cases = [Case(run, one.verdict, one.candidate.time_s.median) for run, one in zip(others, found, strict=True)]

    def show() -> None:
        show_result(asked.form, lambda: describe(found, slope), lambda: result.model_dump_json(by_alias=True, indent=1))

    return CompareAnswer(findings, cases, show)


def _compare_simulations(asked: CompareRequest) -> CompareAnswer:
    """Compare each candidate with the baseline by the quantities of simulations."""
    from lull.simulation import comparison
    from lull.simulation.account import read_simulation

    if asked.region or asked.per:
        words = "simulations have no regions and no work to divide by"
        raise UsageError("compare simulations", words, "leave out --region and --per")
    first, *others = [
        (run.label, read_simulation(folder)) for run, folder in zip(asked.runs, asked.folders, strict=True)
    ]
    found = [comparison.compare(*first, *other) for other in others]
    candidates = [(one.candidate, conditions.metrics_of_ratios(one.speedup, one.greenup, one.powerup)) for one in found]
    findings = conditions.judge(asked.fail_if, candidates, on_median=asked.fail_on_median)
    result = comparison.SimulatedComparisons(lull_version=__version__, comparisons=found)
    cases = [Case(run, comparison.verdict(one)) for run, one in zip(asked.runs[1:], found, strict=True)]

    def show() -> None:
        as_json = partial(result.model_dump_json, by_alias=True, indent=1)
        show_result(asked.form, partial(comparison.describe, found), as_json)

    return CompareAnswer(findings, cases, show)
