"""`lull wait`: let the blocking calls of unmodified MPI programs wait by a policy."""

from __future__ import annotations

import os
from itertools import takewhile
from typing import NoReturn

import click

from lull.base.completing import one_of
from lull.base.errors import UsageError, describe_os_error
from lull.base.installed import NotFoundError, find_program
from lull.base.native import checked_settings
from lull.mpi.preload import out_of_reach
from lull.mpi.waiting import policies, waiting_by


class PolicyFirst(click.Command):
    """A command whose options may precede or follow its first argument; the second argument begins CMD."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the options first, then POLICY and CMD, where click itself would end the options at POLICY."""
        before, policy = _split(args)
        if policy and policy[0] != "--":
            after, cmd = _split(policy[1:])
            args = [*before, *after, "--", policy[0], *(cmd[1:] if cmd[:1] == ["--"] else cmd)]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """The arguments in the order in which the examples give them."""
        return ["POLICY", "[OPTIONS]", "[--]", "CMD..."]


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    """The options at the start of `words`, which have no values, and the rest, from "--" or the first argument."""
    options = list(takewhile(lambda word: word.startswith("-") and word != "--", words))
    return options, words[len(options) :]


@click.command(
    cls=PolicyFirst,
    context_settings={"allow_interspersed_args": False},
    short_help="Run MPI programs whose blocking calls wait by a policy.",
)
@click.argument("policy", shell_complete=one_of(policies))
@click.option(
    "--stats", is_flag=True, help="Print at the end what waiting cost, by operation and call site (LULL_STATS=1)."
)
@click.argument("cmd", nargs=-1, required=True, type=click.UNPROCESSED)
def wait(policy: str, stats: bool, cmd: tuple[str, ...]) -> NoReturn:
    """Run CMD; the blocking calls of its MPI programs wait by POLICY instead of polling.

    The programs and their results do not change. CMD replaces the process of lull, so signals reach it directly and its
    exit code is its own. POLICY is a value of LULL_WAIT, which `lull settings` explains:

    \b
        lull wait adaptive -- mpirun -n 16 ./app
        lull measure -- lull wait adaptive --stats -- mpirun -n 16 ./app
    """
    if policy not in policies():
        raise UsageError(f"wait {policy}", "there is no such policy", f"choose one of {', '.join(policies())}")
    checked_settings()
    program = find_program(cmd[0])
    if hindrance := out_of_reach(cmd):
        click.echo(f"lull: wait: {hindrance}; it waits as its library does", err=True)
    environment = waiting_by(policy, os.environ, stats=stats, command=cmd)
    try:
        os.execvpe(program, cmd, environment)
    except OSError as error:
        raise NotFoundError(f"run {cmd[0]}", describe_os_error(error)) from error
