"""Calls of the native module: conversion of its errors, and the check of its settings in one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lull import _core
from lull.base.errors import LullError, UsageError


@contextmanager
def native_errors() -> Iterator[None]:
    """Convert a `CoreError` raised inside to the equivalent `LullError` or `UsageError`."""
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
        UsageError: One of them has an invalid value.
    """
    table = _core.settings()
    for setting in table:
        if setting.problem:
            asked = f"read setting {setting.variable}"
            raise UsageError(asked, setting.problem.removeprefix(f"{asked}: "))
    return {setting.variable: setting.value for setting in table}


def unknown_variables() -> list[str]:
    """One line for every LULL_* variable in the environment that is not a setting."""
    return [f"{name} is not a setting, did you mean {near}?" for name, near in _core.unknown_variables()]
