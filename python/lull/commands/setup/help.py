"""`lull help`: the help of a command, as after `--help`."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def _next_words(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The commands that may follow the words before `incomplete`."""
    try:
        of = _context_of(context.find_root(), context.params.get("command") or ())
    except click.UsageError:
        return []
    names = of.command.list_commands(of) if isinstance(of.command, click.Group) else []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(short_help="Show the help of a command.")
@click.argument("command", metavar="[COMMAND]...", nargs=-1, shell_complete=_next_words)
@click.pass_context
def help_(context: click.Context, command: tuple[str, ...]) -> None:
    """Show the help of COMMAND, as COMMAND --help does; without COMMAND, list the commands.

    \b
        lull help measure
        lull help archive convert
    """
    click.echo(_context_of(context.find_root(), command).get_help())


def _context_of(root: click.Context, words: tuple[str, ...]) -> click.Context:
    """The context of the command that `words` name, from the subcommand of `lull` on."""
    context = root
    for word in words:
        if not isinstance(context.command, click.Group):
            raise click.UsageError(f"{context.command_path} has no command {word!r}", context)
        name, command, _ = context.command.resolve_command(context, [word])
        assert command is not None
        context = click.Context(command, parent=context, info_name=name, **command.context_settings)
    return context
