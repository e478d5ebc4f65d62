"""Percentages in options: `2` and `2%` are the same."""

from __future__ import annotations

from typing import Any

import click


class Percent(click.FloatRange):
    """The type of an option whose value is in percent, with or without the sign."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number of percent."""
        number: Any = value.removesuffix("%") if isinstance(value, str) else value
        return super().convert(number, param, ctx)
