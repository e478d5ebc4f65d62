"""The TOML file that describes one command for `lull measure --interleave`, checked as a whole before anything runs.

label      its name in tables, and that of the folder of its record; default: the file's name
command    the program and its arguments: a list, or a string that is split as a shell splits words, without a shell
env        environment variables, added to those of `lull measure`
cwd        the folder it runs in, relative to that of the file; default: where `lull measure` runs
warmup     runs before the recorded ones; default: that of --warmup
factors    what distinguishes this command from the others, name -> value; kept in the record
"""

from __future__ import annotations

import shlex
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StrictStr, ValidationError, field_validator

from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import LullError, UsageError, describe_os_error
from lull.measurement.command import Command


class CommandFile(BaseModel):
    """The content of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    label: str | None = Field(default=None, pattern=r"^[^/\x00]+$")
    command: list[str] | str
    env: dict[str, str] = {}
    cwd: str | None = None
    warmup: int | None = Field(default=None, ge=0)
    factors: dict[str, StrictStr | StrictInt | StrictFloat] = {}

    @field_validator("command")
    @classmethod
    def _split(cls, command: list[str] | str) -> list[str]:
        words = shlex.split(command) if isinstance(command, str) else command  # an open quote is a ValueError
        if not words or not words[0]:
            raise ValueError("it names no program")
        return words

    @field_validator("env")
    @classmethod
    def _leaves_the_meter(cls, env: dict[str, str]) -> dict[str, str]:
        for name in env:
            if name == "LULL_RECORD" or name.startswith("LULL_METER_"):
                raise ValueError(f"{name} is not the command's: one meter serves all, set it for lull measure itself")
        return env


def read_command(path: Path, out: Path, warmup: int) -> Command:
    """The command that `path` describes; its record goes below `out`.

    Raises:
        LullError: The file cannot be read.
        UsageError: It is not TOML, a key is wrong, or its folder does not exist.
    """
    asked = f"read {path}"
    try:
        content = parse_toml(path.read_bytes())
        described = CommandFile.model_validate(content)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "name TOML files after --interleave") from error
    except ValidationError as error:
        raise UsageError(asked, _first_mistake(error)) from error
    except DamagedError as error:
        raise UsageError(asked, f"it is not TOML: {error}") from error
    label = described.label or path.stem
    if label in {".", ".."}:
        raise UsageError(asked, f"the label {label!r} cannot be the name of a folder", "choose another")
    cwd = None if described.cwd is None else path.parent / described.cwd
    if cwd is not None and not cwd.is_dir():
        raise UsageError(asked, f"cwd: there is no folder {cwd}", "make it, or correct the path")
    return Command(
        label=label,
        argv=list(described.command),
        folder=out / label,
        warmup=warmup if described.warmup is None else described.warmup,
        env=described.env,
        cwd=cwd,
        factors=described.factors,
    )


def read_commands(paths: list[Path], out: Path, warmup: int) -> list[Command]:
    """The commands that all `paths` describe.

    Raises:
        UsageError: There are fewer than two, or two have the same label.
        LullError: See `read_command`.
    """
    asked = "measure --interleave"
    if len(paths) < 2:
        raise UsageError(asked, "one command alone cannot take turns", "name two TOML files or more")
    commands = [read_command(path, out, warmup) for path in paths]
    labels = [command.label for command in commands]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(asked, f"{labels.count(label)} files have the label {label!r}", "give each its own")
    return commands


def _first_mistake(error: ValidationError) -> str:
    """The first mistake and its key, in one line; for an unknown key, also the known ones."""
    mistakes = error.errors()
    first = next((one for one in mistakes if one["type"] == "extra_forbidden"), mistakes[0])  # often a misspelt key
    place = [str(part) for part in first["loc"]]
    if first["type"] == "extra_forbidden":
        return f"no key {'.'.join(place)!r}, there are: {', '.join(CommandFile.model_fields)}"
    if first["type"] == "missing":
        return f"the key {'.'.join(place)!r} is missing"
    what = first["msg"].removeprefix("Value error, ")
    return f"{place[0]}: {what[:1].lower()}{what[1:]}"
