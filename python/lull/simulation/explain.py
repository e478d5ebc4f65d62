"""Every key of the description: meaning, what is allowed, default, when it applies: --explain and the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from rich.console import Console
from rich.table import Table as Shown
from rich.text import Text

from lull.simulation.description import Description, Job, Network, Power, Routing, metadata
from lull.simulation.keys import Amount, Table, Whole

TABLES: dict[str, type[Table]] = {
    "": Description,
    "network": Network,
    "routing": Routing,
    "power": Power,
    "jobs": Job,
}
TOPOLOGY_KEYS = (
    ("preset", "a text", "none", "a named network; lull topology lists them"),
    (
        "name",
        "a text",
        "required without preset",
        "a topology; its parameters are keys beside it, see lull topology NAME",
    ),
)


@dataclass(frozen=True)
class Explained:
    """One key in words."""

    name: str
    allowed: str
    default: str
    meaning: str
    only: str  # when it applies; "" for always


def explained(table: str) -> Iterator[Explained]:
    """The keys of a table of the TOML, `""` for those above all tables."""
    if table == "topology":
        for name, allowed, default, meaning in TOPOLOGY_KEYS:
            yield Explained(name, allowed, default, meaning, "")
        return
    model = TABLES[table]
    for name, field in model.model_fields.items():
        if model is Description and name in ("topology", *TABLES):
            continue
        extra: Any = field.json_schema_extra or {}
        only = ", ".join(_when(model, other, values) for other, values in model.conditions(name).items())
        default = extra.get("shown") or ("0" if field.default == 0 else _plain(field.default))
        yield Explained(name, _allowed(model, name), default, field.description or "", only)


def show(console: Console) -> None:
    """Print every key of every table."""
    for table in ("", "topology", "network", "routing", "power", "jobs"):
        heading = {"": "above all tables", "jobs": "[[jobs]]"}.get(table, f"[{table}]")
        shown = Shown("key", "default", "allowed", "meaning", pad_edge=False, box=None, padding=(0, 2, 0, 0))
        shown.columns[0].no_wrap = True
        for one in explained(table):
            when = f" ({one.only})" if one.only else ""
            shown.add_row(Text(one.name), Text(one.default), Text(one.allowed), Text(one.meaning + when))
        console.print(Text(heading, style="bold"))
        console.print(shown)
        console.print()


def _when(model: type[Table], other: str, values: list[str]) -> str:
    """At which values of another key one applies, or at which it does not where that is shorter."""
    excluded = [value for value in model.choices(other) if value not in values]
    if len(excluded) < len(values):
        return f"not with {other} {' or '.join(excluded)}"
    return f"only with {other} {' or '.join(values)}"


def _allowed(model: type[Table], name: str) -> str:
    for mark in metadata(model, name):
        if isinstance(mark, Amount | Whole):
            return mark.words
    words = {"wake_delays": "true or false", "mapping": "linear, random or a list", "grid": "a list of whole numbers"}
    choices = [choice for choice in _literals(model.model_fields[name].annotation) if choice is not None]
    return words.get(name) or (", ".join(choices) if choices else "a text")


def _literals(annotation: Any) -> list[str]:
    """The words of a Literal, also of one that may be absent."""
    found: list[str] = []
    for part in get_args(annotation):
        found += [part] if isinstance(part, str) and get_origin(annotation) is not None else _literals(part)
    return found


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
