"""`lull settings`: list every setting, its value in force and where that comes from."""

from __future__ import annotations

from collections.abc import Mapping

import click

from lull import _core
from lull.base.native import unknown_variables
from lull.present.document import Cell, Column, Document, Tone, row, table
from lull.present.forms import format_option, show_result
from lull.present.messages import say


@click.command(short_help="List the settings and their values in force.")
@format_option
def settings(form: str) -> None:
    """List the settings: the current value, where it comes from, and what it means.

    Every setting is an environment variable; a variable LULL_… that is not a setting is reported on stderr. The files
    /etc/lull.toml and ~/.config/lull.toml set those that the environment does not have, the latter before the former.
    """
    for line in unknown_variables():
        say(line)
    origins: dict[str, str] = click.get_current_context().find_object(dict) or {}
    show_result(form, lambda: describe(origins), lambda: as_json(origins))


def describe(origins: Mapping[str, str]) -> Document:
    """A row for each setting; `origins` has those that come from files."""
    rows = []
    for setting in _core.settings():
        tone: Tone = "bad" if setting.problem else "plain" if setting.origin == "default" else "strong"
        choices = f" [{setting.choices}]" if setting.choices else ""
        problem = f"NOT VALID: {setting.problem}. " if setting.problem else ""
        meaning = Cell(f"{problem}{setting.meaning}{choices}", tone="bad" if setting.problem else "plain")
        rows.append(
            row(
                setting.variable,
                Cell(setting.value or "-", tone=tone),
                origins.get(setting.variable, setting.origin),
                meaning,
            )
        )
    columns = [
        Column("variable", words=True),
        Column("value", words=True, wraps=True),
        Column("from", words=True, key="origin"),
        Column("meaning", words=True, wraps=True),
    ]
    return Document("", (table(columns, rows),), "Settings of Lull")


def as_json(origins: Mapping[str, str]) -> str:
    """All fields of each setting; `origins` has those that come from files."""
    from lull.schemas.machine import SettingInForce
    from lull.schemas.text import json_text

    fields = [name for name in SettingInForce.model_fields if name != "origin"]
    content = [
        {"origin": origins.get(one.variable, one.origin), **{name: getattr(one, name) for name in fields}}
        for one in _core.settings()
    ]
    return json_text(list[SettingInForce], content)
