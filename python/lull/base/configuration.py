"""The files that set defaults of settings: the site's, /etc/lull.toml, and the user's, ~/.config/lull.toml.

The command `lull` reads them once, before its subcommand runs, and puts their values into its environment, where every
setting is read: by Lull itself, by the libraries in the programs that it starts, and by the ranks to which a launcher
passes the environment on. A variable that the environment has already, even an empty one, stays as it is; so the order
is command line, environment, user's file, site's file, default. Programs that start without `lull` see no file.

A key of a file is the name of a setting, and its value a text or a number, as in the environment. An empty text means
the default. Nothing in a file is ignored: what is wrong is an error that names file and line.
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import LullError, describe_os_error

SITE_FILE: Final = Path("/etc/lull.toml")
NAME: Final = "lull.toml"
VARIABLE: Final = "LULL_CONFIG"  # names the only file to read; empty: none
MOST_BYTES: Final = 1 << 20
FIX: Final = f"correct the file, or read none with {VARIABLE}="


@dataclass(frozen=True)
class Entry:
    """One setting in a file."""

    variable: str
    text: str  # as in the environment; empty: the default
    origin: str  # file and line: ~/.config/lull.toml:7


@dataclass(frozen=True)
class Configuration:
    """What the files say: the settings in force among them, and how many settings each file has."""

    entries: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)  # the site's before the user's


def files_to_read(environment: Mapping[str, str], site: Path = SITE_FILE) -> list[Path]:
    """The files that are read if they exist, the one that gives way first."""
    named = environment.get(VARIABLE)
    if named is not None:
        return [Path(named)] if named else []
    config, home = environment.get("XDG_CONFIG_HOME", ""), environment.get("HOME", "")
    folder = Path(config) if config.startswith("/") else Path(home) / ".config" if home else None
    return [site] if folder is None else [site, folder / NAME]


def read_configuration(environment: Mapping[str, str], site: Path = SITE_FILE) -> Configuration:
    """Read the files.

    Args:
        environment: Where the user's file is, and whether another one is named.
        site: The site's file.

    Raises:
        LullError: A file cannot be read, is not TOML, or has a key or a value that no setting has; the site's file can
            be changed by others than root; the named file does not exist.
    """
    found = Configuration()
    for path in files_to_read(environment, site):
        shown = _shown(path, environment)
        content = _content(path, shown, is_site=path == site)
        if content is None:
            if VARIABLE in environment:
                raise LullError(f"read {shown}", f"there is no such file, which {VARIABLE} names", FIX)
            continue
        entries = _entries(content, shown)
        found.files[shown] = len(entries)
        found.entries.update((entry.variable, entry) for entry in entries)
    return found


def apply_configuration(found: Configuration, environment: MutableMapping[str, str]) -> dict[str, str]:
    """Put the settings that `environment` does not have into it; returns their origins, by variable."""
    added = {
        variable: entry
        for variable, entry in found.entries.items()
        if entry.text and not {variable, variable.replace("SHMEM_", "SMA_", 1)} & environment.keys()
    }
    environment.update({variable: entry.text for variable, entry in added.items()})
    return {variable: entry.origin for variable, entry in added.items()}


def _shown(path: Path, environment: Mapping[str, str]) -> str:
    """The path as in messages, with ~ for the user's folder."""
    home = environment.get("HOME", "")
    return f"~/{path.relative_to(home)}" if home not in ("", "/") and path.is_relative_to(home) else str(path)


def _content(path: Path, shown: str, *, is_site: bool) -> bytes | None:
    """The bytes of the file; None if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not block
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise LullError(f"read {shown}", "it is not a file", FIX)
            if is_site and (status.st_mode & 0o022 or status.st_uid not in (0, os.geteuid())):
                raise LullError(f"read {shown}", "others than root can write it", f"chown root and chmod 644 {shown}")
            content = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LullError(f"read {shown}", describe_os_error(error), FIX) from error
    if len(content) > MOST_BYTES:
        raise LullError(f"read {shown}", "it is larger than 1 MiB", FIX)
    return content


def _entries(content: bytes, shown: str) -> list[Entry]:
    """The settings in the content of a file."""
    try:
        table = parse_toml(content)
    except DamagedError as error:
        place = re.search(r" \(at (?:line (\d+), column \d+|end of document)\)$", str(error))
        words = str(error)[: place.start()] if place else str(error)
        line = (place[1] or str(max(1, len(content.splitlines())))) if place else "1"
        raise LullError(f"read {shown}:{line}", f"it is not TOML: {words}", FIX) from error
    made = []
    for name, value in table.items():
        origin = f"{shown}:{_line_of(name, content)}"
        made.append(Entry(name, _text_of(name, value, origin), origin))
    return made


def _text_of(name: str, value: Any, origin: str) -> str:
    """The value of a setting as text, checked."""
    from lull.base.native import problem_of_setting, setting_names  # late: most calls of lull read no file

    if isinstance(value, dict | list):
        what = "a table" if isinstance(value, dict) else "a list"
        raise LullError(f"read {origin}", f"{name} is {what}", 'write each setting as NAME = "VALUE"')
    names = [one for one in setting_names() if one != VARIABLE]
    if name not in names:
        near = difflib.get_close_matches(name.upper(), names, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]}" if near else "lull settings lists all settings"
        raise LullError(f"read {origin}", f"{name} is not a setting that a file can have", fix)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        found = str(value).lower() if isinstance(value, bool) else str(value)
        fix = 'lull settings shows the allowed values; quote them: "1"'
        raise LullError(f"read {origin}", f"{name} = {found} is neither a text nor a number", fix)
    text = str(value)
    if "\0" in text or "\n" in text:
        raise LullError(f"read {origin}", f"the value of {name} has several lines", "write it on one line")
    if text and (problem := problem_of_setting(name, text)):
        raise LullError(f"read {origin}", f"{name}: {problem}", "lull settings shows the allowed values")
    return text


def _line_of(name: str, content: bytes) -> int:
    """The line, from 1, on which a key, or the table of this name, begins.

    The first line that looks so is the right one: a longer text, in which such a line may also be, is an error itself.
    """
    begins = re.compile(rf"""\s*(\[+\s*)?["']?{re.escape(name)}["']?\s*[=.\]]""")
    lines = content.decode("utf-8-sig").split("\n")
    return next((number for number, line in enumerate(lines, 1) if begins.match(line)), 1)
