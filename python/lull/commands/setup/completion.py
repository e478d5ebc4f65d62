"""`lull completion`: let a shell complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script that lets SHELL complete commands, options and names.

    \b
    bash  lull completion bash > ~/.local/share/bash-completion/completions/lull
    zsh   lull completion zsh > a folder of $fpath/_lull
    fish  lull completion fish > ~/.config/fish/completions/lull.fish
    """
    of = get_completion_class(shell)
    assert of is not None
    made = of(click.get_current_context().find_root().command, {}, "lull", "_LULL_COMPLETE")
    click.echo(made.source_template % made.source_vars())
