"""`lull record`: work on the files of records."""

from __future__ import annotations

import json
from pathlib import Path

import click

from lull import record as records
from lull.base.errors import LullError, describe_os_error
from lull.base.whole_file import write_whole
from lull.record import RUN_FILE, SCHEMA


@click.group(short_help="Upgrade records to the current schema.")
def record() -> None:
    """Upgrade records to the current schema. Lull itself reads records of all schemas; other programs may not."""


@record.command()
@click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
def upgrade(folders: tuple[Path, ...]) -> None:
    """Rewrite the run.json of older records in the current schema; the older form is kept as run.json.SCHEMA.

    Records of the current schema stay as they are.
    """
    for folder in folders:
        run = records.read(folder)
        path = folder / RUN_FILE
        try:
            before = path.read_bytes()
        except OSError as error:
            raise LullError(f"upgrade {folder}", describe_os_error(error)) from error
        schema = json.loads(before)["schema"]
        if schema == SCHEMA:
            click.echo(f"{folder}: schema {SCHEMA}, nothing to do", err=True)
            continue
        write_whole(folder / f"{RUN_FILE}.{schema}", before, "older form of the record", "")
        text = run.model_dump_json(by_alias=True, indent=1) + "\n"
        write_whole(path, text.encode(), "record", "")
        click.echo(f"{folder}: schema {schema} made {SCHEMA}; the older form is {RUN_FILE}.{schema}", err=True)
