"""`lull settings`: list every setting, its value in force and where that comes from."""

from __future__ import annotations

import json

import click
from rich.table import Table
from rich.text import Text

from lull import _core
from lull.base.native import unknown_variables
from lull.base.terminal import output


@click.command(short_help="List the settings and their values in force.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def settings(as_json: bool) -> None:
    """List the settings: the current value, where it comes from, and what it means.

    Every setting is an environment variable; a variable LULL_… that is not a setting is reported on stderr.
    """
    for line in unknown_variables():
        click.echo(f"lull: {line}", err=True)
    table = _core.settings()
    if as_json:
        fields = ("variable", "value", "origin", "problem", "type", "default", "choices", "meaning")
        rows = [{field: getattr(setting, field) for field in fields} for setting in table]
        click.echo(json.dumps(rows, indent=1))
        return
    shown = Table(
        "variable", "value", "from", "meaning", show_lines=False, pad_edge=False, box=None, padding=(0, 2, 0, 0)
    )
    for setting in table:
        value = Text(setting.value or "-", style="bold" if setting.origin == "environment" else "")
        meaning = Text(f"{setting.meaning}" + (f" [{setting.choices}]" if setting.choices else ""))
        if setting.problem:
            value.stylize("red")
            meaning = Text(f"NOT VALID: {setting.problem}. ", style="red") + meaning
        shown.add_row(setting.variable, value, setting.origin, meaning)
    output().print(shown)
