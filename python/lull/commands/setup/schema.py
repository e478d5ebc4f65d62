"""`lull schema`: the JSON Schema of what a command prints with `--format json`."""

from __future__ import annotations

import json

import click

from lull.base.completing import one_of
from lull.base.errors import UsageError


def _commands() -> list[str]:
    from lull.schemas.forms import FORMS

    return list(FORMS)


@click.command(short_help="Show the JSON Schema of a command's output.")
@click.argument("command", metavar="[COMMAND]...", nargs=-1, shell_complete=one_of(_commands))
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON Schema of what COMMAND prints with --format json; without COMMAND, list the commands.

    A description of each field contains its unit.

    \b
        lull schema archive info
        lull schema sources > sources.schema.json
    """
    from lull.schemas.forms import FORMS, schema_of

    if not command:
        click.echo("\n".join(FORMS))
        return
    if (name := " ".join(command)) not in FORMS:
        raise UsageError(f"show the schema of lull {name}", "it has no --format json", f"there are {', '.join(FORMS)}")
    click.echo(json.dumps(schema_of(name), indent=1))
