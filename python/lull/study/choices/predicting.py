"""Predict every alternative of a point from runs of `auto`, as `lull advise` does.

The counts come from runs with LULL_STATS. Predictions apply them to the time and energy of `auto` itself, which is not
scored. An alternative that the model cannot predict has no prediction, but a reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

from lull.advice import outputs, puts, waits
from lull.advice.account import Advice, Alternative, Band, Objective
from lull.advice.advise import advise
from lull.advice.at_run_time import AGGREGATION, RDMA, without_effect
from lull.advice.facts import facts_of
from lull.model.machine import Machine
from lull.record import Run
from lull.study.choices.description import ApplicationWithChoices
from lull.study.choices.points import Group

CHOICES = (  # by the beginning of their settings
    ("LULL_WAIT", waits.CHOICE),
    ("LULL_AGGREGATE", AGGREGATION),
    ("LULL_TRANSFORM", puts.CHOICE),
    ("LULL_RDMA", RDMA),
)
NO_MODEL = "the model has no such choice"


@dataclass(frozen=True)
class Costs:
    """Time and energy of one run, or per unit of work; medians over runs."""

    seconds: float
    joules: float | None


@dataclass(frozen=True)
class PredictedCost:
    """The prediction for one alternative."""

    seconds: Band
    joules: Band | None


@dataclass(frozen=True)
class Predictions:
    """Predictions for all fixed choices of a point."""

    told: dict[str, PredictedCost]
    unpredicted: dict[str, str]  # choices without a prediction, and why
    same: list[str]  # choices equal to what `auto` has: nothing to predict


def predictions(group: Group, counted: Run, auto: Costs, machine: Machine | None) -> Predictions:
    """Predict every fixed choice of a point.

    Args:
        group: The point.
        counted: Runs of `auto` whose waits were counted.
        auto: Costs of `auto`, in the units of the study.
        machine: The calibration of this machine; None if there is none.
    """
    names = [one.name for one in group.fixed]
    if machine is None:
        return Predictions({}, dict.fromkeys(names, "this host has not been calibrated: lull calibrate"), [])
    facts = facts_of(counted)
    advice = advise(facts, machine, Objective(of="time"))
    scale = 1.0 if group.application.region is None else auto.seconds / seconds_of_job(counted)
    told: dict[str, PredictedCost] = {}
    unpredicted: dict[str, str] = {}
    same = []
    policies, approaches = (
        {one.instead_of for one in advice.alternatives if one.choice == choice}
        for choice in (waits.CHOICE, outputs.CHOICE)
    )
    waits_by = [{"LULL_WAIT": policy} for policy in policies]
    for name in names:
        settings = group.application.alternatives[name].env
        found = _alternative(name, settings, advice)
        if found is not None:
            told[name] = _predicted(found, auto, scale)
        elif settings in waits_by or name in approaches or without_effect(facts, settings):
            same.append(name)
        else:
            unpredicted[name] = _why(group.application, settings, advice)
    return Predictions(told, unpredicted, same)


def seconds_of_job(run: Run) -> float:
    """Seconds from the begin to the end of its communication, in which waits were counted; else of the whole run."""
    return median(
        max((job.wall_s for job in repeat.waiting if job.wall_s > 0), default=repeat.wall_s) for repeat in run.succeeded
    )


def _alternative(name: str, settings: Mapping[str, str], advice: Advice) -> Alternative | None:
    """The advice's alternative with the same settings as this one, or, without settings, with the same name."""
    return next(
        (one for one in advice.alternatives if (one.set == settings if settings else one.name == name)),
        None,
    )


def _predicted(one: Alternative, auto: Costs, scale: float) -> PredictedCost:
    def after(present: float, change: Band) -> Band:
        low, mid, high = (max(0.0, present + scale * part) for part in change)
        return low, mid, high

    joules = None if one.joules is None or auto.joules is None else after(auto.joules, one.joules)
    return PredictedCost(after(auto.seconds, one.seconds), joules)


def _why(application: ApplicationWithChoices, settings: Mapping[str, str], advice: Advice) -> str:
    chosen = [choice for name in settings for begin, choice in CHOICES if name.startswith(begin)]
    of = chosen[0] if chosen else application.chooses
    return next((one.why for one in advice.unpredicted if one.choice == of), NO_MODEL)
