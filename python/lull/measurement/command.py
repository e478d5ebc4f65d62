"""One of the commands that a measurement runs: how it runs, where its record goes, and its results so far."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from lull import record
from lull.base.guard import Stream
from lull.measurement.repeat import MeasuredRepeat, compose_run
from lull.meter.meter import Meter
from lull.record import IdlePower, Repeat
from lull.record.append import add_repeats, replace_record
from lull.record.new_folder import default_folder


class Keeping(Protocol):
    """What a measurement keeps next to its records; see `lull.measurement.series`."""

    def write_first(self, folder: Path, run: record.Run, samples: pa.Table) -> None:
        """Write a record that does not exist yet."""

    def before_append(self) -> None:
        """Called before a run is added to a record that existed before."""


@dataclass(frozen=True)
class Recording:
    """What is the same for all records of a measurement."""

    meter: Meter
    hz: float
    settings: Mapping[str, str]
    idle: Sequence[IdlePower] = ()
    series: str = ""  # names the rounds that several commands share
    may_rename: bool = False  # whether a record may go to another folder if its own has been taken since


@dataclass
class Command:
    """A command to measure; it collects the finished repeats."""

    label: str
    argv: Sequence[str]
    folder: Path
    warmup: int = 0
    env: Mapping[str, str] = field(default_factory=dict)  # added to ours
    cwd: Path | None = None
    factors: Mapping[str, str | int | float] = field(default_factory=dict)
    stdout: Stream = None  # where its output goes; None: ours
    append: bool = False  # whether the record exists already, and gets these repeats added
    finished: list[MeasuredRepeat] = field(default_factory=list)
    saved: int = 0  # number of finished repeats that are on disk

    @property
    def repeats(self) -> list[Repeat]:
        """The finished repeats, without warm-ups."""
        return [measured.repeat for measured in self.finished]

    def save(self, how: Recording, series: Keeping) -> None:
        """Write every finished repeat to disk, into a new record or the existing one.

        They survive if the measurement is killed afterwards. The record is whole at any moment.

        Raises:
            LullError: The folder is taken or cannot be written, or its record is of another command.
        """
        if self.saved == len(self.finished):
            return
        if self.append:
            series.before_append()
            new = self.finished[self.saved :]
            samples = pa.concat_tables([measured.samples for measured in new])
            add_repeats(self.folder, self.run_of(how, new, () if self.saved else how.idle), samples)
        else:
            run = self.run_of(how, self.finished, how.idle)
            samples = pa.concat_tables([measured.samples for measured in self.finished])
            if self.saved and self.folder.exists():
                replace_record(self.folder, run, samples)
            else:
                if how.may_rename and self.folder.exists():  # another measurement has taken the name since
                    self.folder = default_folder(self.label, datetime.now())
                series.write_first(self.folder, run, samples)
        self.saved = len(self.finished)

    def discard(self) -> None:
        """Remove a new record; an existing one keeps the repeats that were added."""
        if self.saved and not self.append:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):
                self.folder.parent.rmdir()  # the folder of several records, if it is empty
            self.saved = 0

    def run_of(
        self, how: Recording, finished: Sequence[MeasuredRepeat] = (), idle: Sequence[IdlePower] = ()
    ) -> record.Run:
        """The content of run.json for these runs."""
        in_force = {**how.settings, **{name: value for name, value in self.env.items() if name in how.settings}}
        repeats = [measured.repeat for measured in finished]
        return compose_run(self.label, self.argv, how.meter, how.hz, in_force, repeats, self.factors, idle, how.series)
