"""`lull ship`: passes the rows of this node's spool on to the collector."""

from __future__ import annotations

import socket
from pathlib import Path

import click

from lull.base.errors import LullError
from lull.base.file_lock import Taken
from lull.jobs.connection import parse_address
from lull.jobs.shipping import ship as ship_rows
from lull.jobs.shipping import ship_to_folder
from lull.jobs.site import read_site
from lull.jobs.spool import SPOOL


@click.command(short_help="Send the rows of jobs from this node to the collector.")
@click.option(
    "--spool",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=SPOOL,
    show_default=True,
    help="Folder of rows, which lull-meterd writes.",
)
@click.option(
    "--collector", metavar="ADDRESS", help="HOST:PORT or socket of the collector, or a folder.  [default: the site's]"
)
@click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Site's file.  [default: /etc/lull/jobs.toml]",
)
def ship(spool: Path, collector: str | None, site_file: Path | None) -> None:
    """Send the rows that lull-meterd has written to the collector, once; a timer calls it every minute.

    A file is removed when the collector has its rows on disk. Without munge, ADDRESS is a folder that nodes share,
    which lull collect --spool reads.
    """
    site = read_site(site_file)
    where = collector or site.collector
    try:
        if where.startswith("/") and Path(where).is_dir():
            done = ship_to_folder(Path(where), spool, socket.gethostname())
            if done.files:
                click.echo(f"lull: {done.files} files moved to {where}", err=True)
            return
        done = ship_rows(site, parse_address(where, "ship rows"), spool)
    except Taken:
        click.echo(f"lull: another process ships {spool}", err=True)
        return
    except PermissionError as error:
        raise LullError(f"read the spool {spool}", "permission denied", "run as its user, lull, or root") from error
    if done.stored or done.known:
        known = f", {done.known} known already" if done.known else ""
        click.echo(f"lull: {done.stored} rows stored{known}", err=True)
    done.check(spool)
