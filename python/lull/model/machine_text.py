"""The text of a machine file: tables in the order of the form, with each figure on a separate line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from lull.model.machine import Machine

DIGITS: Final = 4  # of a measured figure
ALL_DIGITS: Final = 17  # of a figure set by hand: a number of bytes is exact
FIGURE: Final = frozenset({"value", "low", "high", "kind", "source"})


def machine_text(machine: Machine, heading: str = "") -> str:
    """TOML of a machine, with four digits, and all digits of constants; `heading` is a comment of several lines."""
    content = machine.model_dump(exclude_none=True, exclude_defaults=True, mode="python")
    content = {"form": machine.form, **content}
    lines = [f"# {line}".rstrip() for line in heading.splitlines()]
    _table([], content, lines)
    return "\n".join(lines).strip("\n") + "\n"


def _table(where: list[str], content: Mapping[Any, Any], lines: list[str]) -> None:
    plain = {key: value for key, value in content.items() if not _is_table(value)}
    digits = ALL_DIGITS if where[:1] == ["constants"] else DIGITS
    lines += [f"{_key(key)} = {_value(value, digits)}" for key, value in plain.items()]
    for key, value in content.items():
        if key in plain:
            continue
        path = [*where, _key(key)]
        for one in value if isinstance(value, list) else [value]:
            brackets = ("[[", "]]") if isinstance(value, list) else ("[", "]")
            has_own = isinstance(value, list) or any(not _is_table(part) for part in one.values())
            if has_own:
                lines += ["", f"{brackets[0]}{'.'.join(path)}{brackets[1]}"]
            _table(path, one, lines)


def _is_table(value: object) -> bool:
    """Whether a value gets its own heading: it is not a figure, a list of plain values, or an empty table."""
    if isinstance(value, Mapping):
        return bool(value) and not (value.keys() <= FIGURE and "value" in value)
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _key(key: object) -> str:
    text = str(key)
    return text if text.replace("-", "").replace("_", "").isalnum() and text.isascii() else json.dumps(text)


def _value(value: object, digits: int) -> str:
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, float):
        return _number(value, digits)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(part, digits)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_value(part, digits) for part in value) + "]"
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return json.dumps(str(value), ensure_ascii=False)


def _number(value: float, digits: int) -> str:
    rounded = float(f"{value:.{digits}g}")
    if rounded == int(rounded) and abs(rounded) < 1e15:
        return str(int(rounded))
    return repr(rounded)
