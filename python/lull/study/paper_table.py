"""A paper's claims next to the results of a study: on the screen, and as rows of the report's table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.text import Text

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


def show(console: Console, paper: Paper | None, told: Sequence[ClaimResult]) -> None:
    """Print all results, if there are any."""
    if told:
        console.print()
        console.print(Text("The paper's statements, and the results here", style="bold"))
        if paper:
            console.print(Text(paper.citation), soft_wrap=True)
    for one in told:
        console.print(Text(f"paper: {one.claim}"), soft_wrap=True)
        console.print(Text.assemble("  here: ", (one.verdict, "bold"), f": {one.words}"), soft_wrap=True)


def rows(told: Sequence[ClaimResult]) -> list[dict[str, str]]:
    """The rows of the report's table."""
    return [{"The paper": one.claim, "Here": one.verdict, "Evidence": one.words} for one in told]
