"""A study of publications as a document: two lines for each statement, one of the paper and one of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lull.present.document import Document, Heading, Item, Line, Note, Part
from lull.study.publications.description import PublishedPaper, StudyOfPublications
from lull.study.publications.results import NO_PREDICTION, VERDICTS, StatementResult


def describe(study: StudyOfPublications, papers: Sequence[tuple[PublishedPaper, list[StatementResult]]]) -> Document:
    """All statements, and at the end the number of statements with each verdict."""
    parts: list[Part] = [Line(study.question)]
    for paper, statements in papers:
        parts.append(Heading(paper.citation))
        parts += [Note(paper.note)] if paper.note else []
        for one in statements:
            parts += [Line(f"paper: {_paper(one)}"), Item(f"model: {one.verdict}{_model(one)}")]
    verdicts = summary(one for _, statements in papers for one in statements)
    parts += [Heading("All statements"), Line(f"{verdicts}; energy and power: simulated")]
    parts += [Note(study.note)] if study.note else []
    return Document(study.title, tuple(parts))


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
