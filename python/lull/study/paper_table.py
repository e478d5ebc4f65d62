"""A paper's claims next to the results of a study: on the screen, and as rows of the report's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from lull.present.document import Heading, Item, Line, Part
from lull.study.file import Paper


class ClaimResult(Protocol):
    """One statement of the paper, and the result for it."""

    @property
    def claim(self) -> str:
        """What the paper says, and where."""

    @property
    def verdict(self) -> str:
        """Whether this study found the same."""

    @property
    def words(self) -> str:
        """The figures behind the verdict."""


def describe(paper: Paper | None, told: Sequence[ClaimResult]) -> list[Part]:
    """All results under a heading, if there are any."""
    if not told:
        return []
    parts: list[Part] = [Heading("The paper's statements, and the results here")]
    if paper:
        parts.append(Line(paper.citation, "aside"))
    for one in told:
        parts += [Line(f"paper: {one.claim}"), Item(f"here: {one.verdict}: {one.words}")]
    return parts


def rows(told: Sequence[ClaimResult]) -> list[dict[str, str]]:
    """The rows of the report's table."""
    return [{"The paper": one.claim, "Here": one.verdict, "Evidence": one.words} for one in told]
