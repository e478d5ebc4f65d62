"""Change single keys of a description: by `--set key=value` on the command line, and in the matrix of a sweep."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import UsageError


def changed(content: Mapping[str, Any], assignments: Sequence[str]) -> dict[str, Any]:
    """A copy of `content` with every `key=value` set; a value that is not TOML is a text.

    Raises:
        UsageError: An assignment has no `=`, or its key cannot exist.
    """
    return with_keys(content, assigned(assignments))


def assigned(assignments: Sequence[str]) -> dict[str, Any]:
    """The values of `key=value` assignments, by key; the last one of a key counts.

    Raises:
        UsageError: An assignment has no `=`.
    """
    result = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"set {assignment}", "it is not KEY=VALUE", "write --set power.mode=hybrid")
        result[name.strip()] = value_of(text)
    return result


def with_keys(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `content` with every key of `changes` set.

    Raises:
        UsageError: A key cannot exist.
    """
    result = copy.deepcopy(dict(content))
    for name, value in changes.items():
        put(result, name, value, f"set {name}={value}")
    return result


def value_of(text: str) -> Any:
    """The value of a TOML text; anything else, such as a bare word, is a text itself."""
    try:
        content = parse_toml(f"value = {text}".encode("utf-8", "surrogateescape"))
    except DamagedError:
        return text.strip()
    return content["value"] if list(content) == ["value"] else text.strip()


def put(content: dict[str, Any], name: str, value: Any, asked: str) -> None:
    """Set the key `name`, such as power.mode or jobs.0.load, and create missing tables.

    Raises:
        UsageError: The path of the key contains a value that is not a table, or an index past the end of a list.
    """
    *tables, last = name.split(".")
    place: Any = content
    for depth, step in enumerate([*tables, last]):
        if isinstance(place, list):
            if not step.isdigit() or int(step) >= len(place):
                where = ".".join([*tables, last][:depth])
                number = f"there are {len(place)}, counted from 0" if place else "there are none"
                raise UsageError(asked, f"{where} has no number {step}", number)
            if depth == len(tables):
                place[int(step)] = value
            else:
                place = place[int(step)]
        elif isinstance(place, dict):
            if depth == len(tables):
                place[step] = value
            else:
                place = place.setdefault(step, {})
        else:
            raise UsageError(asked, f"{'.'.join(tables[:depth])} is not a table", "name a key of a table")
