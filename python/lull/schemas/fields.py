"""The meaning of a field: the comment after it in the source of its model, and the unit in which its name ends."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from typing import Final

# Endings of names, the longest that fits first, and the units that they name.
UNITS: Final = {
    "j_per_mb": "J/MB",
    "bytes_per_s": "bytes/s",
    "ns_per_byte": "ns/byte",
    "ns_per_event": "ns/event",
    "seconds_per_output": "s",
    "edp_js": "J s",
    "ed2p_js2": "J s²",
    "seconds": "s",
    "joules": "J",
    "watts": "W",
    "bytes": "bytes",
    "hz": "Hz",
    "khz": "kHz",
    "mib": "MiB",
    "mb": "MB",
    "pct": "%",
    "percent": "%",
    "ns": "ns",
    "us": "µs",
    "ts": "Ts",
    "s": "s",
    "j": "J",
    "w": "W",
}


@cache
def comments_of(model: type) -> dict[str, str]:
    """Field, or value of an enumeration -> the comment after it; including fields of Lull's base classes."""
    found: dict[str, str] = {}
    for of in reversed([one for one in model.__mro__ if one.__module__.startswith("lull.")]):
        text = textwrap.dedent(inspect.getsource(of))
        lines = text.splitlines()
        [definition] = ast.parse(text).body
        assert isinstance(definition, ast.ClassDef)
        for statement in definition.body:
            match statement:
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                    last = lines[(statement.end_lineno or 1) - 1].encode()  # columns count bytes
                    after = last[statement.end_col_offset :].decode().strip()
                    if after.startswith("# "):
                        found[name] = re.sub(r"\bNone\b", "null", after.removeprefix("# "))
    return found


def unit_of(name: str) -> str:
    """The unit in which the name of a field ends; empty if there is none."""
    endings = sorted(UNITS, key=len, reverse=True)
    return next((UNITS[one] for one in endings if name == one or name.endswith(f"_{one}")), "")
