"""A document as HTML: a fragment for notebooks, and a page that needs no network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from lull.present.document import Document
from lull.present.kinds import meaning_of

TEMPLATES: Final = Path(__file__).parent / "templates"


def as_page(document: Document, version: str) -> str:
    """The page as HTML text; its tables can be sorted.

    Args:
        document: What it shows.
        version: The version of Lull that wrote it.
    """
    return rendered("document.html.j2", document=document, version=version)


def as_fragment(document: Document) -> str:
    """The document as HTML without styles of its own and without scripts, for notebooks."""
    return rendered("fragment.html.j2", document=document)


def rendered(template: str, *, folders: Sequence[Path] = (), **values: object) -> str:
    """Render a template: all values are escaped, and an undefined value is an error.

    Args:
        template: Its file.
        folders: Where it is searched, before the folder of this room.
        values: What it contains.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, TEMPLATES]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["meaning_of"] = meaning_of
    environment.tests["of_class"] = lambda part, name: type(part).__name__ == name
    page: Any = environment.get_template(template)
    return str(page.render(**values))
