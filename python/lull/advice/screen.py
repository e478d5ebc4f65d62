"""Print advice: a table of alternatives, the lines to set, and a sentence."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.advice.account import Advice, Band
from lull.statistics.formatting import percent, si

HEADINGS = ("choice", "instead of", "time", "between", "energy", "between", "")


def show(advice: Advice, console: Console, *, explain: bool) -> None:
    """Print the advice; `explain` adds the terms of each alternative."""

    def say(line: str) -> None:
        console.print(Text(line), soft_wrap=True)

    for line in asked_words(advice):
        say(line)
    if advice.alternatives:
        table = Table(*HEADINGS, box=None, pad_edge=False)
        for column in table.columns:
            column.justify = "left"
        for row in rows(advice):
            table.add_row(*row)
        console.print(table)
    if explain:
        for one in advice.alternatives:
            for term in one.terms:
                say(f"  {one.choice} {one.name}: {term}")
    for line in [*unpredicted_words(advice), *polling_words(advice)]:
        say(line)
    say(advice.sentence)
    for chosen in advice.advised:
        for line in chosen.lines:
            say(f"  {line}")
    for outcome in advice.outcomes:
        came = "as predicted" if outcome.confirmed else "not as predicted"
        say(f"{outcome.name}, {outcome.runs} runs of each in turn: {came}")
        say(f"  time    predicted {_ratio(outcome.predicted_seconds)}, outcome {_ratio(outcome.seconds)}")
        if outcome.joules is not None and outcome.predicted_joules is not None:
            say(f"  energy  predicted {_ratio(outcome.predicted_joules)}, outcome {_ratio(outcome.joules)}")


def asked_words(advice: Advice) -> list[str]:
    """The subject of the advice: the present program, and the machine."""
    energy = "" if advice.joules is None else f", {si(advice.joules, 'J')}"
    kind = "" if advice.kind is None else f"; changes of energy are {advice.kind.value}"
    asked = f"{advice.program}: {si(advice.seconds, 's')}{energy}, objective {advice.objective.words}{kind}"
    return [asked, f"machine: {advice.machine}"]


def rows(advice: Advice) -> list[tuple[str, ...]]:
    """A row for each alternative, with the columns HEADINGS."""
    return [
        (
            f"{one.choice}: {one.name}",
            one.instead_of,
            *_share(one.seconds, advice.seconds),
            *_share(one.joules, advice.joules),
            one.verdict,
        )
        for one in advice.alternatives
    ]


def unpredicted_words(advice: Advice) -> list[str]:
    """A line for each choice without a prediction, with the measurement that would help."""
    return [f"no prediction, {one.choice}: {one.why}; measure: {one.measure}" for one in advice.unpredicted]


def polling_words(advice: Advice) -> list[str]:
    """A line for each place where the program polls in a loop of its own, with what to write instead."""
    return [
        f"the program polls: {one.function} in {one.site}, {one.calls:.0f} calls, {si(one.seconds, 's')}, "
        f"{100 * one.share:.0f} % of the ranks' CPU time; where the loop does nothing else, {one.instead} can sleep "
        "under lull attach --wait; what that saves is not predicted"
        for one in advice.polling
    ]


def _share(change: Band | None, of: float | None) -> tuple[str, str]:
    """The change relative to the present, in percent, and its band."""
    if change is None or not of:
        return "no prediction", ""
    low, mid, high = (percent(part / of) for part in change)
    return mid, f"{low} to {high}"


def _ratio(band: Band) -> str:
    low, mid, high = band
    return f"{mid:.3f} ({low:.3f} to {high:.3f})"
