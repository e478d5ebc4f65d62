"""A document as Markdown in GitHub's syntax, for papers and pull requests."""

from __future__ import annotations

from collections.abc import Sequence

from lull.present.document import Code, Document, Heading, Item, Line, Note, Part, Table


def as_markdown(document: Document) -> str:
    """The text of `document`, with all rows and columns."""
    parts: list[Part] = [*([Heading(document.title)] if document.title else []), *document.parts]
    blocks: list[str] = []
    before: Part | None = None
    for part in parts:
        text = _text(part)
        joined = isinstance(part, Item | Note) and isinstance(before, Item | Note)  # lines of one list
        if joined:
            blocks[-1] += f"\n{text}"
        elif text:
            blocks.append(text)
        before = part
    return "\n\n".join(blocks) + "\n"


def escaped(text: str) -> str:
    """Text escaped for Markdown, on one line."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def _text(part: Part) -> str:
    match part:
        case Table():
            title = f"**{escaped(part.title)}**\n\n" if part.title else ""
            return title + _table(part)
        case Heading():
            return f"## {escaped(part.text)}"
        case Line():
            return escaped(part.text)
        case Item():
            return f"- {escaped(part.text)}"
        case Note():
            return f"- note: {escaped(part.text)}"
        case Code():
            return "\n".join(("```sh", *part.lines, "```"))


def _table(table: Table) -> str:
    places = [place for place, column in enumerate(table.columns) if column.shown]
    columns = [table.columns[place] for place in places]
    lines: list[Sequence[str]] = [
        [column.title for column in columns],
        ["---" if column.words else "---:" for column in columns],
        *([one.cells[place].text for place in places] for one in table.rows),
    ]
    return "\n".join(f"| {' | '.join(map(escaped, line))} |" for line in lines)
