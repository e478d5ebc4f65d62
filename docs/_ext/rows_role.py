"""Numbers of the study pages: each comes from the kept rows.

A page says {rows}`EXPRESSION` where a number from kept rows belongs. The expression is Python, one call as a rule; its
names are those of the module of the page in PAGES, which reads the rows of its study. Its value is text, and replaces
the mark before the page is parsed. tests/python/documentation/test_study_numbers.py finds the numbers that do not come
from rows.
"""

from __future__ import annotations

import importlib
import re

from lull.base.errors import LullError

MARK = re.compile(r"\{rows\}`([^`]+)`")
PAGES = {  # pages, and the modules whose names their expressions use
    "explanation/link-power": "rows_links",
    "explanation/aggregation-study": "rows_aggregation",
    "explanation/access-patterns-study": "rows_access_patterns",
    "explanation/aggregation-at-scale": "rows_at_scale",
    "explanation/waiting-study": "rows_waiting",
    "explanation/io-study": "rows_io",
    "explanation/gpu-patterns-study": "rows_gpu",
    "explanation/choices-study": "rows_benchmarks",
    "explanation/network-simulator": "rows_benchmarks",
    "design/one-sided-speed": "rows_benchmarks",
    "gallery": "rows_gallery",
    "index": "rows_benchmarks",
}


def value_of(page: str, expression: str) -> str:
    """The text of an expression of a page.

    Raises:
        LullError: The page has no module of rows, or the expression has no value there.
    """
    where = f"put a number from kept rows into docs/{page}.md"
    if page not in PAGES:
        raise LullError(where, "no module reads rows for this page", f"name one in {__file__}")
    names = vars(importlib.import_module(PAGES[page]))
    one_line = " ".join(expression.split())
    try:
        value = eval(one_line, dict(names))
    except Exception as error:  # whatever an author may write
        raise LullError(where, f"{one_line} is {type(error).__name__}: {error}", f"see {PAGES[page]}.py") from error
    if not isinstance(value, str):
        raise LullError(where, f"{one_line} is {value!r}, not text", "use a function of rows_numbers.py")
    return value


def filled_in(page: str, text: str) -> str:
    """The text of a page with its numbers."""
    return MARK.sub(lambda mark: value_of(page, mark[1]), text)
