"""Lull: time and energy of moving data in parallel programs.

The command `lull` is the front door (`lull --help`). As a library: `lull.simulate` simulates a network; `lull.record`
reads and writes the record of a run, `lull.stats` and `lull.gpsup` compare two of them, and nothing else is shared
between the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lull.simulation.engine import simulate

__version__ = "0.1.0"
__all__ = ["__version__", "simulate"]


def __getattr__(name: str) -> object:
    """`lull.simulate`, imported when first asked for: `lull --version` needs neither numpy nor the native part."""
    if name == "simulate":
        from lull.simulation.engine import simulate

        return simulate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
