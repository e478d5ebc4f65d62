"""What values of factors need of the machine: those that need what is missing here are not points.

A row of a study is thus always of what its label says: a policy that lowers a frequency would, where none can be
changed, wait as the one without.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from lull import _core
from lull.study.runs.description import Need, StudyOfRuns


def _frequency() -> str:
    method, problem = _core.frequency_way("/", sorted(os.sched_getaffinity(0))[:1])
    return "" if method and not problem else problem.partition("; ")[0]


@dataclass(frozen=True)
class Needed:
    """Something that a machine may lack."""

    words: str
    missing: Callable[[], str]  # the reason why it is missing; empty if it is there


NEEDS: dict[Need, Needed] = {"frequency": Needed("a frequency that can be lowered", _frequency)}


def without_missing(study: StudyOfRuns) -> tuple[StudyOfRuns, list[str]]:
    """The study without the values that need what this machine lacks, and a line for each factor with such values."""
    lines: list[str] = []
    excluded = list(study.exclude)
    for factor, meanings in study.values.items():
        for need, needed in NEEDS.items():
            values = [
                value
                for value in study.factors.get(factor, [])
                if str(value) in meanings and meanings[str(value)].needs == need
            ]
            if values and (reason := needed.missing()):
                excluded.append({factor: values})
                names = " or ".join(map(str, values))
                lines.append(f"no points with {factor} {names}, which need {needed.words}: {reason}")
    return study.model_copy(update={"exclude": excluded}), lines
