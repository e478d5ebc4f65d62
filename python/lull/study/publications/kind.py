"""Studies of publications: nothing runs; what papers report beside what the model computes for their machines."""

from __future__ import annotations

from lull.base.terminal import output
from lull.study.kind import Request, StudyKind
from lull.study.publications.description import StudyOfPublications


def run(whole: StudyOfPublications, _: Request) -> None:
    """Print what publications report, beside what the model computes for their machines."""
    # The model takes time to import, which a mistake in a file need not wait for.
    from lull.study.publications.results import tell
    from lull.study.publications.screen import show

    show(whole, tell(whole), output())


KIND = StudyKind("publications", StudyOfPublications, frozenset(), run)
