"""The option `-q`, which is the same in every command that shows progress: it shows none.

The value belongs to click's context of the command, so that what shows progress need not be passed it. Without a
command, as in Python, progress is shown where stderr is a terminal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

KEY: Final = "lull.quiet"


def quiet_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option `-q` of a command; `is_quiet` says whether it was given."""

    def keep(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.meta[KEY] = value

    return click.option(
        "-q", "--quiet", is_flag=True, expose_value=False, callback=keep, help="Show no progress, only results."
    )(command)


def is_quiet() -> bool:
    """Whether the present command has the option `-q`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(KEY, False))
