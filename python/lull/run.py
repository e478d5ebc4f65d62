"""`lull run`: start a program on several PEs, on one node or on emulated ones."""

from __future__ import annotations

import os
from typing import NoReturn

import click

from lull import installed
from lull.errors import UsageError
from lull.native import checked_settings


@click.command(
    context_settings={"allow_interspersed_args": False}, short_help="Run a program on several PEs of this machine."
)
@click.option("-n", "pes", type=click.IntRange(min=1), required=True, help="Number of PEs (processes).")
@click.option(
    "--nodes",
    type=click.IntRange(min=1),
    help="Split the PEs into this many emulated nodes that talk only through UCX.",
)
@click.option("--bind/--no-bind", default=None, help="Bind each PE to cores of its own, or leave that to the system.")
@click.argument("app")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def run(pes: int, nodes: int | None, bind: bool | None, app: str, args: tuple[str, ...]) -> NoReturn:
    """Run APP on N PEs; options after APP are its own.

    APP is looked up on PATH, then as a path, then among the applications that come with Lull.
    """
    if nodes is not None and nodes > pes:
        raise UsageError("run on emulated nodes", f"{nodes} nodes are more emulated nodes than PEs, {pes}", "raise -n")
    program = installed.find_program(app)
    checked_settings()
    launcher = installed.executable("lull-launch")
    command = [str(launcher), "-n", str(pes)]
    if nodes is not None:
        command += ["--nodes", str(nodes)]
    if bind is not None:
        command.append("--bind" if bind else "--no-bind")
    os.execv(launcher, [*command, "--", str(program), *args])
