"""The two ways a command of Lull fails, each as one line on stderr.

`LullError` is a failure (exit 1): what was asked, what was found, what to do. `UsageError` is a mistake in how a
command was called (exit 2). Neither ever shows a traceback; every other exception is a bug and does.
"""

from __future__ import annotations


class LullError(Exception):
    """A failure a person can act on.

    Args:
        asked: What was being done, e.g. ``read the record runs/a``.
        found: What stood in the way, e.g. ``run.json ends in the middle of a value``.
        fix: What to do about it, when there is something.
    """

    exit_code = 1

    def __init__(self, asked: str, found: str, fix: str = "") -> None:
        super().__init__(f"{asked}: {found}" + (f"; {fix}" if fix else ""))


class UsageError(LullError):
    """A command was called in a way it does not offer."""

    exit_code = 2


def describe_os_error(error: OSError) -> str:
    """The system's own words for an OSError, without Python's `[Errno 13]` around them."""
    return error.strerror or str(error)
