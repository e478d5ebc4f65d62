"""What commands print as JSON, for docs/reference/json.md: which model is described where."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from lull.schemas.forms import FORMS, models_of

# Modules whose models have their own page; docs/reference/json.md shows the models of others.
PAGES = {
    "lull.record.schema": "record.md",
    "lull.comparison.result": "comparison.md",
    "lull.statistics.bootstrap": "comparison.md",
    "lull.simulation.account": "simulate-toml.md",
    "lull.simulation.tolerance": "simulate-toml.md",
    "lull.prediction.account": "machine-toml.md",
    "lull.model.machine": "machine-toml.md",
}


def is_model(of: Any) -> bool:
    """Whether it is a pydantic model or a dataclass."""
    return isinstance(of, type) and get_origin(of) is None and (issubclass(of, BaseModel) or is_dataclass(of))


def described_here() -> list[type]:
    """The models that no other page describes, in the order of the commands, each followed by those of its parts."""
    found: dict[type, None] = {}
    for command in FORMS:
        for one in models_of(command):
            if one.__module__ not in PAGES:
                found.update(dict.fromkeys(parts_of(one)))
    return list(found)


def form_in_words(form: Any) -> str:
    """What a command prints, with links to the models."""
    if is_model(form):
        page = PAGES.get(form.__module__, "")
        return f"[{form.__name__}]({page}#{form.__name__.lower()})"
    *_, inner = get_args(form)
    if get_origin(form) is list:
        many = form_in_words(inner)
        return f"a list of {many}" if many.startswith("[") else many
    return f"an object: name → {form_in_words(inner)}"


def parts_of(of: type) -> list[type]:
    """A model, and the models of its fields that no other page describes."""
    found: list[type] = [of]
    for annotation in get_type_hints(of).values():
        for part in classes_in(annotation):
            described = part.__module__ in PAGES or part in found
            if not described and is_model(part):
                found += [one for one in parts_of(part) if one not in found]
    return found


def classes_in(annotation: Any) -> list[type]:
    """The classes in a type such as `dict[str, A | None]`."""
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return [annotation]
    return [one for part in get_args(annotation) for one in classes_in(part)]
