"""The two kinds of failure of a command, each of which is one line on stderr.

`LullError` is a failure (exit 1): the action, what was found, and the fix. `UsageError` is a mistake in the call of a
command (exit 2). Both exit with `OWN_FAILURE` in commands that pass on the exit code of a program. Neither shows a
traceback; every other exception is a bug and does.
"""

from __future__ import annotations

from typing import Final

OWN_FAILURE: Final = 125  # as of env and timeout


class LullError(Exception):
    """A failure that a user can act on.

    Args:
        asked: The action, e.g. ``read the record runs/a``.
        found: The problem, e.g. ``run.json ends in the middle of a value``.
        fix: What to do about it, if anything.
    """

    exit_code = 1

    def __init__(self, asked: str, found: str, fix: str = "") -> None:
        super().__init__(f"{asked}: {found}" + (f"; {fix}" if fix else ""))


class UsageError(LullError):
    """An invalid call of a command."""

    exit_code = 2


def describe_os_error(error: OSError) -> str:
    """The system's message for an OSError, without Python's `[Errno 13]`."""
    return error.strerror or str(error)
