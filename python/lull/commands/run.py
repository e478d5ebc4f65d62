"""`lull run`: start a program on several PEs, on one node, on emulated nodes, or on virtual hosts."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from lull.base import installed
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings
from lull.hosts.mpirun import run_on_hosts
from lull.hosts.virtual import MOST_HOSTS, hosts_for_job


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Run a program on several PEs of this machine."
)
@click.option("-n", "-np", "number", type=click.IntRange(min=1), help="Number of PEs (processes).")
@click.option("--per-node", type=click.IntRange(min=1), help="Processes on each node or host, instead of -n.")
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    help="Nodes of the job, emulated: they communicate only through UCX.",
)
@click.option(
    "--hosts",
    type=click.IntRange(min=1, max=MOST_HOSTS),
    help="Create this many virtual hosts, joined by links, and start the PEs there by mpirun (needs root); "
    "within `lull hosts`, use this many of its hosts.",
)
@click.option("--rate", help="Rate at which each host may send, in the notation of tc: 1gbit.  [default: no limit]")
@click.option(
    "--bind/--no-bind",
    default=None,
    help="Distribute the cores over the PEs, with --hosts over the hosts: a share for each, or one core for several if "
    "there are too few; or let the system place them.",
)
@click.argument("app", shell_complete=one_of(installed.applications))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(
    number: int | None,
    per_node: int | None,
    nodes: int | None,
    hosts: int | None,
    rate: str | None,
    bind: bool | None,
    app: str,
    args: tuple[str, ...],
) -> NoReturn:
    """Run APP on some PEs; options after APP are its own.

    APP is looked up on PATH, then as a path, then among the applications that come with Lull.
    """
    if (number is None) == (per_node is None):
        found = "both -n and --per-node are given" if number is not None else "neither -n nor --per-node is given"
        raise UsageError("run PEs", found, "give either -n or --per-node")
    pes = number or (per_node or 1) * (hosts or nodes or 1)
    if nodes is not None and nodes > pes:
        raise UsageError("run on emulated nodes", f"{nodes} nodes are more emulated nodes than PEs, {pes}", "raise -n")
    if hosts is not None and hosts > pes:
        raise UsageError("run on hosts", f"{hosts} hosts are more than PEs, {pes}", "raise -n")
    if hosts is not None and nodes is not None:
        raise UsageError(
            "run on hosts", "--hosts and --nodes are both given", "choose one; LULL_NODES splits each host"
        )
    if rate is not None and hosts is None:
        raise UsageError(f"run with links of {rate}", "there are no hosts to link", "give their number with --hosts")
    program = installed.find_program(app)
    checked_settings()
    if hosts is not None:
        with Interrupts() as interrupts, hosts_for_job(hosts, rate) as made:
            command = [str(program), *args]
            code = run_on_hosts(made, pes, command, env=os.environ, bind=bind is not False, interrupts=interrupts)
        sys.exit(code)
    launcher = installed.launcher()
    command = [str(launcher), "-n", str(pes)]
    if nodes is not None:
        command += ["--nodes", str(nodes)]
    if bind is not None:
        command.append("--bind" if bind else "--no-bind")
    os.execv(launcher, [*command, "--", str(program), *args])
