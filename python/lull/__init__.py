"""Lull: time and energy of moving data in parallel programs.

Most users run the command `lull` (`lull --help`). The library offers the same to Python programs:

- `lull.measure` runs and records a command, `lull.measuring` a block of this program.
- `lull.load` reads what any command wrote, and `lull.compare` compares it.
- `lull.simulate` simulates a network, `lull.predict` a program on another machine.
- `lull.advise` predicts what each choice would cost and save a program.
- `lull.region` and `lull.metric_sum` (`_mean`, `_min`, `_max`) mark regions and metrics of a measured program.
- `lull.record` reads and writes the record of a run, the only data that the commands share.

docs/explanation/what-is-where.md describes the rooms.
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
    """Import what the library offers on first access: `lull --version` needs neither numpy nor the native module."""
    if name not in LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(LAZY[name]), name)
