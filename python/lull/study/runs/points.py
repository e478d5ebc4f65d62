"""The points of a study: every combination of its factors, each with its command line and environment."""

from __future__ import annotations

import itertools
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from lull.base import installed
from lull.base.errors import LullError
from lull.study.file import Value
from lull.study.runs.description import PLACEHOLDER, Compare, StudyOfRuns


@dataclass(frozen=True)
class Point:
    """One combination of values: `name` is that of its record's folder, `env` is added to our environment."""

    name: str
    factors: dict[str, Value]
    command: list[str]
    env: dict[str, str]


@dataclass(frozen=True)
class Places:
    """The folders to which placeholders refer: that of the TOML file, and that of prepared inputs."""

    here: Path
    inputs: Path


def all_points(study: StudyOfRuns, places: Places) -> list[Point]:
    """The points in the order of the factors' values.

    Raises:
        LullError: A program does not exist, or two points would get the same name.
    """
    points = [
        _point(study, places, factors)
        for values in itertools.product(*study.factors.values())
        if in_matrix(study, factors := dict(zip(study.factors, values, strict=True)))
    ]
    if not points:
        raise LullError("lay out the study", "it has no point: all are excluded", "exclude fewer")
    names = [point.name for point in points]
    for name in names:
        if names.count(name) > 1:
            raise LullError("lay out the study", f"two points are both named {name}", "give the factors other values")
    return points


def point_name(factors: dict[str, Value]) -> str:
    """The name of a folder, composed of the values, e.g. `mode-direct.nodes-2`."""
    return ".".join(f"{name}-{re.sub(r'[^A-Za-z0-9+_]+', '_', str(value))}" for name, value in factors.items())


def factors_in_words(factors: dict[str, Value]) -> str:
    """The values in words, e.g. `nodes 2, input photo`."""
    return ", ".join(f"{name} {value}" for name, value in factors.items())


def prepare_command(study: StudyOfRuns, places: Places, name: str, output: Path) -> list[str]:
    """The command that makes the input `name` as `output`."""
    words = {**_words(study, places), "output": str(output)}
    return [_fill(text, words) for text in study.prepare[name].command]


def pairs(study: StudyOfRuns, comparison: Compare) -> list[tuple[dict[str, Value], dict[str, Value], dict[str, Value]]]:
    """(fixed factors, the baseline's factors, the candidate's) of a comparison, for pairs within the matrix."""
    found = []
    for values in itertools.product(*(study.factors[name] for name in comparison.for_each)):
        fixed = dict(zip(comparison.for_each, values, strict=True))
        sides = [
            {name: {**fixed, **side}[name] for name in study.factors if name in {**fixed, **side}}
            for side in (comparison.baseline, comparison.candidate)
        ]
        if all(set(side) == set(study.factors) and in_matrix(study, side) for side in sides):
            found.append((fixed, sides[0], sides[1]))
    return found


def in_matrix(study: StudyOfRuns, factors: dict[str, Value]) -> bool:
    """Whether this combination, which has a value for every factor, is a point of the study."""
    excluded = any(all(factors[name] in values for name, values in one.items()) for one in study.exclude)
    return not excluded and all(value in study.factors[name] for name, value in factors.items())


def _point(study: StudyOfRuns, places: Places, factors: dict[str, Value]) -> Point:
    words = {**_words(study, places), **{name: str(value) for name, value in factors.items()}}
    command: list[str] = []
    env: dict[str, str] = {}
    for text in study.command:
        command += _expanded(study, factors, words, text)
    for name, value in factors.items():
        if found := study.values.get(name, {}).get(str(value)):
            env.update(found.env)
    return Point(point_name(factors), factors, command, env)


def _expanded(
    study: StudyOfRuns, factors: dict[str, Value], words: dict[str, str], text: str, within: tuple[str, ...] = ()
) -> list[str]:
    """Expand a word of a command. A word that is a factor alone becomes its value's arguments, expanded as well."""
    lone = PLACEHOLDER.fullmatch(text)
    meaning = _meaning(study, factors, lone[1]) if lone else None
    if lone is None or meaning is None:
        return [_fill(text, words)]
    if lone[1] in within:
        raise LullError("lay out the study", f"the arguments of {lone[1]} contain themselves", "leave one out")
    return [word for argument in meaning for word in _expanded(study, factors, words, argument, (*within, lone[1]))]


def _meaning(study: StudyOfRuns, factors: dict[str, Value], name: str) -> list[str] | None:
    """The arguments that the value of factor `name` stands for; None: the value's text."""
    found = study.values.get(name, {}).get(str(factors.get(name)))
    return found.args if found else None


def _words(study: StudyOfRuns, places: Places) -> dict[str, str]:
    return {
        **{name: str(value) for name, value in study.parameters.items()},
        "python": sys.executable,
        "here": str(places.here),
        **{f"prepared:{name}": str(places.inputs / prepare.output) for name, prepare in study.prepare.items()},
    }


def _fill(text: str, words: dict[str, str]) -> str:
    def word(match: re.Match[str]) -> str:
        name, detail = match[1], match[2]
        if name == "launch":
            return str(installed.launcher())
        if name == "app" and detail:
            return str(installed.applications().get(detail) or installed.find_program(detail))
        return words[f"{name}:{detail}" if detail else name]

    return PLACEHOLDER.sub(word, text)
