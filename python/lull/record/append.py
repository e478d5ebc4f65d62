"""Add repeats to an existing record: `lull measure --append REC`.

The record stays readable throughout. The samples are replaced first, by a larger table, and run.json after them: a
reader between the two finds the repeats that run.json names, with their samples. Only one process at a time adds to a
record; it holds the lock of the file .lock in it, which ends with the process.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa

from lull import record
from lull.base.errors import LullError, describe_os_error
from lull.base.file_lock import FileLock, Taken
from lull.base.parquet import write_table
from lull.base.text import readable
from lull.present.messages import say
from lull.record import RUN_FILE, SAMPLES_FILE, Run
from lull.record.files import as_samples, synced
from lull.record.merging import channels_of

REMEDY = "name a new record with --out"
LOCK = ".lock"
RETRY_S = 0.1


@contextmanager
def appending(folder: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the lock for adding to the record `folder`.

    Raises:
        LullError: The folder does not exist, or another process holds the lock for longer than `wait_s`.
    """
    asked = f"add to the record {folder}"
    end = time.monotonic() + wait_s
    while True:
        try:
            lock = FileLock(folder / LOCK)
            break
        except OSError as error:
            raise LullError(asked, describe_os_error(error), "measure a first run with --out") from error
        except Taken as error:
            if time.monotonic() >= end:
                raise LullError(asked, "another lull measure is adding to it", "wait until it has ended") from error
        time.sleep(RETRY_S)
    if not lock.works:
        say(f"the file system of {folder} has no locks; see that no other lull measure adds to this record")
    with lock:
        yield


def check_same(
    before: Run, folder: Path, command: Sequence[str], label: str | None, hz: float, settings: Mapping[str, str]
) -> str:
    """Check that the measurement to come repeats what the record holds; return the record's label.

    Raises:
        LullError: It does not; the line says what differs.
    """
    asked = f"add to the record {folder}"
    if [readable(word) for word in command] != before.command:
        raise LullError(asked, f"its command is {shlex.join(before.command)}", REMEDY)
    if label is not None and readable(label) != before.label:
        raise LullError(asked, f"its label is {before.label}, not {label}", "leave --label out, or " + REMEDY)
    if hz != before.sampling_hz:
        raise LullError(
            asked, f"it was read {before.sampling_hz:g} times a second, not {hz:g}", f"use --hz {before.sampling_hz:g}"
        )
    now = {name: readable(value) for name, value in settings.items() if name != "LULL_RECORD"}
    for name in dict.fromkeys([*before.settings, *now]):
        old, new = before.settings.get(name, ""), now.get(name, "")
        if old != new:
            raise LullError(asked, f"{name} was {old or 'not set'}, now it is {new or 'not set'}", REMEDY)
    return before.label


def add_repeats(folder: Path, more: Run, samples: pa.Table) -> Run:
    """Add the repeats of `more` to the record in `folder`, which the caller has locked with `appending`.

    Raises:
        LullError: Their nodes, sources or factors differ from those of the record, or they cannot be written.
    """
    import pyarrow.compute as pc  # takes a tenth of the start of `lull measure`

    asked = f"add to the record {folder}"
    before = record.read(folder)
    check_alike(asked, before, more)
    known = [repeat.index for repeat in before.repeats]
    first = max(known, default=-1) + 1
    repeats = [repeat.model_copy(update={"index": first + i}) for i, repeat in enumerate(more.repeats)]
    new_numbers = pa.array([repeat.index for repeat in more.repeats], pa.int32())
    place = pc.index_in(samples.column("repeat"), value_set=new_numbers)
    renumbered = samples.set_column(0, "repeat", pc.add(place, pa.scalar(first, pa.int32())))
    old = record.read_samples(folder)
    kept = old.filter(pc.is_in(old.column("repeat"), value_set=pa.array(known, pa.int32())))
    # More runs are not of the rounds that this record may share with others.
    update = {"repeats": [*before.repeats, *repeats], "idle": [*before.idle, *more.idle], "series": ""}
    after = before.model_copy(update=update)
    _replace(asked, folder, after, pa.concat_tables([kept, renumbered.cast(kept.schema)]))
    return after


def replace_record(folder: Path, run: Run, samples: pa.Table) -> None:
    """Replace an earlier state of a record, which has fewer repeats.

    Raises:
        LullError: It cannot be written; the earlier state remains.
    """
    _replace(f"add to the record {folder}", folder, run, as_samples(samples))


def _replace(asked: str, folder: Path, run: Run, samples: pa.Table) -> None:
    aside = [folder / f".{name}.aside" for name in (SAMPLES_FILE, RUN_FILE)]
    try:
        write_table(samples, aside[0])
        aside[1].write_text(run.model_dump_json(by_alias=True, indent=1) + "\n", encoding="utf-8")
        for path, name in zip(aside, (SAMPLES_FILE, RUN_FILE), strict=True):
            synced(path)
            path.rename(folder / name)
        synced(folder)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "its repeats so far are as they were") from error
    finally:
        for path in aside:
            with suppress(OSError):
                path.unlink(missing_ok=True)


def check_alike(asked: str, before: Run, more: Run) -> None:
    """Check that runs of `more` may belong to the record `before`.

    Raises:
        LullError: Versions, commands, factors, nodes or sources differ; the line begins with `asked`.
    """
    if more.lull_version != before.lull_version:
        raise LullError(asked, f"Lull {before.lull_version} measured it, this is {more.lull_version}", REMEDY)
    if more.command != before.command:
        raise LullError(asked, f"its command is {shlex.join(before.command)}", REMEDY)
    if more.factors != before.factors:
        raise LullError(asked, "its factors differ", REMEDY)
    old, new = ({host.node: host for host in run.hosts} for run in (before, more))
    if old.keys() != new.keys():
        raise LullError(asked, f"its nodes are {', '.join(old)}, these are {', '.join(new)}", REMEDY)
    for name, host in old.items():
        # A machine stays the same after a reboot.
        other = new[name].model_copy(update={"clock_error_s": host.clock_error_s, "boot_id": host.boot_id})
        if other != host:
            what = next(field for field in type(host).model_fields if getattr(host, field) != getattr(other, field))
            raise LullError(asked, f"{what} of {name} is {getattr(other, what)}, not {getattr(host, what)}", REMEDY)
    if channels_of(before) != channels_of(more):
        changed = sorted({f"{channel[1]} on {channel[0]}" for channel in channels_of(before) ^ channels_of(more)})
        raise LullError(asked, f"its sources are not these: {', '.join(changed[:4])} differ", REMEDY)
