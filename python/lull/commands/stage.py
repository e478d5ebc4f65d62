"""`lull stage`: choose the processes that write the output of unmodified MPI programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import click

from lull.base.errors import describe_os_error
from lull.base.installed import NotFoundError, find_program
from lull.base.native import checked_settings
from lull.mpi.preload import out_of_reach
from lull.stage.programs import StageRequest, staged_by
from lull.stage.selection import selected


@click.command(
    context_settings={"allow_interspersed_args": False},
    short_help="Run MPI programs whose output is written by dedicated ranks.",
)
@click.option(
    "--approach",
    required=True,
    metavar="APPROACH",
    help="time-partitioning, dedicated-cores=N (of each node), dedicated-nodes=N, or auto: the model chooses, from "
    "earlier runs of COMMAND; the number of ranks that the program sees may change (LULL_STAGE).",
)
@click.option(
    "--buffer",
    metavar="SIZE",
    help="Most bytes that one server may have outstanding, e.g. 512M (LULL_STAGE_BUFFER).",
)
@click.option(
    "--when-full",
    type=click.Choice(["wait", "write-yourself", "drop", "cheapest"]),
    help="What a process does when its share of the buffer is full (LULL_STAGE_WHEN_FULL).",
)
@click.option(
    "--fsync/--no-fsync",
    "sync",
    default=None,
    help="Whether a file is synced to disk before it gets its name (LULL_STAGE_FSYNC).",
)
@click.option(
    "--close",
    type=click.Choice(["go", "wait"]),
    help="Whether MPI_File_close waits until a file that several processes write is written (LULL_STAGE_CLOSE).",
)
@click.option(
    "--sync",
    "file_sync",
    type=click.Choice(["wait", "order"]),
    help="Whether MPI_File_sync waits, or only orders writes (LULL_STAGE_SYNC).",
)
@click.option(
    "--checksums",
    "verify",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    help="With dedicated-cores: read files that several processes write back at the end, and compare them with "
    "checksums of what was handed over, which are in this folder meanwhile; all nodes must see it "
    "(LULL_STAGE_VERIFY).",
)
@click.option(
    "--objective",
    type=click.Choice(["time", "energy", "edp"]),
    help="What to minimize by the choice of auto (LULL_STAGE_OBJECTIVE).",
)
@click.option(
    "--storage-limit",
    metavar="SIZE",
    help="For experiments: most bytes per second of all processes together, e.g. 20M (LULL_STAGE_STORAGE_LIMIT).",
)
@click.option(
    "--figures",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the table at the end to this file, as JSON (LULL_STAGE_FIGURES).",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def stage(
    approach: str,
    buffer: str | None,
    when_full: str | None,
    sync: bool | None,
    close: str | None,
    file_sync: str | None,
    verify: Path | None,
    objective: str | None,
    storage_limit: str | None,
    figures: Path | None,
    command: tuple[str, ...],
) -> NoReturn:
    """Run COMMAND; APPROACH decides which processes write the HDF5, netCDF-4 and MPI-IO files of its MPI programs.

    Dedicated ranks write for the others; the program sees a smaller MPI_COMM_WORLD and writes the same files.
    COMMAND replaces the process of lull, so signals reach it directly and its exit code is its own:

    \b
        lull stage --approach dedicated-cores=1 -- mpirun -n 16 ./app
        lull stage --approach auto -- mpirun -n 16 ./app
        lull measure -- lull stage --approach time-partitioning -- mpirun -n 15 ./app
    """
    request = StageRequest(
        approach,
        buffer,
        when_full,
        sync,
        storage_limit,
        (figures,) if figures else (),
        objective,
        close=close,
        file_sync=file_sync,
        verify=verify,
    )
    request, why = selected(request, command, os.environ)
    environment = staged_by(request, os.environ, command=command)
    os.environ.update({name: value for name, value in environment.items() if name.startswith("LULL_STAGE")})
    checked_settings()
    program = find_program(command[0])
    if why:
        click.echo(f"lull: stage: {why}", err=True)
    if hindrance := out_of_reach(command):
        click.echo(f"lull: stage: {hindrance}; it writes by itself", err=True)
    try:
        os.execvpe(program, command, environment)
    except OSError as error:
        raise NotFoundError(f"run {command[0]}", describe_os_error(error)) from error
