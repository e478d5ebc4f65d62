"""A value as the JSON that its model describes."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter


def json_text(form: Any, value: object) -> str:
    """The text of `value`, which is checked against the type `form`; attributes of native objects become fields."""
    adapter = TypeAdapter(form)
    checked = adapter.validate_python(value, from_attributes=True)
    return json.dumps(adapter.dump_python(checked, mode="json", by_alias=True), indent=1)
