"""What a shell completes an argument to: one of the names that are known, else a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def one_of(known: Callable[[], Iterable[str]]) -> Completer:
    """For `shell_complete` of an argument: those of `known` that begin with what is there, a file where none does."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        found = [CompletionItem(name) for name in known() if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]

    return complete
