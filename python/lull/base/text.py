"""Text from the system that need not be UTF-8: arguments, paths, variables, what tools print.

Python holds a byte that is no UTF-8 as a lone surrogate, which neither JSON nor Parquet nor a terminal takes.
"""

from __future__ import annotations


def readable(text: str) -> str:
    """`text` with every lone surrogate written as the byte it stands for: `caf\\xe9`. Equal texts stay equal."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that stands for no byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
