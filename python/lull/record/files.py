"""A record on disk: written whole or not at all; reading reports every fault in one line.

`write` fills a hidden folder next to the target, syncs it and renames it into place, so a killed process leaves either
no record or a complete one. `read` rejects a truncated, newer or foreign file.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from pydantic import ValidationError

from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, describe_os_error
from lull.base.parquet import read_table, write_table
from lull.base.whole_file import mode_of_new
from lull.record.schema import RUN_FILE, SAMPLES_FILE, SAMPLES_SCHEMA, SCHEMA, Run
from lull.record.upgrade import upgraded


def write(
    folder: Path,
    run: Run,
    samples: pa.Table,
    beside: Mapping[str, bytes] | None = None,
    fill: Callable[[Path], None] | None = None,
) -> None:
    """Write a record so that it is whole or absent.

    Args:
        folder: Folder of the record; must not exist yet, or be empty.
        run: Content of run.json.
        samples: Content of samples.parquet, in `SAMPLES_SCHEMA`.
        beside: More files by name, e.g. the simulation.json of a simulation.
        fill: Writes more into the folder before it gets its name.

    Raises:
        LullError: The folder is taken, cannot be written, or the disk is full.
    """
    asked = f"write the record {folder}"
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise LullError(asked, "it exists already", "name another folder or remove it")
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error
    try:
        aside.chmod(mode_of_new(0o777))
        if fill is not None:
            fill(aside)
        write_table(as_samples(samples), aside / SAMPLES_FILE)
        synced(aside / SAMPLES_FILE)
        run_json = (run.model_dump_json(by_alias=True, indent=1) + "\n").encode()
        for name, content in {**(beside or {}), RUN_FILE: run_json}.items():
            with (aside / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        synced(aside)
        aside.rename(folder)
        synced(folder.parent)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder with room with --out") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def synced(path: Path) -> None:
    """Sync a file, or the names in a folder, so that they survive a crash of the machine."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(folder: Path) -> Run:
    """Read the run.json of a record, in this schema or an older one.

    Raises:
        LullError: There is no record, it is not whole, or it was written by a newer Lull; the line says which.
    """
    asked = f"read the record {folder}"
    path = folder / RUN_FILE
    try:
        content = parse_json(path.read_bytes())
    except FileNotFoundError as error:
        raise LullError(asked, f"no {RUN_FILE} there", "name a folder that lull measure or lull study wrote") from error
    except OSError as error:
        raise LullError(asked, describe_os_error(error)) from error
    except DamagedError as error:
        at = "" if error.line is None else f" at line {error.line}"
        raise LullError(asked, f"{RUN_FILE} is cut off or damaged{at}", "measure it again") from error
    version = content.get("schema") if isinstance(content, dict) else None
    if not isinstance(version, int):
        raise LullError(asked, f"{RUN_FILE} is not a record of Lull")
    if version > SCHEMA:
        raise LullError(asked, f"its schema is {version}, this Lull knows up to {SCHEMA}", "read it with a newer Lull")
    if version < 1:
        raise LullError(asked, f"its schema is {version}", "schemas begin at 1: is it damaged?")
    try:
        current = upgraded(content)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # a step met content of another form
        raise LullError(asked, f"{RUN_FILE} is not a valid record of schema {version}") from error
    try:
        return Run.model_validate(current)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LullError(asked, f"{RUN_FILE} is not a valid record at {where}: {first['msg']}") from error


def read_samples(folder: Path) -> pa.Table:
    """Read the samples.parquet of a record, in `SAMPLES_SCHEMA`.

    Raises:
        LullError: It is missing or damaged.
    """
    try:
        return as_samples(read_table(folder / SAMPLES_FILE))
    except (OSError, ValueError, pa.ArrowException) as error:  # ValueError: columns of other names
        raise LullError(f"read the samples of {folder}", str(error).splitlines()[0]) from error


def as_samples(table: pa.Table) -> pa.Table:
    """The table in `SAMPLES_SCHEMA`, cast only if needed: a cast imports all of Arrow's functions."""
    return table if table.schema.equals(SAMPLES_SCHEMA) else table.cast(SAMPLES_SCHEMA)
