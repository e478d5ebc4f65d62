"""`lull collect`: the store of a site's jobs, which takes rows from nodes and answers `lull jobs`."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack
from pathlib import Path

import click

from lull.base.errors import LullError, UsageError
from lull.base.file_lock import Taken
from lull.base.interrupts import Interrupts
from lull.jobs.collector import Collector, complain
from lull.jobs.connection import parse_address
from lull.jobs.credential import Munge
from lull.jobs.listening import listen_at_port, listen_at_socket
from lull.jobs.periods import DAY_S
from lull.jobs.price import Prices
from lull.jobs.shipping import collect_folder
from lull.jobs.site import read_site
from lull.jobs.store import Store

STORE = Path("/var/lib/lull/jobs.sqlite")
SOCKET = Path("/run/lull-collect/jobs")


@click.command(short_help="Store the rows of jobs that nodes send, and answer lull jobs.")
@click.option(
    "--store",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=STORE,
    show_default=True,
    help="File of the store.",
)
@click.option(
    "--socket",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=SOCKET,
    show_default=True,
    help="Socket for this machine.",
)
@click.option("--listen", metavar="HOST:PORT", help="Address to listen at, too, for nodes and users, by munge.")
@click.option(
    "--spool",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of rows to store, too: one that nodes share, or this machine's spool.",
)
@click.option(
    "--every",
    "every_s",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    default=10.0,
    show_default=True,
    help="Interval between readings of --spool.",
)
@click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Site's file.  [default: /etc/lull/jobs.toml]",
)
@click.option(
    "--archive",
    is_flag=True,
    help="Move details of old jobs from the store to Parquet files next to it, and end; a collector may be running.",
)
@click.option(
    "--keep",
    "keep_days",
    metavar="DAYS",
    type=click.IntRange(1, 36_500),
    help="With --archive: leave the months in which these last days are.  [default: 400]",
)
def collect(
    store: Path,
    socket: Path,
    listen: str | None,
    spool: Path | None,
    every_s: float,
    site_file: Path | None,
    archive: bool,
    keep_days: int | None,
) -> None:
    """Store the rows of jobs that nodes send, and answer the questions of lull jobs, until a signal stops it.

    The site's file says who may send rows, who sees which jobs, and what energy costs. The kernel or munge says who
    asks.
    """
    if archive:
        if listen is not None or spool is not None:
            raise UsageError("collect --archive", "it takes no rows", "leave out --listen and --spool")
        _archive(store, 400 if keep_days is None else keep_days)
        return
    if keep_days is not None:
        raise UsageError("collect --keep", "it belongs to --archive", "leave it out")
    site = read_site(site_file)
    address = None if listen is None else parse_address(listen, "listen")
    if address is not None and address.path:
        raise UsageError("listen", f"{listen!r} is not HOST:PORT", "--socket names the socket")
    munge = None if address is None else Munge(site.munge_socket)
    if address is not None and site.collector_uid() != os.geteuid():
        found = f"this is user {os.geteuid()}, and what is sent can be read by {site.collector_user} alone"
        raise UsageError("listen", found, "run it as that user, or set collector_user in the site's file")
    os.umask(0o077)  # of the store
    rights = site.rights()
    collector = Collector(store, rights, Prices(price=site.price, carbon=site.carbon))
    with ExitStack() as stack, Interrupts() as interrupts:
        stack.callback(collector.close)
        stack.callback(socket.unlink, missing_ok=True)
        stack.callback(listen_at_socket(collector, socket).close)
        places = [str(socket)]
        if address is not None and munge is not None:
            listener, address = listen_at_port(collector, address, munge)
            stack.callback(listener.close)
            places.append(str(address))
        complain(f"collecting into {store}, at {' and '.join(places)}; Ctrl-C ends it")
        failing = ""
        while interrupts.stop is None:
            if spool is not None:
                failing = _read(collector, spool, rights.senders, failing)
            interrupts.wait(None, every_s if spool is not None else None)


def _archive(path: Path, keep_days: int) -> None:
    from lull.jobs.archiving import archive

    if not path.exists():
        raise UsageError(f"archive old jobs of {path}", "there is no such store", "name it with --store")
    os.umask(0o077)  # of the files
    with Store(path) as store:
        try:
            done = archive(store, int(time.time()) // DAY_S - keep_days)
        except Taken as error:
            raise LullError(f"archive old jobs of {path}", "another process does", "wait for its end") from error
    complain(
        f"details of jobs on {done.nodes} nodes moved into {len(done.files)} files"
        if done.nodes
        else "nothing to archive"
    )
    for file in done.files:
        complain(f"written: {file}")


def _read(collector: Collector, spool: Path, owners: frozenset[int], failing: str) -> str:
    """Store what is in the folder. Returns the failure in words, which is reported when it changes."""
    try:
        collect_folder(collector, spool, owners)
    except Taken:
        return failing
    except LullError as error:
        if str(error) != failing:
            complain(str(error))
        return str(error)
    return ""
