"""The messages of a measurement on stderr: each repeat, the summary, and the comparison of the commands."""

from __future__ import annotations

from collections.abc import Sequence

from lull import record
from lull.base.errors import LullError
from lull.experiment.interleave import Turn
from lull.measurement.command import Command
from lull.measurement.repeat import MeasuredRepeat
from lull.measurement.summary import costs_in_words, share_in_words, summary_table
from lull.present.document import Document
from lull.present.messages import say
from lull.present.terminal import print_document
from lull.record import Repeat, Run
from lull.record.notes import notes_of_times


def print_repeat(turn: Turn[Command], measured: MeasuredRepeat, runs: int) -> None:
    """Print the time and energy of a finished repeat."""
    warmup = turn.of.warmup
    which = f"{turn.number + 1}/{max(runs, turn.number + 1)}"
    if turn.number < 0:
        which = f"warm-up {turn.number + warmup + 1}/{warmup}"
    energy = ", ".join(f"{total.domain.value} {total.joules:.4g} J" for total in measured.repeat.totals)
    say(f"{turn.of.label} {which}: {measured.repeat.wall_s:.4g} s" + (f", {energy}" if energy else ""))


def print_summary(title: str, repeats: Sequence[Repeat]) -> None:
    """Print the table of the repeats of one command."""
    print_document(Document(title, (summary_table(repeats),)), stderr=True)


def print_command(command: Command, *, heading: bool) -> int:
    """Print the summary of one command and the folder of its record; return its first exit code other than 0, or 0."""
    print_summary(command.label if heading else "", command.repeats)
    failed = [repeat for repeat in command.repeats if repeat.exit_code != 0]
    if failed:
        say(f"{len(failed)} of {len(command.repeats)} repeats failed, the first with exit code {failed[0].exit_code}")
    for line in [*costs_in_words(command.repeats), *notes_of_times(command.repeats)]:
        say(line)
    if line := share_in_words(record.read(command.folder)):
        say(line)
    say(f"record in {command.folder}")
    return failed[0].exit_code if failed else 0


def print_comparison(runs: Sequence[Run]) -> None:
    """Print what `lull compare` prints, with the first as the baseline; if they cannot be compared, the reason."""
    from lull.comparison.compare import compare_all
    from lull.comparison.describe import describe

    first, *others = runs
    try:
        found = compare_all(first, others)
    except LullError as error:
        say(str(error))
        return
    print_document(describe(found), stderr=True)
