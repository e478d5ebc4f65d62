"""`lull advise`: predict what each choice would cost and save a program."""

from __future__ import annotations

from pathlib import Path

import click

from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.present.quiet import quiet_option


@click.command(
    context_settings={"allow_interspersed_args": False},
    short_help="Predict what other choices would cost and save a program.",
)
@click.option(
    "--objective",
    metavar="WHAT",
    default="time",
    show_default=True,
    help="What to minimize: time, energy, edp, or energy@slowdown=2%.",
)
@click.option(
    "--on",
    metavar="MACHINE",
    default="here",
    show_default=True,
    help="The machine: here (what lull calibrate measured), one that comes with Lull, or machine.toml.",
)
@click.option("--runs", type=click.IntRange(min=1), default=3, show_default=True, help="Runs of CMD.")
@click.option("--verify", is_flag=True, help="Run the current and the advised settings alternately, twice as often.")
@click.option("--explain", is_flag=True, help="Print how each prediction is computed.")
@click.option("--fresh", is_flag=True, help="Start again instead of continuing what an interrupted call has left.")
@click.option(
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Folder of the measurements.  [default: results/advise-NAME-TIME]",
)
@format_option
@quiet_option
@click.argument("cmd", nargs=-1, type=click.UNPROCESSED, required=True)
def advise(
    objective: str,
    on: str,
    runs: int,
    verify: bool,
    explain: bool,
    fresh: bool,
    out: Path | None,
    form: str,
    cmd: tuple[str, ...],
) -> None:
    """Run CMD and predict what other choices would cost and save.

    The output of CMD goes to stderr. Instead of CMD, give the record of a run that counted its waits (LULL_STATS=1) or
    staged its output, or a trace, whose links on MACHINE are then simulated. Only choices that are better with their
    whole interval are advised. If nothing can be predicted, the command says what to measure.

    \b
        lull advise --objective energy@slowdown=2% --verify -- lull run -n 2 ./app
        lull advise --explain results/app-20261123-0500
        lull advise --on slingshot-4608 --objective energy trace
    """
    from lull.advice.describe import describe
    from lull.advice.request import AdviceRequest, answer

    found, folder = answer(AdviceRequest(cmd, objective, on, runs, verify, out, fresh))
    show_result(form, lambda: describe(found, explain=explain), lambda: found.model_dump_json(by_alias=True, indent=1))
    if folder is not None:
        say(f"measured in {folder}")
