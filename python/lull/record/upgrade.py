"""Convert records of older schemas to the current one, with one step for each schema.

A step takes the content of run.json in one schema and returns that in the next; it invents no values. `read` applies
the steps, so that old records can be compared and reported unchanged; `lull record upgrade` writes the result back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from lull.record.schema import SCHEMA

Content = dict[str, Any]


def _to_2(content: Content) -> Content:
    """Schema 1 added the metrics of several processes, whatever they meant, and did not keep their number."""
    for repeat in content.get("repeats", []):
        for metric in repeat.get("metrics", {}).values():
            metric.setdefault("combination", "sum")
    return content


STEPS: Final[dict[int, Callable[[Content], Content]]] = {1: _to_2}  # by the schema that a step takes
assert set(STEPS) == set(range(1, SCHEMA)), "a schema without a step to the next"


def upgraded(content: Content) -> Content:
    """The content of run.json in the current schema, from the current one or one that STEPS knows."""
    for step in _steps(content["schema"]):
        content = step(content)
    return {**content, "schema": SCHEMA}


def _steps(first: int) -> Iterator[Callable[[Content], Content]]:
    for schema in range(first, SCHEMA):
        yield STEPS[schema]
