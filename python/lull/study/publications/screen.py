"""A study of publications on the screen: two lines for each statement, one of the paper and one of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from lull.study.publications.description import PublishedPaper, StudyOfPublications
from lull.study.publications.results import NO_PREDICTION, VERDICTS, StatementResult


def show(
    study: StudyOfPublications, papers: Sequence[tuple[PublishedPaper, list[StatementResult]]], console: Console
) -> None:
    """Print all statements, and at the end the number of statements with each verdict."""
    console.print(Text(study.title, style="bold"))
    console.print(Text(study.question), soft_wrap=True)
    for paper, statements in papers:
        console.print()
        console.print(Text(paper.citation, style="bold"), soft_wrap=True)
        if paper.note:
            console.print(Text(f"note: {paper.note}"), soft_wrap=True)
        for one in statements:
            console.print(Text(f"paper: {_paper(one)}"), soft_wrap=True)
            console.print(Text.assemble("  model: ", (one.verdict, "bold"), _model(one)), soft_wrap=True)
    console.print()
    console.print(
        Text(f"{summary(one for _, statements in papers for one in statements)}; energy and power: simulated")
    )
    if study.note:
        console.print(Text(f"note: {study.note}"), soft_wrap=True)


def summary(statements: Iterable[StatementResult]) -> str:
    """The number of statements with each verdict."""
    counts = Counter(one.verdict for one in statements)
    words = {NO_PREDICTION: "without prediction"}
    return ", ".join(f"{counts[verdict]} {words.get(verdict, verdict)}" for verdict in VERDICTS if counts[verdict])


def _paper(one: StatementResult) -> str:
    figure = f": {one.paper_in_words}" if one.paper_in_words else ""
    return f"{one.statement.says}{figure} ({one.statement.where})"


def _model(one: StatementResult) -> str:
    words = "; ".join(part for part in (one.model_in_words, f"by {one.statement.machine}", one.why) if part)
    return f": {words}"
