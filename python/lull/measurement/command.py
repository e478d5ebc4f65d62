"""One of the commands that a measurement runs: how it is run, where its record goes, and what came of it so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from lull import record
from lull.base.guard import Stream
from lull.measurement.repeat import Measured, compose_run
from lull.meter.meter import Meter
from lull.record import IdlePower, Repeat
from lull.record.append import add_repeats


@dataclass
class Command:
    """A command to be measured; repeats that have finished gather in it."""

    label: str
    argv: Sequence[str]
    folder: Path
    warmup: int = 0
    env: Mapping[str, str] = field(default_factory=dict)  # on top of ours
    cwd: Path | None = None
    factors: Mapping[str, str | int | float] = field(default_factory=dict)
    stdout: Stream = None  # where its output goes; None: to ours
    append: bool = False  # whether the record stands already, and these are further repeats of it
    finished: list[Measured] = field(default_factory=list)

    @property
    def repeats(self) -> list[Repeat]:
        """The repeats that have finished, warm-ups left out."""
        return [measured.repeat for measured in self.finished]

    def write(self, meter: Meter, hz: float, settings: Mapping[str, str], idle: Sequence[IdlePower]) -> None:
        """Write the record of the finished repeats, of which there must be one, or add them to it.

        Raises:
            LullError: The folder is taken or cannot be written, or its record is of something else.
        """
        in_force = {**settings, **{name: value for name, value in self.env.items() if name in settings}}
        run = compose_run(self.label, self.argv, meter, hz, in_force, self.repeats, self.factors, idle)
        samples = pa.concat_tables([measured.samples for measured in self.finished])
        (add_repeats if self.append else record.write)(self.folder, run, samples)
