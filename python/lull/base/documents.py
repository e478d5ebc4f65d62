"""Parsers of JSON and TOML for files that may be damaged: they raise one kind of error.

The parsers of the standard library raise several kinds: their own, UnicodeDecodeError, ValueError for a number of more
than 4300 digits, and RecursionError for a thousand brackets.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any


class DamagedError(Exception):
    """The content is not JSON, or not TOML; the message says why.

    Attributes:
        line: Where, in lines from 1; None if the parser does not say.
    """

    def __init__(self, found: str, line: int | None = None) -> None:
        super().__init__(found)
        self.line = line


def parse_json(content: bytes | str) -> Any:
    """Parse JSON.

    Raises:
        DamagedError: It is not JSON.
    """
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise DamagedError(str(error), error.lineno) from error
    except ValueError as error:  # not UTF-8, or a number that is too long
        raise DamagedError(_in_words(error)) from error
    except RecursionError as error:
        raise DamagedError("its brackets are nested too deeply") from error


def parse_toml(content: bytes) -> dict[str, Any]:
    """Parse TOML, with or without a byte-order mark.

    Raises:
        DamagedError: It is not TOML.
    """
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except ValueError as error:
        raise DamagedError(_in_words(error)) from error
    except RecursionError as error:
        raise DamagedError("its brackets are nested too deeply") from error


def _in_words(error: ValueError) -> str:
    return "a number has too many digits" if "integer string conversion" in str(error) else str(error)
