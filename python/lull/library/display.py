"""Display of results in a notebook: small HTML tables, and DataFrames."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lull.base.errors import LullError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str] = ()) -> str:
    """An HTML table with text in the first column and numbers in the others, and notes below it."""
    head = "".join(f"<th style='{_style(place)}'>{_text(one)}</th>" for place, one in enumerate(headings))
    body = "".join(
        "<tr>" + "".join(f"<td style='{_style(place)}'>{_text(cell)}</td>" for place, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    below = "".join(f"<div>{_text(note)}</div>" for note in notes)
    return f"<div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}</div>"


def _style(column: int) -> str:
    return f"text-align:{'left' if column == 0 else 'right'};padding:0.1em 0.6em"


def _text(words: str) -> str:
    return html.escape(words, quote=False)


def as_pandas(rows: pa.Table) -> pd.DataFrame:
    """An Arrow table as a DataFrame.

    Raises:
        LullError: pandas is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise LullError("make a DataFrame", "pandas is not installed", "pip install pandas") from error
    frame: pd.DataFrame = rows.to_pandas()
    return frame
