"""A trace in Python: the analysis of an OTF2 archive, as in `lull archive info`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from lull.library.display import as_pandas
from lull.present.document import Document
from lull.present.page import as_fragment
from lull.trace.account import TraceAccount, analyse
from lull.trace.describe import describe

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from lull.trace.account import Analysis


@dataclass(frozen=True)
class Traced:
    """A traced program; `account` has pairs of processes, sizes, collectives, and time by activity."""

    analysis: Analysis
    folder: Path

    @property
    def account(self) -> TraceAccount:
        """All figures, in seconds and bytes."""
        return self.analysis.account

    def to_pandas(self) -> pd.DataFrame:
        """A row for each process: its seconds by activity, messages and bytes sent and received."""
        rows = [
            {"process": one.name, "node": one.node, **_seconds(one.time.model_dump())}
            | {
                "sent_messages": one.sent_messages,
                "sent_bytes": one.sent_bytes,
                "received_messages": one.received_messages,
                "received_bytes": one.received_bytes,
            }
            for one in self.account.processes
        ]
        return as_pandas(pa.Table.from_pylist(rows))

    def pairs(self) -> pd.DataFrame:
        """A row for each pair of processes: messages and bytes from one to the other."""
        return as_pandas(pa.Table.from_pylist([one.model_dump(by_alias=True) for one in self.account.pairs]))

    def plot(self) -> list[Axes]:
        """Draw the time of each process by activity."""
        from lull.trace.plots import plots_of

        return list(plots_of(self.analysis)[0].plot.figure.axes)

    def _repr_html_(self) -> str:
        return as_fragment(self.describe())

    def as_json(self) -> str:
        """All figures as JSON, by the schema of the result's file."""
        return self.account.model_dump_json(by_alias=True, indent=1)

    def describe(self) -> Document:
        """Everything as a document."""
        return describe(self.account)


def load_trace(folder: Path) -> Traced:
    """Read and analyse the archive in `folder`.

    Raises:
        LullError: It is damaged, or this Lull was built without OTF2.
    """
    return Traced(analyse(folder), folder)


def _seconds(time: dict[str, float]) -> dict[str, float]:
    return {f"{state}_s": value for state, value in time.items()}
