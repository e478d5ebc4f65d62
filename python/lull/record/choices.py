"""The results of the runtime's choices: medians over the repeats of a record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from lull.record.schema import Alternative, Choice, Repeat


@dataclass(frozen=True)
class TypicalAlternative:
    """An alternative; each figure is the median over the jobs that have it."""

    name: str
    predicted_ns: float | None
    corrected_ns: float | None
    observed_ns: float | None
    operations: float

    @property
    def error(self) -> float | None:
        """Relative error of the prediction by the machine's constants: predicted / observed - 1."""
        if self.predicted_ns is None or not self.observed_ns:
            return None
        return self.predicted_ns / self.observed_ns - 1


@dataclass(frozen=True)
class TypicalChoice:
    """A choice; its figures are medians over the jobs of a record."""

    choice: str
    where: str
    per: str
    alternatives: list[TypicalAlternative]
    switches: float
    regret_s: float
    regret_share: float  # of the time of all processes

    @property
    def name(self) -> str:
        """The choice, with the operations to which it applies."""
        return f"{self.choice}, {self.where}" if self.where else self.choice

    @property
    def taken(self) -> TypicalAlternative:
        """The alternative taken most often."""
        return max(self.alternatives, key=lambda alternative: alternative.operations)


def typical_choices(repeats: Iterable[Repeat]) -> list[TypicalChoice]:
    """The choices of all jobs, in the order of the records."""
    jobs: dict[tuple[str, str], list[Choice]] = {}
    for repeat in repeats:
        for choice in repeat.choices:
            jobs.setdefault((choice.choice, choice.where), []).append(choice)
    return [_typical(same) for same in jobs.values()]


def _typical(same: list[Choice]) -> TypicalChoice:
    names = dict.fromkeys(alternative.name for choice in same for alternative in choice.alternatives)
    return TypicalChoice(
        choice=same[0].choice,
        where=same[0].where,
        per=same[0].per,
        alternatives=[
            _alternative([one for choice in same for one in choice.alternatives if one.name == name]) for name in names
        ],
        switches=median(choice.switches for choice in same),
        regret_s=median(choice.regret_s for choice in same),
        regret_share=median(choice.regret_share for choice in same),
    )


def _alternative(same: list[Alternative]) -> TypicalAlternative:
    def of(figures: Iterable[float | None]) -> float | None:
        known = [figure for figure in figures if figure is not None]
        return median(known) if known else None

    return TypicalAlternative(
        name=same[0].name,
        predicted_ns=of(one.predicted_ns for one in same),
        corrected_ns=of(one.corrected_ns for one in same),
        observed_ns=of(one.observed_ns for one in same),
        operations=median(one.operations for one in same),
    )
