"""Which network: [topology] names a preset, or a topology with its parameters, and means a set of whole numbers.

The topologies, their parameters and presets are those of the simulator's own table: a new topology needs nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticCustomError

from lull import _core
from lull.base.errors import UsageError
from lull.simulation.keys import mistake, nearest


@dataclass(frozen=True)
class NetworkChoice:
    """A topology with all its parameters; `preset` is "" where none was named."""

    name: str
    preset: str
    parameters: dict[str, list[int]]  # every parameter the topology has

    def content(self) -> dict[str, Any]:
        """As a user could have written it."""
        lists = {parameter.name: parameter.list for parameter in find(self.name).parameters}
        shown = {name: list(v) if lists[name] or len(v) != 1 else v[0] for name, v in self.parameters.items()}
        return {"name": self.name, **shown}

    @property
    def words(self) -> str:
        """The preset or the name, for tables."""
        return self.preset or self.name


def find(name: str) -> _core.Topology:
    """The topology of that name, which must be known."""
    return next(topology for topology in _core.topologies() if topology.name == name)


def read_choice(content: object) -> NetworkChoice:
    """What [topology] means; a mistake in it names the key."""
    if isinstance(content, NetworkChoice):
        return content
    if not isinstance(content, Mapping):
        raise mistake("", f"is {content!r}", 'it must be a table, such as { preset = "fat-tree-4608" }')
    preset, name = content.get("preset"), content.get("name")
    if preset is not None and name is not None:
        raise mistake("preset", "stands beside topology.name", "name one of them")
    presets = {known.name: known for known in _core.topology_presets()}
    names = [topology.name for topology in _core.topologies()]
    if preset is not None:
        if preset not in presets:
            raise mistake("preset", f"is {preset!r}", _instead(preset, list(presets)))
        name, given = presets[preset].topology, dict(presets[preset].parameters)
    else:
        if name is None:
            raise mistake("name", "is missing", f"name a topology ({', '.join(names)}) or a preset")
        if name not in names:
            raise mistake("name", f"is {name!r}", _instead(name, names))
        given = {}
    known = {parameter.name: parameter for parameter in find(name).parameters}
    for key, value in content.items():
        if key in ("preset", "name"):
            continue
        if key not in known:
            raise mistake(str(key), f"is no parameter of {name}", nearest(str(key), list(known)))
        given[key] = _numbers(key, value, known[key].list)
    return NetworkChoice(name, preset or "", {key: given.get(key, list(p.default)) for key, p in known.items()})


def _instead(wrong: object, right: list[str]) -> str:
    return nearest(wrong, right) if isinstance(wrong, str) else f"it must be one of {', '.join(right)}"


def _numbers(key: str, value: object, as_list: bool) -> list[int]:
    given: list[Any] = value if isinstance(value, list) and as_list else [value]
    if not given or any(isinstance(one, bool) or not isinstance(one, int) for one in given):
        raise mistake(key, f"is {value!r}", "it must be a whole number" + (" or a list of them" if as_list else ""))
    return given


def read_table(content: Mapping[str, Any], asked: str) -> NetworkChoice:
    """What a [topology] on its own means.

    Raises:
        UsageError: The first mistake in it.
    """
    try:
        return read_choice(content)
    except PydanticCustomError as error:
        context = error.context or {}
        name = f"topology.{context['name']}".rstrip(".")
        raise UsageError(asked, f"{name} {context['found']}", context["remedy"]) from error
