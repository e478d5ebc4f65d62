"""Numbers of kept benchmarks (docs/results/NAME.json), for pages that also print all of them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from rows_numbers import number
from rows_runs import RESULTS


@cache
def _kept(benchmark: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{benchmark}.json").read_text(encoding="utf-8"))
    return found


def figure(benchmark: str, name: str, digits: int = 1) -> str:
    """One number of a benchmark."""
    return number(_kept(benchmark)["figures"][name], digits)


def millions(benchmark: str, name: str) -> str:
    """The same in millions."""
    return number(_kept(benchmark)["figures"][name] / 1e6, 1)


def percents(benchmark: str, name: str) -> str:
    """A ratio in percent."""
    return f"{number(100 * _kept(benchmark)['figures'][name], 0)} %"


def commit(benchmark: str) -> str:
    """The commit that was measured."""
    return f"`{_kept(benchmark)['commit']}`"
