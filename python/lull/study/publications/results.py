"""The results of a study of publications: each statement with the model's figure, a verdict and the reason.

reproduced      the model's figure is within a tenth of the paper's, or on the side that the paper states
possible        the model only bounds the figure, and the paper's is within the bound
not reproduced  neither
taken           a term of the machine comes from this statement
no prediction   the machine's file lacks something that the model needs, or no cost function uses it
elsewhere       another page discusses it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from lull.model.machine import Machine, read_machine
from lull.statistics.formatting import three_digits
from lull.study.publications.description import FOLDER_OF_PAGES, PublishedPaper, PublishedStatement, StudyOfPublications
from lull.study.publications.predicted import CLOSE, FIGURES, NoPredictionError

REPRODUCED, POSSIBLE, NOT_REPRODUCED = "reproduced", "possible", "not reproduced"
TAKEN, NO_PREDICTION, ELSEWHERE = "taken", "no prediction", "elsewhere"
VERDICTS: Final = (REPRODUCED, POSSIBLE, NOT_REPRODUCED, TAKEN, NO_PREDICTION, ELSEWHERE)


@dataclass(frozen=True)
class StatementResult:
    """One statement, and the model's result for it."""

    statement: PublishedStatement
    model: float | None  # the model's figure, in the statement's unit; None if there is none
    verdict: str
    why: str

    @property
    def paper_in_words(self) -> str:
        """The paper's figure; empty if there is none."""
        found, sign = self.statement, {"at least": "≥ ", "at most": "≤ "}.get(self.statement.relation, "")
        return "" if found.paper is None else sign + _with_unit(found.paper, found.unit)

    @property
    def model_in_words(self) -> str:
        """The model's figure; empty if there is none."""
        sign = {"least": "at least ", "most": "at most "}.get(self.statement.relation, "")
        return "" if self.model is None else sign + _with_unit(self.model, self.statement.unit)

    @property
    def page(self) -> str:
        """The page that discusses it, without its suffix; empty for this page."""
        return self.statement.see


def tell(study: StudyOfPublications) -> list[tuple[PublishedPaper, list[StatementResult]]]:
    """The results, paper by paper.

    Raises:
        UsageError: A machine does not exist, or its file is wrong.
    """
    own = {name: Machine.model_validate(content) for name, content in study.machines.items()}

    def machine_of(name: str) -> Machine:
        return own[name] if name in own else read_machine(name)

    return [(paper, [told(one, machine_of(one.machine)) for one in paper.statements]) for paper in study.papers]


def told(statement: PublishedStatement, on: Machine) -> StatementResult:
    """The model's result for one statement on this machine."""
    if statement.see:
        return StatementResult(
            statement, None, ELSEWHERE, _sentences(f"{FOLDER_OF_PAGES}/{statement.see}.md", statement.why)
        )
    if statement.needs:
        lacks = [key for key in statement.needs if not has(on, key)]
        reason = f"the file has no {', '.join(lacks)}" if lacks else "no cost function takes what the file has"
        return StatementResult(statement, None, NO_PREDICTION, _sentences(reason, statement.why))
    try:
        found = FIGURES[statement.figure](on, statement.given)
    except NoPredictionError as lacking:
        return StatementResult(statement, None, NO_PREDICTION, _sentences(str(lacking), statement.why))
    return StatementResult(statement, found, TAKEN if statement.taken else judge(statement, found), statement.why)


def judge(statement: PublishedStatement, model: float) -> str:
    """The verdict on a statement for which the model has a figure."""
    assert statement.paper is not None
    paper = statement.paper
    match statement.relation:
        case "at least":
            return REPRODUCED if model >= paper else NOT_REPRODUCED
        case "at most":
            return REPRODUCED if model <= paper else NOT_REPRODUCED
        case "least":
            return POSSIBLE if paper >= model else NOT_REPRODUCED
        case "most":
            return POSSIBLE if paper <= model else NOT_REPRODUCED
    return REPRODUCED if abs(model - paper) <= CLOSE * abs(paper) else NOT_REPRODUCED


def has(on: Machine, key: str) -> bool:
    """Whether a machine has a key, such as `wake_ups.policies`; for a list, whether each entry has it."""
    return _has(on, key.split("."))


def _has(at: object, names: Sequence[str]) -> bool:
    if isinstance(at, list):
        return bool(at) and all(_has(one, names) for one in at)
    if not names:
        return at not in (None, "", {})
    found = at.get(names[0]) if isinstance(at, dict) else getattr(at, names[0], None)
    return found is not None and _has(found, names[1:])


def _with_unit(value: float, unit: str) -> str:
    text = f"{value:,.0f}" if value.is_integer() else three_digits(value)
    return f"{text} {unit}".strip()


def _sentences(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
