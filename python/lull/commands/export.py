"""`lull export`: export readings as metrics for Prometheus, or records as tidy tables."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lull.base.errors import LullError, UsageError
from lull.base.interrupts import Interrupts
from lull.base.native import checked_settings
from lull.base.whole_file import write_whole
from lull.jobs.spool import SPOOL
from lull.live.feed import Feed, feed_of, read_with_power
from lull.record import this_host

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

STDOUT = Path("-")
UNASKED_S = 60.0  # the feed is read at least this often, even without requests, so that the meter's memory is bounded


@click.command(short_help="Export readings to Prometheus, and records as CSV or Parquet.")
@click.argument("records", metavar="[RECORD]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--listen", metavar="HOST:PORT", help="Address to listen at, to serve metrics for Prometheus: 127.0.0.1:9464."
)
@click.option(
    "--textfile",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write metrics for node_exporter's textfile collector; the file is removed at the end.",
)
@click.option(
    "--every",
    "every_s",
    metavar="SECONDS",
    type=click.FloatRange(0.2, 3600),
    help="Interval between writes of --textfile.  [default: 15]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["csv", "parquet"]),
    help="Format of the output: one tidy table of the records, as CSV or Parquet.",
)
@click.option(
    "--to",
    "out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="File to write; - is standard output.  [default: -]",
)
@click.option("--regions", is_flag=True, help="Write a row for each region and domain instead of rows for whole runs.")
@click.option(
    "--sysroot",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Read below this folder instead of /.",
)
@click.option("--service", is_flag=True, help="Export the service of this node, lull-meterd, instead of the meter.")
@click.option(
    "--spool",
    metavar="DIR",
    type=click.Path(path_type=Path, readable=False),
    help=f"Folder of the service's rows, with --service.  [default: {SPOOL}]",
)
@click.option(
    "--collector",
    metavar="ADDRESS",
    help="HOST:PORT or socket of the collector whose jobs, as far as you may see them, to export.",
)
@click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Site's file, with --collector.  [default: /etc/lull/jobs.toml]",
)
def export(
    records: tuple[Path, ...],
    listen: str | None,
    textfile: Path | None,
    every_s: float | None,
    form: str | None,
    out: Path | None,
    regions: bool,
    sysroot: Path | None,
    service: bool,
    spool: Path | None,
    collector: str | None,
    site_file: Path | None,
) -> None:
    """Export readings or records to other programs, by one of three options.

    --listen and --textfile export the meter of this node until a signal stops them; for a RECORD that
    `lull measure --publish` is writing, they export the readings of that measurement; with --service or --collector,
    how this node is metered, or the jobs of the site. --format exports finished RECORDs.
    """
    asked = {"--listen": listen, "--textfile": textfile, "--format": form}
    chosen = [name for name, value in asked.items() if value is not None]
    if len(chosen) != 1:
        found = " and ".join(chosen) if chosen else "none of the three"
        raise UsageError("export", f"{found} given", "choose one of --listen, --textfile and --format")
    only: dict[str, tuple[object, str]] = {
        "--every": (every_s, "--textfile"),
        "--to": (out, "--format"),
        "--regions": (regions or None, "--format"),
    }
    needs: dict[str, tuple[object, object, str]] = {
        "--spool": (spool, service, "--service"),
        "--site": (site_file, collector, "--collector"),
        "--service": (form and service, False, "--listen or --textfile"),
        "--collector": (form and collector, False, "--listen or --textfile"),
    }
    for name, (value, is_there, of) in needs.items():
        if value and not is_there:
            raise UsageError(f"export {name}", f"it belongs to {of}", "leave it out")
    for name, (value, of) in only.items():
        if value is not None and of != chosen[0]:
            raise UsageError(f"export {name}", f"it belongs to {of}", "leave it out")
    if form is not None:
        if sysroot is not None:
            raise UsageError("export --sysroot", "records are read, no meter", "leave it out")
        _export_table(records, form, out or STDOUT, regions)
        return
    settings = checked_settings()
    to = Target(listen, textfile, 15.0 if every_s is None else every_s)
    if service or collector is not None:
        if records or sysroot is not None:
            found = "it reads no record and no meter"
            raise UsageError("export --service or --collector", found, "leave out RECORD and --sysroot")
        socket = Path(settings["LULL_SERVICE_SOCKET"]) if service else None
        _export_service(to, socket, spool or SPOOL, collector, site_file)
        return
    with _open(feed_of(records, sysroot)) as feed:
        _export_feed(to, feed)


@dataclass(frozen=True)
class Target:
    """Where metrics go: an address, or a file."""

    listen: str | None
    textfile: Path | None
    every_s: float

    def export(self, registry: CollectorRegistry, keep: Callable[[], object]) -> None:
        """Serve or write metrics until a signal stops it; `keep` is called once a minute even without requests."""
        from lull.live.prometheus import serving, write_textfile

        with Interrupts() as interrupts:
            if self.textfile is not None:
                write_textfile(registry, self.textfile, self.every_s, interrupts)
                return
            with serving(registry, self.listen or "") as url:
                click.echo(f"lull: metrics at {url}; Ctrl-C ends it", err=True)
                while interrupts.stop is None:
                    interrupts.wait(None, UNASKED_S)
                    with suppress(LullError):  # a measurement that ended; the metrics say so
                        keep()


def _export_feed(to: Target, feed: Feed) -> None:
    from lull.live.prometheus import Readings, registry_of

    read_with_power(feed)  # reports a mistake now, rather than as a failing target of Prometheus later
    to.export(registry_of(Readings(feed)), feed.read)


def _export_service(
    to: Target, socket: Path | None, spool: Path, collector: str | None, site_file: Path | None
) -> None:
    """Export the service at a socket, the jobs of a collector, or both.

    Neither need run yet: the metrics say so, and both may be started after the exporter.
    """
    from lull.jobs.collector_metrics import JobsMetrics
    from lull.jobs.connection import parse_address
    from lull.jobs.service_metrics import ServiceMetrics
    from lull.jobs.site import read_site
    from lull.live.prometheus import registry_of

    found: list[ServiceMetrics | JobsMetrics] = []
    if socket is not None:
        if str(socket) == "off":
            raise UsageError("export --service", "LULL_SERVICE_SOCKET is off", "unset it")
        found.append(ServiceMetrics(this_host().node, socket, spool))
    if collector is not None:
        found.append(JobsMetrics(read_site(site_file), parse_address(collector, "export --collector")))
    to.export(registry_of(*found), lambda: None)


@contextmanager
def _open(feed: Feed) -> Iterator[Feed]:
    try:
        yield feed
    finally:
        feed.close()


def _export_table(records: Sequence[Path], form: str, out: Path, regions: bool) -> None:
    if not records:
        raise UsageError("export --format", "no record was named", "name at least one")
    if out == STDOUT and form == "parquet" and sys.stdout.isatty():
        raise UsageError("export --format parquet", "a terminal cannot show it", "name a file with --to")
    from lull.record.table import as_csv, as_parquet, tidy_table

    table = tidy_table(records, regions=regions)
    content = as_csv(table) if form == "csv" else as_parquet(table)
    if out == STDOUT:
        sys.stdout.buffer.write(content)
    else:
        write_whole(out, content, "table", "--to")
