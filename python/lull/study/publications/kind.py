"""Studies of publications: nothing runs; what papers report is compared with what the model computes."""

from __future__ import annotations

from lull.present.terminal import print_document
from lull.study.kind import Request, Results, StudyKind
from lull.study.publications.description import StudyOfPublications


def run(whole: StudyOfPublications, _request: Request, _results: Results) -> None:
    """Print what publications report, next to what the model computes for their machines."""
    # Imported late: the model takes time to import, and a mistake in a file should be reported at once.
    from lull.study.publications.describe import describe
    from lull.study.publications.results import tell

    print_document(describe(whole, tell(whole)))


KIND = StudyKind("publications", StudyOfPublications, frozenset(), run)
