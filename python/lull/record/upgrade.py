"""Records of older schemas, made into what this Lull would have written: one step for each schema.

A step takes the content of run.json of one schema and gives that of the next; nothing is made up. `read` takes them on
the way, so that old records can be compared and reported as they are; `lull record upgrade` writes the result back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from lull.record.schema import SCHEMA

Content = dict[str, Any]


def _to_2(content: Content) -> Content:
    """Metrics of several processes were added, whatever they meant; how many processes reported them was not kept."""
    for repeat in content.get("repeats", []):
        for metric in repeat.get("metrics", {}).values():
            metric.setdefault("combination", "sum")
    return content


STEPS: Final[dict[int, Callable[[Content], Content]]] = {1: _to_2}  # from the schema that it takes
assert set(STEPS) == set(range(1, SCHEMA)), "a schema without a step to the next"


def upgraded(content: Content) -> Content:
    """The content of run.json in the present schema, from one that STEPS knows, or the present."""
    for step in _steps(content["schema"]):
        content = step(content)
    return {**content, "schema": SCHEMA}


def _steps(first: int) -> Iterator[Callable[[Content], Content]]:
    for schema in range(first, SCHEMA):
        yield STEPS[schema]
