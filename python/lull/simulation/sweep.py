"""The description of a sweep: a base description, a matrix of values for some of its keys, and excluded points.

base        the description: a path relative to this file, or its tables inline
repeats     simulations of each point, with consecutive seeds from the base's
[matrix]    key -> values; the points are all combinations: "power.hold" = ["0 us", "1 Ts"]
[[exclude]] key -> value: a point that has all these values is left out

If a value of the matrix makes a key of the base or the matrix meaningless (such as a hold with links always active),
the point omits this key; points that become equal are merged. Slowdowns are relative to the otherwise equal point with
links always active; it is added if the matrix has none.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull import _core
from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import UsageError, describe_os_error
from lull.simulation.description import (
    Description,
    always_active,
    only_with,
    read_description,
    read_file,
    with_files_beside,
)
from lull.simulation.engine import number_of_nodes
from lull.simulation.mapping import place
from lull.simulation.settings_by_key import changed, put

KEYS = ("base", "repeats", "matrix", "exclude")
MOST_POINTS = 100_000
TABLE = "sweep.csv"  # in the folder of results

Factors = dict[str, Any]


@dataclass(frozen=True)
class SweepPoint:
    """One point: its name (that of its record's folder), values, description, and counterpart with active links."""

    name: str
    factors: Factors
    description: Description
    active: str  # the name of the point with links always active; its own for such a point, "" without baseline


@dataclass(frozen=True)
class Sweep:
    """A whole, valid sweep."""

    name: str
    points: list[SweepPoint]
    repeats: int
    factors: list[str]  # keys of the matrix


def read_sweep(path: Path, assignments: Sequence[str] = (), baseline: bool = True) -> Sweep:
    """Read a sweep, and check the description of every point.

    Args:
        path: The TOML file.
        assignments: Changes to the base, as `key=value`.
        baseline: Whether to add the points with active links to which slowdowns are relative.

    Raises:
        UsageError: There is a mistake; the line describes the first.
    """
    asked = f"read {path}"
    try:
        content = parse_toml(path.read_bytes())
    except OSError as error:
        raise UsageError(asked, describe_os_error(error), "name a TOML file") from error
    except DamagedError as error:
        raise UsageError(asked, f"it is not TOML: {error}") from error
    for key in content:
        if key not in KEYS:
            raise UsageError(asked, f"{key} is not a key here", _core.nearest(key, KEYS))
    base = with_files_beside(changed(_base(content.get("base"), path, asked), assignments), Path())
    repeats = content.get("repeats", 1)
    if type(repeats) is not int or repeats < 1:
        raise UsageError(asked, f"repeats is {repeats!r}", "it must be a whole number, 1 or more")
    matrix = _matrix(content.get("matrix"), asked)
    excluded = _excluded(content.get("exclude", []), matrix, asked)
    points = _points(base, matrix, excluded, asked, baseline, path.parent)
    return Sweep(path.stem, points, repeats, list(matrix))


def _base(given: object, path: Path, asked: str) -> dict[str, Any]:
    if isinstance(given, str):
        return read_file(path.parent / given)
    if isinstance(given, dict):
        return with_files_beside(given, path.parent)
    raise UsageError(
        asked, "base is missing" if given is None else "base is neither a path nor a table", 'base = "net.toml"'
    )


def _matrix(given: object, asked: str) -> dict[str, list[Any]]:
    if not isinstance(given, dict) or not given:
        raise UsageError(
            asked, "matrix is missing", 'say what varies: [matrix] and "power.mode" = ["active", "hybrid"]'
        )
    flat = _flat(given)
    size = 1
    for key, values in flat.items():
        if not isinstance(values, list) or not values:
            raise UsageError(asked, f"matrix.{key} is {values!r}", "it must be a list of values")
        if any(values.count(value) > 1 for value in values):
            raise UsageError(asked, f"matrix.{key} has a value twice", "name each once")
        size *= len(values)
    if size > MOST_POINTS:
        raise UsageError(
            asked, f"the matrix has {size:,} points", f"at most {MOST_POINTS:,} are simulated in one sweep"
        )
    return flat


def _excluded(given: object, matrix: Mapping[str, list[Any]], asked: str) -> list[Factors]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise UsageError(asked, "exclude is not a list of tables", "head each with [[exclude]]")
    excluded = [_flat(one) for one in given]
    for place_, one in enumerate(excluded):
        for key, value in one.items():
            where = f"exclude.{place_}.{key}"
            if key not in matrix:
                raise UsageError(asked, f"{where} is not a key of the matrix", _core.nearest(key, list(matrix)))
            if value not in matrix[key]:
                raise UsageError(
                    asked, f"{where} is {value!r}, which the matrix does not have", "name one of its values"
                )
    return excluded


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested tables as dotted keys: [matrix] power.mode = [...] means "power.mode"."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{before}{key}.")
        else:
            flat[f"{before}{key}"] = value
    return flat


def _points(
    base: dict[str, Any],
    matrix: dict[str, list[Any]],
    excluded: list[Factors],
    asked: str,
    baseline: bool,
    folder: Path,
) -> list[SweepPoint]:
    short = _short_names(list(matrix))
    found: dict[str, SweepPoint] = {}  # by their simulations
    for values in itertools.product(*matrix.values()):
        factors = dict(zip(matrix, values, strict=True))
        if any(all(factors[key] == value for key, value in one.items()) for one in excluded):
            continue
        content = changed(base, ())
        for key, value in factors.items():
            put(content, key, value, asked)
        content = with_files_beside(content, folder)
        dropped = _drop_meaningless(content, matrix)
        kept = {key: value for key, value in factors.items() if key not in dropped}
        where = f"{asked}, at {', '.join(f'{key} {in_words(value)}' for key, value in kept.items())}"
        point = _point(point_name(kept, short), kept, read_description(content, where), where)
        found.setdefault(_identity(point.description), point)
    if not found:
        raise UsageError(asked, "every point is excluded", "exclude fewer")
    if baseline:
        for point in list(found.values()):
            description = always_active(point.description, asked)
            factors = {**point.factors, "power.mode": "active"}
            factors = {key: value for key, value in factors.items() if not _is_of_power(key) or key == "power.mode"}
            active = SweepPoint(point_name(factors, {**short, "power.mode": "mode"}), factors, description, "")
            found.setdefault(_identity(description), active)
        names = {identity: point.name for identity, point in found.items()}
        points = [
            SweepPoint(p.name, p.factors, p.description, names[_identity(always_active(p.description, asked))])
            for p in found.values()
        ]
    else:
        points = list(found.values())
    names_taken = [point.name for point in points]
    for name in names_taken:
        if names_taken.count(name) > 1:
            raise UsageError(asked, f"two points are both named {name}", "give the matrix other values")
    return points


def _point(name: str, factors: Factors, description: Description, where: str) -> SweepPoint:
    place(description, number_of_nodes(description), where)  # reports mistakes before anything runs
    return SweepPoint(name, factors, description, "")


def _is_of_power(key: str) -> bool:
    return key.startswith("power.") and key != "power.link_watts"


def _identity(description: Description) -> str:
    return json.dumps(description.content, sort_keys=True)


def _drop_meaningless(content: dict[str, Any], matrix: Mapping[str, list[Any]]) -> set[str]:
    """Remove keys from `content` that do not apply with a value of the matrix; return their dotted names."""
    dropped: set[str] = set()
    jobs = content.get("jobs")
    numbered = enumerate(jobs if isinstance(jobs, list) else [])
    tables = [("power", "power", content.get("power")), ("routing", "routing", content.get("routing"))]
    for where, kind, table in [*tables, *((f"jobs.{index}", "jobs", job) for index, job in numbered)]:
        if not isinstance(table, dict):
            continue
        for key in [*table, *table]:  # twice: a key may depend on a later one
            for other, words in only_with(kind, key).items():
                followed = f"{where}.{other}"
                meaningless = followed in dropped or (followed in matrix and table.get(other) not in words)
                if key in table and meaningless:
                    del table[key]
                    dropped.add(f"{where}.{key}")
    return dropped


def point_name(factors: Factors, short: Mapping[str, str]) -> str:
    """The name of a folder, composed of the values, e.g. `mode-hybrid.hold-1_Ts`."""
    return ".".join(f"{short[key]}-{_word(value)}" for key, value in factors.items()) or "only"


def in_words(value: object) -> str:
    """A value of the matrix in words: a table by its name, a list by its items."""
    if isinstance(value, dict):
        named = [str(value[key]) for key in ("preset", "name") if key in value]
        return " ".join([*named, *(f"{k} {in_words(v)}" for k, v in value.items() if k not in ("preset", "name"))])
    if isinstance(value, list):
        return " x ".join(in_words(one) for one in value)
    return value if isinstance(value, str) else json.dumps(value)


def _word(value: object) -> str:
    return re.sub(r"[^A-Za-z0-9+-]+", "_", in_words(value)).strip("_") or "0"


def _short_names(keys: list[str]) -> dict[str, str]:
    """The last part of each key if that is unique, otherwise the whole key."""
    last = [key.rpartition(".")[2] for key in keys]
    return {key: word if last.count(word) == 1 else key.replace(".", "-") for key, word in zip(keys, last, strict=True)}
