"""Studies of publications: nothing runs; what papers report is compared with what the model computes."""

from __future__ import annotations

from lull.base.terminal import output
from lull.study.kind import Request, Results, StudyKind
from lull.study.publications.description import StudyOfPublications


def run(whole: StudyOfPublications, _request: Request, _results: Results) -> None:
    """Print what publications report, next to what the model computes for their machines."""
    # Imported late: the model takes time to import, and a mistake in a file should be reported at once.
    from lull.study.publications.results import tell
    from lull.study.publications.screen import show

    show(whole, tell(whole), output())


KIND = StudyKind("publications", StudyOfPublications, frozenset(), run)
