"""The description of a simulation: a TOML file, checked as a whole before anything runs.

The simulator declares meaning, allowed values and default of each key once, next to the code that uses it, and also
checks it (src/netsim/description). The `content` of a description is the TOML with all defaults that apply.
"""

from __future__ import annotations

import codecs
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lull import _core
from lull.base.documents import DamagedError, parse_json, parse_toml
from lull.base.errors import UsageError, describe_os_error
from lull.base.native import native_errors

Description = _core.SimulationDescription
FILES = ("trace", "trace_smaller", "goal")  # keys of a job that name files


def read_file(path: Path) -> dict[str, Any]:
    """The content of a description: a TOML file, the simulation.json of an earlier simulation, or a GOAL file.

    Relative paths in it refer to its folder. A GOAL file, which its content or its name shows, is a job without a
    network.

    Raises:
        UsageError: The file cannot be read, or is none of them.
    """
    asked = f"read {path}"
    if path.suffix == ".goal" or (path.is_file() and _core.is_goal(str(path))):
        return {"jobs": [{"name": path.stem, "goal": str(path.absolute())}]}
    try:
        text = path.read_bytes()
        if path.suffix == ".json":
            content = parse_json(text.removeprefix(codecs.BOM_UTF8))
            found = content.get("description") if isinstance(content, dict) else None
            if not isinstance(found, dict):
                raise UsageError(asked, "it is not the simulation.json of a simulation", "name a TOML file")
            return with_files_beside(found, path.parent)
        return with_files_beside(parse_toml(text), path.parent)
    except OSError as error:
        raise UsageError(asked, describe_os_error(error), "name a TOML file") from error
    except DamagedError as error:
        raise UsageError(asked, f"it is not {'JSON' if path.suffix == '.json' else 'TOML'}: {error}") from error


def with_files_beside(content: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """A copy in which the files of jobs have absolute paths; relative ones refer to `folder`."""
    jobs = content.get("jobs")
    if not isinstance(jobs, list):
        return dict(content)
    return {**content, "jobs": [_with_files_beside(job, folder) if isinstance(job, dict) else job for job in jobs]}


def _with_files_beside(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    named = {key: str((folder / job[key]).absolute()) for key in FILES if isinstance(job.get(key), str) and job[key]}
    return {**job, **named}


def read_description(content: Mapping[str, Any], asked: str) -> Description:
    """Check a whole description; errors begin with `asked`.

    Raises:
        UsageError: There is a mistake; the line has the first: key, value, allowed values.
    """
    with native_errors():
        return _core.read_simulation(content, asked)


def always_active(description: Description, asked: str) -> Description:
    """The same with links always active. The routing is kept; a routing that depends on sleeping links sees none."""
    content = description.content
    power = {"mode": "active"} | {key: content["power"][key] for key in ("link_watts",) if key in content["power"]}
    return read_description({**content, "power": power}, asked)


def waits(description: Description) -> bool:
    """Whether packets may wait for a link to wake, or be sent at a slower rate."""
    return description.mode != "active" and description.content["power"].get("wake_delays", True) is not False


QUESTIONS: Final = ("savings", "tolerance")  # keys of what only a run whose packets never wait for links can answer


def questions(description: Description) -> list[str]:
    """Those of QUESTIONS that the description asks."""
    return [key for key in QUESTIONS if key in description.content]


def without_questions(description: Description, asked: str) -> Description:
    """The same without them."""
    if not questions(description):
        return description
    return read_description({key: value for key, value in description.content.items() if key not in QUESTIONS}, asked)


def every_saving(power: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Entries of [[savings]] for every mode that lets links sleep, after 0, 1, 2 and 4 times the sleep signalling.

    They have the technology of the checked table [power], if its mode lets links sleep. Hybrid needs a hold: without
    one it would equal deep sleep.
    """
    keys = [key for table in _core.simulation_tables() if table.name == "savings" for key in table.keys]
    modes = next(key.allowed.split(", ") for key in keys if key.name == "mode")
    own = ("mode", "hold", "hybrid_hold")
    technology = {key.name: key.only for key in keys if key.name in power and key.name not in own}
    entries = []
    for mode, factor in itertools.product(modes, (0, 1, 2, 4)):
        if mode == "hybrid" and factor == 0:
            continue
        known = {name: power[name] for name, only in technology.items() if mode in only.get("mode", modes)}
        entries.append({"mode": mode, "hold": f"{factor} Ts", **(known if power["mode"] in modes else {})})
    return entries


def only_with(table: str, key: str) -> dict[str, list[str]]:
    """The keys of a table, with the values at which `key` applies; empty if it always applies, or does not exist."""
    found = next((one for one in _core.simulation_tables() if one.name == table), None)
    return next((one.only for one in found.keys if one.name == key), {}) if found else {}
