"""`lull jobs`: the energy of jobs that the service has metered."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from lull.base.errors import LullError, UsageError
from lull.jobs.connection import ask, parse_address
from lull.jobs.describe import View, describe, describe_page
from lull.jobs.question import MOST_JOBS, Answer, By, Question, moment
from lull.jobs.site import id_of, name_of, read_site
from lull.present.forms import format_option, show_result


@click.command(short_help="Show the energy of your jobs, which lull-meterd has metered.")
@click.argument("job", required=False)
@click.option("--since", metavar="WHEN", help="Jobs that began then or later: 2026-11-01, monday, yesterday, 7d.")
@click.option("--until", metavar="WHEN", help="Jobs that began before.")
@click.option("--by", type=click.Choice([one.value for one in By]), help="Sum the jobs of each user, project or day.")
@click.option("--project", help="Jobs of this project.")
@click.option("--uid", metavar="USER", help="Jobs of this user, a name or a number.")
@click.option("--last", "most", type=click.IntRange(1, MOST_JOBS), help="Show so many jobs, the newest.  [default: 50]")
@format_option
@click.option("--collector", metavar="ADDRESS", help="HOST:PORT or socket of the collector.  [default: the site's]")
@click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Site's file.  [default: /etc/lull/jobs.toml]",
)
def jobs(
    job: str | None,
    since: str | None,
    until: str | None,
    by: str | None,
    project: str | None,
    uid: str | None,
    most: int | None,
    form: str,
    collector: str | None,
    site_file: Path | None,
) -> None:
    """Show the energy of your newest jobs; with JOB, of one by node and domain; with --by, sums.

    The interval contains the uncertainty of meters and of the division among jobs that share a node. Energies of
    different kinds are never added up: a sum has a line for each kind.
    """
    site = read_site(site_file)
    address = parse_address(collector or site.collector, "show jobs")
    question = _question(
        job=job,
        by=by,
        since=since,
        until=until,
        project=project,
        uid=None if uid is None else id_of(uid, "--uid"),
        most=most,
    )
    found = ask(site, address, question, Answer)
    if job is not None and not found.jobs:
        fix = "the row of a job arrives a minute or two after its end"
        raise LullError(f"show job {job}", "there is none that you may see", fix)
    view = View(name=name_of)
    show_result(
        form,
        lambda: (describe_page if form == "html" else describe)(found, question, view),
        lambda: found.model_dump_json(exclude_none=True, exclude_defaults=True, indent=1),
    )


def _question(
    *,
    job: str | None,
    by: str | None,
    since: str | None,
    until: str | None,
    project: str | None,
    uid: int | None,
    most: int | None,
) -> Question:
    if job is not None and (by is not None or since is not None or until is not None or most is not None):
        raise UsageError(f"show job {job}", "options for several jobs given", "leave out JOB, or the options")
    if by is not None and most is not None:
        raise UsageError("show jobs --last", "sums are of all jobs", "leave it out, or use --since")
    if job is not None and not (0 < len(job) < 256 and job.isprintable()):
        raise UsageError("show a job", f"{job!r} is no id of a job")
    now = datetime.now().astimezone()
    return Question(
        ask="sums" if by else "jobs" if job is None else "job",
        job=job,
        by=None if by is None else By(by),
        since_s=None if since is None else moment(since, now, "--since"),
        until_s=None if until is None else moment(until, now, "--until"),
        project=project,
        uid=uid,
        most=50 if most is None else most,
    )
