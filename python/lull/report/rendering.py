"""Pages from the templates of this room: all values are escaped, and an undefined value is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

TEMPLATES: Final = Path(__file__).parent / "templates"


def rendered(template: str, **values: object) -> str:
    """Render `template` with `values`."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    page: Any = environment.get_template(template)
    return str(page.render(**values))
