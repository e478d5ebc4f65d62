"""`lull simulate --explain`: print every key of the description, as declared by the simulator."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull import _core


def show(console: Console) -> None:
    """Print every key of every table."""
    for table in _core.simulation_tables():
        heading = {"": "above all tables", "savings": "[[savings]]", "jobs": "[[jobs]]"}.get(
            table.name, f"[{table.name}]"
        )
        shown = Table("key", "default", "allowed", "meaning", pad_edge=False, box=None, padding=(0, 2, 0, 0))
        shown.columns[0].no_wrap = True
        for key in table.keys:
            when = f" ({key.when})" if key.when else ""
            shown.add_row(Text(key.name), Text(key.default), Text(key.allowed), Text(key.meaning + when))
        console.print(Text(heading, style="bold"))
        console.print(shown)
        console.print()
