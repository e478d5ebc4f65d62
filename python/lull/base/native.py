"""Calls into the native part: its errors become Lull's, and the settings it holds are checked in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lull import _core
from lull.base.errors import LullError, UsageError


@contextmanager
def native_errors() -> Iterator[None]:
    """Turn a `CoreError` raised inside into the `LullError` or `UsageError` that says the same."""
    try:
        yield
    except _core.CoreUsageError as error:
        asked, _, found = str(error).partition(": ")
        raise UsageError(asked, found or "it is wrong") from error
    except _core.CoreError as error:
        asked, _, found = str(error).partition(": ")
        raise LullError(asked, found or "it failed") from error


def checked_settings() -> dict[str, str]:
    """Every setting in force, by variable.

    Raises:
        UsageError: One of them has a value that is not valid.
    """
    table = _core.settings()
    for setting in table:
        if setting.problem:
            asked = f"read setting {setting.variable}"
            raise UsageError(asked, setting.problem.removeprefix(f"{asked}: "))
    return {setting.variable: setting.value for setting in table}


def unknown_variables() -> list[str]:
    """One line for every LULL_* variable in the environment that is no setting."""
    return [f"{name} is no setting, did you mean {near}?" for name, near in _core.unknown_variables()]
