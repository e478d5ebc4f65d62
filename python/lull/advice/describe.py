"""Advice as a document: a table of alternatives, the lines to set, and a sentence."""

from __future__ import annotations

from lull.advice.account import Advice, Band
from lull.present.document import Cell, Code, Column, Document, Heading, Item, Line, Part, Table, row, table
from lull.statistics.formatting import percent, si


def describe(advice: Advice, *, explain: bool = False) -> Document:
    """The alternatives, what is advised, and the outcome of --verify; `explain` adds the terms of each prediction."""
    subject, *others = asked_words(advice)
    parts: list[Part] = [*map(Line, others)]
    if advice.alternatives:
        parts.append(alternatives(advice))
    if explain:
        parts += [
            Item(f"{one.choice} {one.name}: {term}", "aside") for one in advice.alternatives for term in one.terms
        ]
    parts += map(Line, [*unpredicted_words(advice), *polling_words(advice)])
    parts.append(Line(advice.sentence, "strong"))
    parts += [Code(tuple(chosen.lines)) for chosen in advice.advised if chosen.lines]
    for outcome in advice.outcomes:
        came = "as predicted" if outcome.confirmed else "not as predicted"
        parts.append(Heading(f"{outcome.name}, {outcome.runs} runs of each in turn: {came}"))
        parts.append(Item(f"time: predicted {_ratio(outcome.predicted_seconds)}, outcome {_ratio(outcome.seconds)}"))
        if outcome.joules is not None and outcome.predicted_joules is not None:
            parts.append(
                Item(f"energy: predicted {_ratio(outcome.predicted_joules)}, outcome {_ratio(outcome.joules)}")
            )
    return Document(subject, tuple(parts))


def alternatives(advice: Advice) -> Table:
    """A row for each alternative: its change of time and energy relative to the present."""
    columns = [
        Column("choice", words=True, wraps=True),
        Column("instead of", words=True, wraps=True),
        Column("time"),
        Column("between", words=True, in_data=False),
        Column("energy"),
        Column("between", words=True, in_data=False),
        Column("", words=True, wraps=True, key="verdict"),
    ]
    rows = [
        row(
            f"{one.choice}: {one.name}",
            one.instead_of,
            *_share(one.seconds, advice.seconds),
            *_share(one.joules, advice.joules),
            one.verdict,
        )
        for one in advice.alternatives
    ]
    return table(columns, rows)


def asked_words(advice: Advice) -> list[str]:
    """The subject of the advice: the present program, and the machine."""
    energy = "" if advice.joules is None else f", {si(advice.joules, 'J')}"
    kind = "" if advice.kind is None else f"; changes of energy are {advice.kind.value}"
    asked = f"{advice.program}: {si(advice.seconds, 's')}{energy}, objective {advice.objective.words}{kind}"
    return [asked, f"machine: {advice.machine}"]


def unpredicted_words(advice: Advice) -> list[str]:
    """A line for each choice without a prediction, with the measurement that would help."""
    return [f"no prediction, {one.choice}: {one.why}; measure: {one.measure}" for one in advice.unpredicted]


def polling_words(advice: Advice) -> list[str]:
    """A line for each place where the program polls in a loop of its own, with what to write instead."""
    return [
        f"the program polls: {one.function} in {one.site}, {one.calls:.0f} calls, {si(one.seconds, 's')}, "
        f"{100 * one.share:.0f} % of the ranks' CPU time; where the loop does nothing else, {one.instead} can sleep "
        "under lull wait; what that saves is not predicted"
        for one in advice.polling
    ]


def _share(change: Band | None, of: float | None) -> tuple[Cell, Cell]:
    """The change relative to the present, and its band."""
    if change is None or not of:
        return Cell("no prediction"), Cell("")
    low, mid, high = (part / of for part in change)
    return Cell(percent(mid), mid, low, high), Cell(f"{percent(low)} to {percent(high)}")


def _ratio(band: Band) -> str:
    low, mid, high = band
    return f"{mid:.3f} ({low:.3f} to {high:.3f})"
