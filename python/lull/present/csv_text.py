"""The tables of a document as CSV: numbers are exact and in the unit that their heading names."""

from __future__ import annotations

import csv
import io

from lull.present.document import Cell, Document, Table


def as_csv(document: Document) -> str:
    """The text of the first table and of those with the same columns; empty if the document has none.

    An interval has two columns, NAME_low and NAME_high, behind that of its value.
    """
    tables = list(document.tables)
    if not tables:
        return ""
    rows = (one for table in tables if table.columns == tables[0].columns for one in table.rows)
    return table_as_csv(Table(tables[0].columns, tuple(rows)))


def table_as_csv(table: Table) -> str:
    """The text of a table, with the names of its columns in the first line."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    places = [place for place, column in enumerate(table.columns) if column.in_data]
    with_ends = {
        place
        for place in places
        if any(one.cells[place].low is not None or one.cells[place].high is not None for one in table.rows)
    }
    names: list[str] = []
    for place in places:
        name = table.columns[place].name
        names += [name, f"{name}_low", f"{name}_high"] if place in with_ends else [name]
    writer.writerow(names)
    for one in table.rows:
        cells: list[str] = []
        for place in places:
            cell = one.cells[place]
            cells.append(_value(cell))
            if place in with_ends:
                cells += ["" if end is None else repr(end) for end in (cell.low, cell.high)]
        writer.writerow(cells)
    return out.getvalue()


def _value(cell: Cell) -> str:
    if cell.number is not None:
        return repr(cell.number)
    return "" if cell.text == "–" else "; ".join(cell.text.strip().split("\n"))
