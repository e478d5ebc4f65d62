"""The areas that are checked, in the order of the output."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from lull.doctor.finding import Finding, Machine

# Heading, and the module whose look() checks the area. Modules are imported late, so that problems of Lull's native
# module can be reported.
AREAS = (
    ("Where", "place"),
    ("Lull", "parts"),
    ("Machine", "machine"),
    ("Energy", "energy"),
    ("OpenSHMEM", "openshmem"),
    ("MPI programs", "mpi"),
    ("Files", "files"),
    ("Virtual hosts", "network"),
    ("Features", "features"),
)


@dataclass(frozen=True)
class Area:
    """The findings of one area."""

    name: str
    findings: list[Finding]

    @property
    def broken(self) -> bool:
        """Whether Lull itself does not work."""
        return any(finding.needed and finding.state == "missing" for finding in self.findings)


def examine(where: Machine) -> Iterator[Area]:
    """Check each area in turn; areas without findings are left out.

    If the native module cannot be loaded, that is the only finding.
    """
    for name, module in AREAS:
        try:
            look = importlib.import_module(f"lull.doctor.{module}").look
        except ImportError as error:
            fix = "install what the line names, or Lull again"
            yield Area(name, [Finding("native module", "missing", str(error), fix, needed=True)])
            return
        if found := look(where):
            yield Area(name, found)
