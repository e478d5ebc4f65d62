"""Lull: time and energy of moving data in parallel programs.

The command `lull` is the front door (`lull --help`). As a library: `lull.region` and `lull.metric_sum` (`_mean`,
`_min`, `_max`) mark a program that is measured; `lull.simulate` simulates a network; `lull.record` reads and writes the
record of a run, which is all that the commands share. What is in which room: docs/explanation/what-is-where.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lull.regions.instrument import flush, metric_max, metric_mean, metric_min, metric_sum, region
    from lull.simulation.engine import simulate

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "flush",
    "metric_max",
    "metric_mean",
    "metric_min",
    "metric_sum",
    "region",
    "simulate",
]

LAZY = {
    "flush": "lull.regions.instrument",
    "metric_max": "lull.regions.instrument",
    "metric_mean": "lull.regions.instrument",
    "metric_min": "lull.regions.instrument",
    "metric_sum": "lull.regions.instrument",
    "region": "lull.regions.instrument",
    "simulate": "lull.simulation.engine",
}


def __getattr__(name: str) -> object:
    """What the library offers, imported when first asked for: `lull --version` needs no numpy and no native part."""
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)
