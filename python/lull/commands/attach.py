"""`lull attach`: let the blocking calls of unmodified MPI programs wait by a policy."""

from __future__ import annotations

import os
from typing import NoReturn

import click

from lull.base.errors import UsageError, describe_os_error
from lull.base.installed import NotFoundError, find_program
from lull.base.native import checked_settings
from lull.mpi.preload import out_of_reach
from lull.mpi.waiting import policies, waiting_by


@click.command(
    context_settings={"allow_interspersed_args": False},
    short_help="Run MPI programs whose blocking calls wait by a policy.",
)
@click.option(
    "--wait",
    "policy",
    required=True,
    metavar="POLICY",
    help="How blocking calls wait; `lull settings` explains LULL_WAIT.",
)
@click.option(
    "--stats", is_flag=True, help="Print at the end what waiting cost, by operation and call site (LULL_STATS=1)."
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def attach(policy: str, stats: bool, command: tuple[str, ...]) -> NoReturn:
    """Run COMMAND; the blocking calls of its MPI programs wait by POLICY instead of polling.

    The programs and their results do not change. COMMAND replaces the process of lull, so signals reach it directly and
    its exit code is its own. POLICY is a value of LULL_WAIT, which `lull settings` explains:

    \b
        lull attach --wait adaptive -- mpirun -n 16 ./app
        lull measure -- lull attach --wait adaptive --stats -- mpirun -n 16 ./app
    """
    if policy not in policies():
        raise UsageError(f"attach --wait {policy}", "there is no such policy", f"choose one of {', '.join(policies())}")
    checked_settings()
    program = find_program(command[0])
    if hindrance := out_of_reach(command):
        click.echo(f"lull: attach: {hindrance}; it waits as its library does", err=True)
    environment = waiting_by(policy, os.environ, stats=stats, command=command)
    try:
        os.execvpe(program, command, environment)
    except OSError as error:
        raise NotFoundError(f"run {command[0]}", describe_os_error(error)) from error
