"""A document on the terminal, or as plain text where there is none: a terminal that is too narrow omits columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from lull.present.document import Cell, Code, Column, Document, Heading, Item, Line, Note, Part, Row, Table, Tone
from lull.present.kinds import colour_of

PIPED_WIDTH: Final = 160  # columns without a terminal; wide enough that few lines of a table are folded
LEAST_WRAPPED: Final = 12  # columns of text to which a terminal may wrap a cell
READABLE: Final = 24  # columns of text of a wrapped cell for which optional columns are left out
STYLES: Final[dict[Tone, str]] = {
    "plain": "",
    "strong": "bold",
    "aside": "dim",
    "good": "cyan",
    "bad": "red",
    "note": "yellow",
}


def print_document(document: Document, *, stderr: bool = False) -> None:
    """Print `document` on stdout, or on stderr."""
    _print(document, _console(stderr=stderr))


def as_text(document: Document, width: int | None = None) -> str:
    """`document` as plain text, as for a pipe or, with `width`, as on a terminal of so many columns."""
    console = Console(width=width or PIPED_WIDTH, color_system=None, force_terminal=width is not None)
    with console.capture() as captured:
        _print(document, console)
    return captured.get()


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=PIPED_WIDTH)


def _print(document: Document, console: Console) -> None:
    parts: list[Part] = [*([Line(document.title, "strong")] if document.title else []), *document.parts]
    before: Part | None = None
    for part in parts:
        if before is not None and _is_apart(before, part):
            console.print()
        _print_part(part, console)
        before = part


def _is_apart(before: Part, part: Part) -> bool:
    """Whether a blank line separates two parts: it surrounds tables with their titles, and precedes headings."""
    if isinstance(part, Heading):
        return True
    return isinstance(before, Table) or (isinstance(part, Table) and not isinstance(before, Heading))


def _print_part(part: Part, console: Console) -> None:
    match part:
        case Table():
            _print_table(part, console)
        case Heading():
            _print_line(Text(part.text, "bold"), console)
        case Line():
            _print_line(Text(part.text, STYLES[part.tone]), console)
        case Item():
            _print_line(Text(f"  {part.text}", STYLES[part.tone]), console)
        case Note():
            _print_line(Text.assemble(("note: ", "yellow"), part.text), console)
        case Code():
            for line in part.lines:
                _print_line(Text(f"  {line}"), console)


def _print_line(text: Text, console: Console) -> None:
    """A terminal wraps lines between words; elsewhere each is one line."""
    console.print(text, soft_wrap=not console.is_terminal)


def _print_table(table: Table, console: Console) -> None:
    if table.title:
        _print_line(Text(table.title, "bold"), console)
    rows = table.rows if table.most is None else table.rows[: table.most]
    places = _fitting(table, rows, console.width)
    space = 2 if _width(table, rows, places, READABLE) + 2 * len(places) <= console.width else 1
    ruled = console.is_terminal and table.headings  # a rule below the headings, and a blank as border of each column
    shown = RichTable(
        box=box.SIMPLE_HEAD if ruled else None,
        show_header=table.headings,
        padding=(0, space - int(ruled), 0, 0),
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for place in places:
        column = table.columns[place]
        shown.add_column(
            column.title,
            justify="left" if column.words else "right",
            no_wrap=not column.wraps,
            overflow="fold",
            min_width=_least(column, [one.cells[place] for one in rows], LEAST_WRAPPED),
        )
    for one in rows:
        shown.add_row(*(_text(one.cells[place]) for place in places), style=STYLES[one.tone])
    console.print(shown)
    if table.hidden:
        _print_line(Text(table.hidden, "dim"), console)


def _text(cell: Cell) -> Text:
    return Text(cell.text, STYLES[cell.tone] or colour_of(cell.text))


def _fitting(table: Table, rows: Sequence[Row], width: int) -> list[int]:
    """The places of the columns to show: of those that are optional, as many as fit into `width`."""
    places = [place for place, column in enumerate(table.columns) if column.shown]
    while _width(table, rows, places, READABLE) + len(places) > width:
        last = max(places, key=lambda place: table.columns[place].optional)
        if not table.columns[last].optional:
            break
        places.remove(last)
    return places


def _width(table: Table, rows: Sequence[Row], places: Sequence[int], wrapped: int) -> int:
    """The columns of text that the table needs, without the space between its columns."""
    return sum(_least(table.columns[place], [one.cells[place] for one in rows], wrapped) for place in places)


def _least(column: Column, cells: Sequence[Cell], wrapped: int) -> int:
    """The columns of text that a column of the table needs, if cells that may wrap have `wrapped`."""
    texts = [column.title, *(line for cell in cells for line in cell.text.split("\n"))]
    natural = max(map(cell_len, texts), default=0)
    return min(natural, wrapped) if column.wraps else natural
