"""`lull hosts`: keep virtual hosts while a command runs, for any number of jobs."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from lull.base.guard import CannotExecuteError, run_guarded
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings
from lull.hosts.virtual import MOST_HOSTS, Link, as_environment, virtual_hosts


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Keep virtual hosts while a command runs."
)
@click.option("-n", "count", type=click.IntRange(min=1, max=MOST_HOSTS), required=True, help="Number of hosts.")
@click.option("--rate", help="Rate at which each host may send, in the notation of tc: 1gbit.  [default: no limit]")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def hosts(count: int, rate: str | None, command: tuple[str, ...]) -> NoReturn:
    """Create N virtual hosts (Linux namespaces) joined by a switch, run COMMAND here, and remove them. Needs root.

    In COMMAND, `lull run --hosts K` starts its PEs on the first K hosts, and LULL_WIRE_INTERFACES names the ports of
    the switch, so that the meter counts the bytes on the links. All energy is that of this machine:

    \b
        lull hosts -n 4 --rate 1gbit -- lull measure -- lull run --hosts 4 -n 8 histogram
    """
    checked_settings()
    with Interrupts() as interrupts, virtual_hosts(count, Link(rate), switch=True) as made:
        try:
            ending = run_guarded(command, env={**os.environ, **as_environment(made)}, interrupts=interrupts)
            code = ending.exit_code
        except CannotExecuteError as error:  # the guard has printed the reason
            code = error.exit_code
    sys.exit(code)
