"""Everything that is looked at, in the order in which it is shown."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from lull.doctor.finding import Finding, Machine

# Heading, the module here whose look() finds what is below it. Each is imported when it is its turn, so that what is
# wrong with Lull's native module can be told.
AREAS = (
    ("Lull", "parts"),
    ("Machine", "machine"),
    ("Energy", "energy"),
    ("OpenSHMEM", "openshmem"),
    ("MPI programs", "mpi"),
    ("Files", "files"),
    ("Virtual hosts", "network"),
)


@dataclass(frozen=True)
class Area:
    """What was found of one area."""

    name: str
    findings: list[Finding]

    @property
    def broken(self) -> bool:
        """Whether Lull itself does not work."""
        return any(finding.needed and finding.state == "missing" for finding in self.findings)


def examine(where: Machine) -> Iterator[Area]:
    """Each area in turn; those that have nothing to say of this machine are left out.

    Where the native module cannot be loaded there is only that to say.
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
