"""Pages from the templates of this room, which use those of `lull.present`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lull.present import page

TEMPLATES: Final = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Render `template` with `values`."""
    return page.rendered(template, folders=(TEMPLATES,), **values)
