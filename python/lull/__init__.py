"""Lull: time and energy of moving data in parallel programs.

The command `lull` is the front door (`lull --help`). As a library: `lull.measure` runs and records a command,
`lull.measuring` a block of this program; `lull.load` reads what any command wrote, `lull.compare` compares it;
`lull.simulate` simulates a network, `lull.predict` a program on a machine that is not here; `lull.advise` says what
each choice would cost a program and save; `lull.region` and
`lull.metric_sum` (`_mean`, `_min`, `_max`) mark a program that is measured. `lull.record` reads and writes the record
of a run, which is all that the commands share. What is in which room: docs/explanation/what-is-where.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lull.library.advised import advise
    from lull.library.compared import compare
    from lull.library.loading import load
    from lull.library.measuring import measure, measuring
    from lull.library.predicted import predict
    from lull.library.simulated import simulate
    from lull.library.traced import load_trace
    from lull.regions.instrument import flush, metric_max, metric_mean, metric_min, metric_sum, region

__version__ = "0.1.0"
__all__ = [
    "__version__",
    "advise",
    "compare",
    "flush",
    "load",
    "load_trace",
    "measure",
    "measuring",
    "metric_max",
    "metric_mean",
    "metric_min",
    "metric_sum",
    "predict",
    "region",
    "simulate",
]

LAZY = {
    "advise": "lull.library.advised",
    "compare": "lull.library.compared",
    "flush": "lull.regions.instrument",
    "load": "lull.library.loading",
    "load_trace": "lull.library.traced",
    "measure": "lull.library.measuring",
    "measuring": "lull.library.measuring",
    "metric_max": "lull.regions.instrument",
    "metric_mean": "lull.regions.instrument",
    "metric_min": "lull.regions.instrument",
    "metric_sum": "lull.regions.instrument",
    "predict": "lull.library.predicted",
    "region": "lull.regions.instrument",
    "simulate": "lull.library.simulated",
}


def __getattr__(name: str) -> object:
    """What the library offers, imported when first asked for: `lull --version` needs no numpy and no native part."""
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)
