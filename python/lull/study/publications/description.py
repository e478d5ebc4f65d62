"""The description of a study of publications: a TOML file with kind = "publications". Only the model computes.

title, question        the question; `note` as in studies of measured runs
[machines.NAME]        a machine that the study defines, like a machine file; others come with Lull, or are TOML files
[[papers]]             a publication
[[papers.statements]]  a statement and its place; the machine, the model's figure to compare, and the paper's figure

A statement has one of `figure` (a function of the machine, see predicted.py), `needs` (what the model lacks to predict
it) and `see` (the page that discusses it).
"""

from __future__ import annotations

from typing import Any, Final, Literal, Self

from pydantic import Field, model_validator

from lull.model.machine import Machine
from lull.study.file import Paper, Study, StudyTable, nearest
from lull.study.publications.predicted import FIGURES, Parameter

Relation = Literal["about", "at least", "at most", "least", "most"]
FOLDER_OF_PAGES: Final = "docs/explanation"


class PublishedStatement(StudyTable):
    """One statement of a paper, and the figure of the model to compare it with."""

    says: str
    where: str = Field(min_length=1)  # the table, figure or section of the paper
    machine: str = Field(min_length=1)  # one of the study's own, one that comes with Lull, or a TOML file
    figure: str = ""  # the model's figure: a function of predicted.py
    given: dict[str, Parameter] = Field(default={})  # parameters of this function
    paper: float | None = None  # the paper's figure, in `unit`
    unit: str = ""  # unit of both figures
    relation: Relation = "about"  # of the model's figure to the paper's; least, most: it is only a bound
    taken: bool = False  # a term of the machine was taken from this statement, which is no evidence therefore
    needs: list[str] = Field(default=[])  # keys of a machine file without which the model cannot predict it
    see: str = ""  # the page of docs/explanation that discusses it
    why: str = ""  # the reason, in words

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> Self:
        if sum(map(bool, (self.figure, self.needs, self.see))) != 1:
            raise ValueError("a statement has one of figure, needs and see")
        if self.figure and self.figure not in FIGURES:
            raise ValueError(f"no figure {self.figure!r}, {nearest(self.figure, list(FIGURES))}")
        if self.figure and self.paper is None:
            raise ValueError("a figure is compared with the paper's, which is missing: paper")
        return self


class PublishedPaper(Paper):
    """A publication and its statements."""

    note: str = ""  # what a reader must know about it
    statements: list[PublishedStatement] = Field(min_length=1)


class StudyOfPublications(Study):
    """A whole study of publications."""

    kind: Literal["publications"]
    machines: dict[str, dict[str, Any]] = Field(default={})  # tables of a [machine file](machine-toml.md)
    papers: list[PublishedPaper] = Field(min_length=1)

    @model_validator(mode="after")
    def _has_machines(self) -> Self:
        for name, content in self.machines.items():
            try:
                Machine.model_validate(content)
            except ValueError as error:
                raise ValueError(f"machines.{name}: {error}") from error
        return self
