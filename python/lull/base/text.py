"""Text from the system that may not be UTF-8: arguments, paths, variables, output of tools.

Python represents a byte that is not UTF-8 as a lone surrogate, which JSON, Parquet and terminals do not accept.
"""

from __future__ import annotations


def readable(text: str) -> str:
    """`text` with every lone surrogate escaped as the byte that it represents: `caf\\xe9`. Equal texts stay equal."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # a surrogate that represents no byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
