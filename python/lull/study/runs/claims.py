"""The paper's claims and the results of a study: reproduced, not reproduced, or undecided, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from lull.comparison.compare import pairs_of
from lull.comparison.measures import measures, ratio_if_positive
from lull.comparison.quantity import quantity
from lull.record import Domain, EnergyKind, Run, weakest
from lull.record.totals import node_totals, over_nodes
from lull.statistics import bootstrap
from lull.study.file import Value
from lull.study.runs.description import Check, PaperResult

if TYPE_CHECKING:
    from lull.comparison.result import Comparison

REPRODUCES, DOES_NOT, UNDECIDED = "reproduces", "does not reproduce", "undecided"
MOST_TOLD = 4  # ratios of one check; of more, only the least and the greatest are shown
FROM_A_MODEL = (EnergyKind.ESTIMATED, EnergyKind.SIMULATED)


@dataclass(frozen=True)
class StudyComparison:
    """One comparison of the study: its name, the fixed factors (`where` in words), and the two records."""

    name: str
    fixed: dict[str, Value]
    where: str
    comparison: Comparison
    baseline: Run
    candidate: Run


@dataclass(frozen=True)
class Finding:
    """The result for one claim: a verdict, and the ratios behind it in words."""

    result: PaperResult
    verdict: str
    words: str

    @property
    def claim(self) -> str:
        """What the paper says, and where."""
        return f"{self.result.says} ({self.result.where})" if self.result.where else self.result.says


@dataclass(frozen=True)
class ObservedRatio:
    """One ratio with its interval; None if there is none."""

    value: float
    low: float | None
    high: float | None
    kind: EnergyKind | None


def find(result: PaperResult, compared: Sequence[StudyComparison], region: str | None) -> Finding:
    """Judge a claim: it is reproduced if every check holds for each of its comparisons, with the whole interval."""
    if not result.checks:
        return Finding(result, UNDECIDED, result.note or "nothing here measures it")
    verdicts: list[str] = []
    words: list[str] = []
    kinds: set[EnergyKind | None] = set()
    for check in result.checks:
        seen = [
            (one, found, judge(check, found))
            for one in compared
            if one.name == check.compare and _is_about(check, one)
            for found in [look(check, one, region)]
        ]
        verdicts += [told for _, _, told in seen] or [UNDECIDED]
        kinds |= {found.kind if found else None for _, found, _ in seen}
        words += _in_words(check, seen) if seen else ["this matrix has no such point"]
    verdict = next((worst for worst in (DOES_NOT, UNDECIDED) if worst in verdicts), REPRODUCES)
    if verdict != UNDECIDED and kinds.intersection(FROM_A_MODEL):
        verdict += " in the estimate"  # no meter measured it: the result depends on the model's coefficients
    return Finding(result, verdict, "; ".join(dict.fromkeys([*words, result.note] if result.note else words)))


def judge(check: Check, seen: ObservedRatio | None) -> str:
    """The verdict of one ratio: its whole interval must lie on one side."""
    if seen is None or seen.low is None or seen.high is None:
        return UNDECIDED
    if check.relation == "above":
        return REPRODUCES if seen.low > check.than else DOES_NOT if seen.high <= check.than else UNDECIDED
    return REPRODUCES if seen.high < check.than else DOES_NOT if seen.low >= check.than else UNDECIDED


def look(check: Check, one: StudyComparison, region: str | None) -> ObservedRatio | None:
    """The ratio that a check tests."""
    if check.metric is not None:
        return of_metric(one, check.metric, region)
    if check.quantity == "wire_over_node":
        return wire_over_node(one.candidate, region)
    found = getattr(one.comparison, str(check.quantity))
    kind = None if check.quantity == "speedup" else one.comparison.kind
    return ObservedRatio(found.value, found.low, found.high, kind)


def of_metric(one: StudyComparison, metric: str, region: str | None) -> ObservedRatio | None:
    """A metric of the candidate over that of the baseline: the ratio of medians with its interval."""
    whole = quantity(one.candidate, region=region), quantity(one.baseline, region=region)
    paired = pairs_of(*whole)
    sides, streams = (whole, (0, 1)) if paired is None else (paired, (0, 0))
    candidate, baseline = (
        measures(side, seed=bootstrap.SEED, stream=stream, metrics=[metric])
        for side, stream in zip(sides, streams, strict=True)
    )
    found = ratio_if_positive(candidate, baseline, metric)
    return None if found is None else ObservedRatio(found.value, found.low, found.high, None)


def wire_over_node(run: Run, region: str | None) -> ObservedRatio | None:
    """Energy on the wire over the energy of the nodes: the median over repeats, with its interval if they suffice."""
    ratios: list[float] = []
    kinds: list[EnergyKind] = []
    for repeat in run.succeeded:
        of_region = [found.energy for found in repeat.regions if found.name == region]
        totals = node_totals(of_region[0]) if of_region else repeat.totals
        sums = over_nodes(totals)
        wire, node = sums.get(Domain.WIRE), sums.get(Domain.NODE)
        if wire is None or node is None or node.energy.joules <= 0:
            return None
        ratios.append(wire.energy.joules / node.energy.joules)
        kinds += [wire.energy.kind, node.energy.kind]
    if not ratios:
        return None
    value = median(ratios)
    found = bootstrap.Interval(value)
    if len(ratios) >= bootstrap.runs_for_interval():
        found = bootstrap.percentile_interval(value, bootstrap.resampled_medians(np.reshape(ratios, (-1, 1)))[:, 0])
    return ObservedRatio(found.value, found.low, found.high, weakest(kinds))


def _is_about(check: Check, one: StudyComparison) -> bool:
    return all(one.fixed.get(name) in values for name, values in check.only.items())


def _in_words(check: Check, seen: Sequence[tuple[StudyComparison, ObservedRatio | None, str]]) -> list[str]:
    """Every ratio of a check; of many, the number that confirm it, with the least and the greatest."""
    told = [_one_in_words(check, one, found) for one, found, _ in seen]
    by_value = sorted((found.value, place) for place, (_, found, _) in enumerate(seen) if found is not None)
    if len(seen) <= MOST_TOLD or not by_value:
        return told
    verdicts = [verdict for _, _, verdict in seen]
    least, greatest = (told[place] for _, place in (by_value[0], by_value[-1]))
    says_so = f"{_name(check)} {check.relation} {check.than:g} in {verdicts.count(REPRODUCES)} of {len(seen)}"
    if against := verdicts.count(DOES_NOT):
        says_so += f", the contrary in {against}"
    return [f"{says_so}, from {least} to {greatest}"]


def _name(check: Check) -> str:
    if check.metric is not None:
        return f"Ratio of {check.metric}"
    return "wire / node energy" if check.quantity == "wire_over_node" else str(check.quantity).capitalize()


def _one_in_words(check: Check, one: StudyComparison, seen: ObservedRatio | None) -> str:
    where = f" at {one.where}" if one.where else ""
    if seen is None:
        return f"no {_name(check)}{where}"
    spread = "" if seen.low is None or seen.high is None else f" ({seen.low:.3g} to {seen.high:.3g})"
    kind = f", {seen.kind.value} energy" if seen.kind is not None else ""
    return f"{_name(check)} {seen.value:.3g}{spread}{kind}{where}"
