"""`lull simulate --keys`: every key of the description, as declared by the simulator."""

from __future__ import annotations

from lull import _core
from lull.present.document import Column, Document, row, table


def describe() -> Document:
    """A row for each key, named as for --set; N is the number of an entry of a list of tables."""
    columns = [
        Column("key", words=True),
        *(Column(name, words=True, wraps=True) for name in ("default", "allowed", "meaning")),
    ]
    rows = [
        row(
            _prefix(one.name) + key.name, key.default, key.allowed, key.meaning + (f" ({key.when})" if key.when else "")
        )
        for one in _core.simulation_tables()
        for key in one.keys
    ]
    return Document("The keys of a simulation's file", (table(columns, rows),))


def by_table() -> dict[str, list[_core.SimulationKey]]:
    """The keys of each table, by its name; "" for those before all tables."""
    return {one.name: one.keys for one in _core.simulation_tables()}


def _prefix(table_name: str) -> str:
    """What precedes a key of a table: `power.`, or `jobs.N.` for [[jobs]]."""
    if not table_name:
        return ""
    return f"{table_name}.N." if table_name in {"jobs", "savings"} else f"{table_name}."
