"""What a measurement keeps on disk until it ends, so that the same command continues it after a kill.

The runs are in the records, which are whole at any moment. The state, in the folder of the record or of the records of
several commands, holds the conditions; it is written with the first record, and removed at the end.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from lull import record
from lull.base.content import files_named
from lull.base.errors import LullError, describe_os_error
from lull.base.text import readable
from lull.base.whole_file import mode_of_new
from lull.experiment.conditions import OF_A_CALL, Conditions, identified, value_to_compare
from lull.experiment.state import CONDITIONS, STATE, ExperimentState
from lull.experiment.unfinished import Wanted, find_unfinished
from lull.measurement.command import Command
from lull.measurement.repeat import MeasuredRepeat
from lull.record import RUN_FILE, SAMPLES_FILE, IdlePower, Run
from lull.record.append import check_alike
from lull.record.new_folder import check_free

WHAT = "measurement"
APPEND = "--append"
# Variables on which the behaviour of parallel programs depends: runs under different values do not belong together.
OF_PROGRAMS = ("OMP_", "KMP_", "GOMP_", "MKL_", "OPENBLAS_", "BLIS_", "OMPI_MCA_", "MPICH_", "I_MPI_", "UCX_", "FI_")


@dataclass(frozen=True)
class Target:
    """Where the records go.

    Args:
        folder: That of the record, or of the records of several commands.
        named: Whether the user has named it.
        several: Whether records are in folders of their labels below `folder`.
        fresh: Whether to begin anew, whatever an earlier call has left.
    """

    folder: Path
    named: bool
    several: bool = False
    fresh: bool = False


@dataclass
class Series:
    """The runs of a measurement on disk.

    Args:
        target: Where the records go.
        conditions: The present ones; None if nothing can be continued, because there is one run.
        state: That of the call that is continued.
    """

    target: Target
    conditions: Conditions | None
    state: ExperimentState | None = None
    idle: list[IdlePower] = field(default_factory=list)  # measured by the call that is continued
    resumed: bool = False

    @property
    def rounds(self) -> str:
        """The name of the rounds that several commands share; empty for one command."""
        begun = self.state.conditions if self.state is not None and self.state.conditions else self.conditions
        return begun.series if begun is not None and self.target.several else ""

    def write_first(self, folder: Path, run: Run, samples: pa.Table) -> None:
        """Write a record that does not exist yet, the first with the state.

        Raises:
            LullError: The folder is taken or cannot be written.
        """
        if self.conditions is None or self.state is not None:
            record.write(folder, run, samples)
        elif self.target.several:
            self._begin_folder()
            record.write(folder, run, samples)
        else:
            record.write(folder, run, samples, fill=self._begin)
            self.state_at(folder)

    def before_append(self) -> None:
        """Note the conditions in a record that exists, before its first additional run."""
        if self.conditions is None or self.resumed:
            return
        if self.state is None:
            self.state = ExperimentState(self.target.folder, WHAT, shared=True)
        self.state.begin(self.conditions)

    def state_at(self, folder: Path) -> None:
        """Note that the folder of the state has got this name."""
        if self.state is not None:
            self.state.out = folder

    def end(self) -> None:
        """Remove the state, because all runs are in the records."""
        if self.state is not None:
            self.state.end()

    def close(self) -> None:
        """Release the folder; what was measured can be continued unless `end` was called."""
        if self.state is not None:
            self.state.close()

    def _begin_folder(self) -> None:
        """Make the folder of several records, which is absent, or has its conditions."""
        folder = self.target.folder
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
            self._begin(aside)
            aside.chmod(mode_of_new(0o777))
            aside.rename(folder)
        except OSError as error:
            fix = "choose a folder you may write with --out"
            raise LullError(f"write the records in {folder}", describe_os_error(error), fix) from error
        self.state_at(folder)

    def _begin(self, folder: Path) -> None:
        assert self.conditions is not None
        self.state = ExperimentState(folder, WHAT, shared=True)
        self.state.begin(self.conditions)


def conditions_of(
    commands: Sequence[Command], hz: float, settings: Mapping[str, str], *, runs_before: int | None = None
) -> Conditions:
    """The conditions of a measurement: commands, settings, environment, node, and the content of programs and inputs.

    Args:
        commands: What is measured.
        hz: Readings per second.
        settings: Those of Lull in effect.
        runs_before: The runs of the record to which runs are added; None: there is no record yet.
    """
    described = [[c.label, list(c.argv), dict(c.env), str(c.cwd or ""), dict(c.factors)] for c in commands]
    known = {name: value_to_compare(value) for name, value in settings.items() if name not in OF_A_CALL}
    known |= {name: readable(value) for name, value in os.environ.items() if name.startswith(OF_PROGRAMS)}
    known |= {
        "the working directory": readable(str(Path.cwd())),
        "the number of CPUs": str(len(os.sched_getaffinity(0))),
    }
    return Conditions(
        what=WHAT,
        name=readable(", ".join(command.label for command in commands)),
        options=[] if runs_before is None else [APPEND],
        description=hashlib.sha256(json.dumps([hz, described], sort_keys=True).encode()).hexdigest(),
        settings=known,
        node=record.this_host().node,
        programs=identified({path for command in commands for path in _files_of(command)}),
        points=[readable(command.label) for command in commands] if len(commands) > 1 else [],
        runs_before={} if runs_before is None else {commands[0].label: runs_before},
    )


def open_series(
    commands: Sequence[Command],
    target: Target,
    conditions: Conditions | None,
    present: Callable[[Command], Run],
) -> tuple[Series, str]:
    """Find the measurement that an earlier call has left unfinished, and give the commands its runs.

    Args:
        commands: What to measure; those of a continued measurement get its runs and its folders.
        target: Where the records go.
        conditions: The present ones; None if there is one run, which cannot be continued.
        present: The record of a command without runs, as this call would write it.

    Returns:
        The series, and a line for the user; empty if there is nothing to say.

    Raises:
        LullError: The folder is taken, or holds an unfinished measurement of other conditions.
    """
    [append] = {command.append for command in commands}
    if append:
        return _open_appended(commands[0], target, conditions)
    found: ExperimentState | None = None
    line = ""
    if conditions is not None:

        def fits(folder: Path) -> None:
            for command in commands:
                at = _folder_of(command, folder, target)
                if at.exists():
                    check_alike(f"continue the measurement in {folder}", record.read(at), present(command))

        wanted = Wanted(target.folder, WHAT, target.named, target.fresh, tuple if target.several else _record_files)
        found, line = find_unfinished(wanted, conditions, fits)
    if found is None:
        check_free(target.folder)
        return Series(target, conditions), line
    series = Series(Target(found.out, named=True, several=target.several), conditions, found, resumed=True)
    for command in commands:
        command.folder = _folder_of(command, found.out, target)
        if command.folder.exists():
            run = record.read(command.folder)
            series.idle = list(run.idle)
            command.finished = _finished(run, record.read_samples(command.folder))
            command.saved = len(command.finished)
    return series, ""


def _open_appended(command: Command, target: Target, conditions: Conditions | None) -> tuple[Series, str]:
    """The series of runs that are added to a record: a new one, or the one that a killed call has begun."""
    if conditions is None or not (target.folder / STATE / CONDITIONS).exists():
        return Series(target, conditions), ""
    state = ExperimentState(target.folder, WHAT, shared=True)
    begun = state.conditions
    if target.fresh or begun is None:
        return Series(target, conditions, state), ""
    differences = begun.differences(conditions)
    if differences:
        return Series(target, conditions, state), f"what was begun there is not continued: {'; '.join(differences)}"
    run = record.read(target.folder)
    before = begun.runs_before.get(command.label, 0)
    added = [one.model_copy(update={"index": place}) for place, one in enumerate(run.repeats[before:])]
    command.finished = [MeasuredRepeat(repeat, record.SAMPLES_SCHEMA.empty_table()) for repeat in added]
    command.saved = len(command.finished)
    return Series(target, begun, state, resumed=True), ""


def _record_files() -> tuple[str, ...]:
    return (RUN_FILE, SAMPLES_FILE)


def _folder_of(command: Command, folder: Path, target: Target) -> Path:
    return folder / command.label if target.several else folder


def _files_of(command: Command) -> set[Path]:
    search = command.env.get("PATH")
    if command.cwd is None:
        return files_named(command.argv, search)
    inside = [
        str(command.cwd / word) if "/" in word or (command.cwd / word).is_file() else word for word in command.argv
    ]
    return files_named(inside, search)


def _finished(run: Run, samples: pa.Table) -> list[MeasuredRepeat]:
    import pyarrow.compute as pc  # takes a tenth of the start of `lull measure`

    return [
        MeasuredRepeat(repeat, samples.filter(pc.equal(samples.column("repeat"), repeat.index)))
        for repeat in run.repeats
    ]
