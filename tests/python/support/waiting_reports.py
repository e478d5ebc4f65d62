"""What Lull reports of ranks that waited by a policy: the numbers in their record, and the lines on stderr."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The table, and the places where the program polls.
_BEGIN_OF_REPORT = ("lull: waiting of ", "lull: the program polls ")


@dataclass(frozen=True)
class Waits:
    """Of all ranks of a run."""

    waits: int
    sleeps: int
    timeouts: int
    missed: int  # wake-ups


def waits_in(folder: Path) -> Waits:
    """The numbers in the records of a run with LULL_STATS; one record for each node."""
    records: list[dict[str, Any]] = [json.loads(path.read_text()) for path in folder.glob("waiting-*.json")]
    rows = [row for record in records for row in record["rows"]]
    return Waits(*(sum(row[name] for row in rows) for name in ("waits", "sleeps", "timeouts", "missed")))


def lines_of_lull(stderr: str) -> list[str]:
    """The lines that name Lull, except the report of LULL_STATS."""
    return [
        line
        for line in stderr.replace("\0", "").splitlines()
        if "lull" in line.lower() and not line.startswith(_BEGIN_OF_REPORT)
    ]
