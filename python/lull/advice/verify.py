"""Verify advice: run the present and the advised state in turn, and compare the outcome with the prediction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lull import record
from lull.advice.account import Advice, Alternative, Band, Outcome
from lull.base.errors import LullError
from lull.experiment.unfinished import is_unfinished
from lull.measurement.command import Command
from lull.measurement.series import Target
from lull.measurement.session import SessionRequest, measure_commands
from lull.measurement.turns import Plan
from lull.record import RUN_FILE, Domain, Repeat
from lull.statistics import bootstrap

PRESENT = "present"
COUNTED = {"LULL_STATS": "1"}
STDERR = 2


@dataclass(frozen=True)
class Variant:
    """A variant of the program: the command, and additional settings."""

    words: Sequence[str]
    settings: Mapping[str, str] = field(default_factory=dict)


def run_in_turn(
    variants: Mapping[str, Variant],
    runs: int,
    hz: float,
    in_force: Mapping[str, str],
    folder: Path,
) -> dict[str, list[Repeat]]:
    """Run variants of the program in turn, with a record of each below `folder`; return the repeats by name.

    Runs that an earlier call has left there count: those of a measurement that ended, and of one that was killed.

    Raises:
        LullError: The program cannot run, fails, or was interrupted.
    """
    several = len(variants) > 1
    if all((folder / name / RUN_FILE).exists() for name in variants) and not is_unfinished(
        folder if several else folder / next(iter(variants))
    ):
        return {name: record.read(folder / name).repeats for name in variants}
    commands = [
        # The output of the command must not mix with the advice.
        Command(
            name,
            variant.words,
            folder / name,
            1 if several else 0,
            env={**COUNTED, **variant.settings},
            stdout=STDERR,
        )
        for name, variant in variants.items()
    ]
    target = Target(folder if several else commands[0].folder, named=True, several=several)
    asked = SessionRequest(Plan(runs), None, hz, in_force, target, quiet=True)
    code = measure_commands(commands, asked, tells=False)
    if code or any(not command.finished for command in commands):
        first = next(iter(variants.values())).words[0]
        raise LullError(f"run {first}", f"it ended with exit code {code}", "see its output above")
    return {command.label: command.repeats for command in commands}


def candidates(advice: Advice, words: Sequence[str]) -> list[tuple[Alternative, Variant]]:
    """The alternatives to try, and how: the advised ones, or else the best of those that may be better."""
    unsure = [one for one in advice.alternatives if one.verdict == "unsure" and one.gain is not None]
    unsure.sort(key=lambda one: one.gain[1] if one.gain else 0.0)

    def variants(of: Sequence[Alternative]) -> list[tuple[Alternative, Variant]]:
        return [(one, variant) for one in of if (variant := variant_of(one, words)) is not None]

    return variants(advice.advised) or variants(unsure)[:1]


def label_of(one: Alternative) -> str:
    """The label of its record: "wait-policy-interrupt"."""
    return re.sub(r"[^\w=.+-]+", "-", f"{one.choice} {one.name}")


def variant_of(one: Alternative, words: Sequence[str]) -> Variant | None:
    """The variant of the command for an alternative; None if the command lacks the word to change."""
    if one.set:
        return Variant(words, one.set)
    changed = list(words)
    for place, word in enumerate(words):
        option, equals, _ = word.partition("=")
        if option in one.options and equals:
            changed[place] = f"{option}={one.options[option]}"
        elif option in one.options and place + 1 < len(words):
            changed[place + 1] = one.options[option]
        elif word in one.arguments and place and Path(words[place - 1]).name == "lull":
            changed[_next_argument(words, place)] = one.arguments[word]
    return Variant(changed) if changed != list(words) else None


def _next_argument(words: Sequence[str], verb: int) -> int:
    """The place of the first word after that at `verb` that is no option, or of the verb if there is none."""
    return next((place for place in range(verb + 1, len(words)) if not words[place].startswith("-")), verb)


def outcome_of(one: Alternative, advice: Advice, present: Sequence[Repeat], other: Sequence[Repeat]) -> Outcome:
    """The ratios of an alternative to the present state, of time and energy, predicted and measured."""
    seconds = _ratio([r.wall_s for r in present], [r.wall_s for r in other])
    before, after = _joules(present), _joules(other)
    joules = _ratio(before, after) if before and after else None
    predicted = _shares(one.seconds, advice.seconds)
    predicted_joules = None if one.joules is None or not advice.joules else _shares(one.joules, advice.joules)
    meets = _meet(predicted, seconds) and (
        joules is None or predicted_joules is None or _meet(predicted_joules, joules)
    )
    return Outcome(
        name=f"{one.choice} {one.name}",
        runs=len(other),
        predicted_seconds=predicted,
        seconds=seconds,
        predicted_joules=predicted_joules,
        joules=joules,
        confirmed=meets,
    )


def _shares(change: Band, of: float) -> Band:
    low, mid, high = (1 + part / of for part in change)
    return low, mid, high


def _meet(a: Band, b: Band) -> bool:
    return a[0] <= b[2] and b[0] <= a[2]


def _joules(repeats: Sequence[Repeat]) -> list[float]:
    found = []
    for repeat in repeats:
        nodes = [total.joules for total in repeat.totals if total.domain is Domain.NODE]
        if not nodes or sum(nodes) <= 0:
            return []
        found.append(sum(nodes))
    return found


def _ratio(present: Sequence[float], other: Sequence[float]) -> Band:
    """Other over present: the ratio of medians with its bootstrap interval; they ran in turn, round by round."""
    value = bootstrap.median(other) / bootstrap.median(present)
    # resampled_ratios...() return their first side over their second
    resampled = bootstrap.resampled_ratios_of_pairs if len(other) == len(present) else bootstrap.resampled_ratios
    drawn = resampled(np.reshape(other, (-1, 1)), np.reshape(present, (-1, 1)))[:, 0]
    found = bootstrap.percentile_interval(value, drawn)
    low, high = found.low, found.high
    return value if low is None else low, value, value if high is None else high
