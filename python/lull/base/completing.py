"""Shell completion of an argument to one of the known names, or else to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def one_of(known: Callable[[], Iterable[str]]) -> Completer:
    """A `shell_complete` of an argument: the names in `known` with the given prefix, or a file if there are none."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in known() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    return complete
