"""`lull measure` as a rank of a job: `mpirun -n 8 lull measure --out REC -- ./app`.

The wrapper of each rank runs its own command, under a guard, with its own input, output, signals and exit code. One
wrapper on each node reads the meter (`lull.job.node_agent`), and one of these writes the record
(`lull.job.node_exchange`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lull import record
from lull.base.errors import OWN_FAILURE, LullError, UsageError
from lull.base.guard import GRACE_S, CannotExecuteError, run_guarded
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.text import readable
from lull.job.launchers import JobRank
from lull.job.node import this_node
from lull.job.node_agent import Job, NodeAgent
from lull.job.node_exchange import NodeExchange
from lull.job.part import MeasurementRequest, Report
from lull.measurement.messages import print_summary
from lull.measurement.summary import costs_in_words
from lull.present.messages import say
from lull.record.append import add_repeats, appending, check_same
from lull.record.merging import MergedRecord, merge
from lull.regions.accounts import keep_those_of, read_accounts
from lull.regions.scratch import scratch_folder


@dataclass
class Delivery:
    """What the wrapper that merges the parts does with them."""

    job: Job
    append: bool
    merged: MergedRecord | None = None
    notes: list[str] = field(default_factory=list)

    def deliver(self, shared: NodeExchange) -> None:
        """Merge the parts that nodes have submitted, and write or extend the record.

        Raises:
            LullError: It cannot be written.
        """
        merged = merge(shared.parts(), self.job.place.size, alone=not shared.knows_others())
        self.merged = merged
        if merged.run is None:
            return
        if not self.append:
            record.write(self.job.target, merged.run, merged.samples)
            return
        with appending(self.job.target, self.job.timeout_s):
            if shared.is_over():  # a node that was believed dead has done it already
                return
            add_repeats(self.job.target, merged.run, merged.samples)


def measure_rank(
    place: JobRank,
    command: Sequence[str],
    *,
    label: str,
    target: Path,
    append: bool,
    hz: float,
    settings: Mapping[str, str],
) -> int:
    """Run this rank's command and take part in measuring the job.

    Returns:
        The exit code of the command; 1 instead of 0 for the rank that writes the record if a rank left no report.

    Raises:
        InterruptedBySignal: A signal asked to stop.
        LullError: The meter, the guard or the other nodes failed.
    """
    identity = this_node()
    asked = MeasurementRequest(label, command, hz, settings, place.size)
    job = Job(place, target.absolute(), asked, float(settings["LULL_NODE_TIMEOUT_S"]))
    delivery = Delivery(job, append)
    agent = NodeAgent(job, identity, delivery.deliver)
    with Interrupts() as interrupts:
        agent.start()
        while not agent.may_begin and interrupts.stop is None:
            if agent.ended:
                raise LullError("measure a rank", "its node ended before it began")
            _wait(agent, interrupts, None)
        if interrupts.stop is None:
            report = _run(place, command, identity.host.node, interrupts)
        else:
            report = _stopped(place, datetime.now(UTC), 128 + interrupts.stop)
        agent.report(report)
        _finish(agent, interrupts)
    if interrupts.stop is not None and report.exit_code == 0:
        raise InterruptedBySignal("measure", interrupts.stop)
    return _conclude(delivery, report)


def _run(place: JobRank, command: Sequence[str], node: str, interrupts: Interrupts) -> Report:
    """Run the command; there is a report however it ends."""
    started = datetime.now(UTC)
    with scratch_folder() as folder:
        try:
            ending = run_guarded(command, env={**os.environ, "LULL_RECORD": str(folder)}, interrupts=interrupts)
        except CannotExecuteError as error:
            return Report(rank=place.rank, started=started, exit_code=error.exit_code, ending=None)
        except InterruptedBySignal as error:
            return _stopped(place, started, error.exit_code)
        found = keep_those_of(node, read_accounts(folder))
    accounts = [account if account.pe is not None else account.of_pe(place.rank) for account in found.accounts]
    return Report(
        rank=place.rank,
        started=started,
        exit_code=ending.exit_code,
        ending=ending,
        accounts=accounts,
        waiting=found.waiting,
        output=found.output,
        choices=found.choices,
        visits_missing=found.visits_missing,
        warnings=found.warnings,
        cpus=sorted(os.sched_getaffinity(0)),
    )


def _stopped(place: JobRank, started: datetime, exit_code: int) -> Report:
    return Report(rank=place.rank, started=started, exit_code=exit_code, ending=None, interrupted=True)


def _finish(agent: NodeAgent, interrupts: Interrupts) -> None:
    """Wait until the record is written; after a signal that asks to stop, only for the grace period."""
    already = interrupts.stop is not None
    deadline = time.monotonic() + GRACE_S if already else None
    while not agent.ended:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            agent.abandon()
            raise InterruptedBySignal("measure", interrupts.stop or 0)
        _wait(agent, interrupts, left)
        if interrupts.stop is not None and deadline is None:
            deadline = time.monotonic() + GRACE_S


def _wait(agent: NodeAgent, interrupts: Interrupts, seconds: float | None) -> None:
    interrupts.wait(agent.news, seconds)
    with suppress(BlockingIOError):
        os.eventfd_read(agent.news)


def _conclude(delivery: Delivery, report: Report) -> int:
    """In the wrapper that wrote the record, print the result; return the exit code of this rank."""
    merged, job = delivery.merged, delivery.job
    if merged is None:
        return report.exit_code
    for line in merged.problems:
        say(line)
    if merged.run is None:
        say("no record: no rank ran to its end")
    else:
        print_summary("", merged.run.repeats)
        for line in costs_in_words(merged.run.repeats):
            say(line)
        say(f"{'added to the record' if delivery.append else 'record'} in {job.target}")
    return report.exit_code or (OWN_FAILURE if merged.missing else 0)


def target_of(place: JobRank, label: str, out: Path | None, append: Path | None) -> Path:
    """The folder of the record, which every rank of the job must derive by itself.

    Raises:
        UsageError: No folder is named, and the job has no name from which to derive one.
    """
    named = append if append is not None else out
    if named is not None:
        return named
    if not place.job:
        raise UsageError(
            "measure the ranks of a job", f"{place.launcher} gives the job no name", "name a folder with --out"
        )
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in place.job)[:60].strip("-")
    return Path("results") / f"{label}-{name}"


def refuse(place: JobRank, options: Sequence[str]) -> None:
    """Refuse options that a rank of a job cannot follow.

    Raises:
        UsageError: `options` names one.
    """
    if options:
        raise UsageError(
            f"measure {options[0]}",
            f"{place.launcher} started this as one rank of a job, which cannot control the others",
            f"leave it out, or run lull measure {options[0]} ... -- mpirun ...",
        )


def measure(
    place: JobRank,
    command: Sequence[str],
    *,
    runs: int,
    warmup: int,
    label: str | None,
    out: Path | None,
    append: Path | None,
    hz: float,
    settings: Mapping[str, str],
) -> int:
    """The command `lull measure`, started by a launcher; options as there.

    Raises:
        UsageError: Several runs are requested: a rank of a parallel program can be started only once.
        LullError: The record cannot be written or added to.
    """
    if runs > 1 or warmup > 0:
        raise UsageError(
            "measure several runs",
            f"{place.launcher} starts each rank once, and a parallel program cannot begin twice in one rank",
            "start the launcher once for each run, with --append DIR, or run lull measure --runs N -- mpirun ...",
        )
    name = readable(label or Path(command[0]).name)
    target = target_of(place, name, out, append)
    if append is not None:
        name = check_same(record.read(target), target, command, label, hz, settings)
    elif target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise LullError(
            f"write the record {target}", "it exists already", "name another folder with --out or remove it"
        )
    return measure_rank(place, command, label=name, target=target, append=append is not None, hz=hz, settings=settings)
