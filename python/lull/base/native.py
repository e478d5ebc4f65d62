"""Calls of the native module: conversion of its errors, and the check of its settings in one place."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lull import _core
from lull.base.configuration import VARIABLE
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
    """Every setting in force, by variable, without the one that names the file of settings.

    Raises:
        UsageError: One of them has an invalid value.
    """
    table = _core.settings()
    for setting in table:
        if setting.problem:
            asked = f"read setting {setting.variable}"
            raise UsageError(asked, setting.problem.removeprefix(f"{asked}: "))
    return {setting.variable: setting.value for setting in table if setting.variable != VARIABLE}


def setting_names() -> list[str]:
    """The variables of all settings."""
    return [setting.variable for setting in _core.settings()]


def problem_of_setting(variable: str, text: str) -> str:
    """Why `text` is not a value of a setting, in words; empty if it is one. The environment changes meanwhile."""
    before = os.environ.get(variable)
    os.environ[variable] = text
    try:
        problem = next(setting.problem for setting in _core.settings() if setting.variable == variable)
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
    return problem.removeprefix(f"read setting {variable}: ").partition("; ")[0]


def unknown_variables() -> list[str]:
    """One line for every LULL_* variable in the environment that is not a setting."""
    return [f"{name} is not a setting, did you mean {near}?" for name, near in _core.unknown_variables()]
