"""Convert the recordings of a run's processes to an OTF2 archive, or merge them into one file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from lull import _core
from lull.base.errors import LullError, describe_os_error
from lull.base.native import native_errors
from lull.base.whole_file import write_whole
from lull.record import Channel
from lull.trace.account import Progress, require_otf2

ANCHOR = "traces.otf2"
MERGED = "traces.lulltrace"
MERGED_SUFFIX = ".lulltrace"
RAW = "raw"


def convert(folder: Path, *, keep_raw: bool, progress: Progress | None = None) -> _core.TraceConversion:
    """Make the archive of a folder with the recordings of a run.

    Args:
        folder: The folder that LULL_TRACE named, or a merged trace or its folder; the archive is written into the
            folder, and replaces an earlier one.
        keep_raw: Whether to keep the recordings of the processes; a merged trace is kept always.
        progress: Called with the records done and their total; if it returns False, the conversion ends with an error.

    Raises:
        LullError: Nothing was recorded there, or the archive cannot be written.
    """
    asked = f"convert the trace {folder}"
    require_otf2(asked)
    source = _recordings_in(folder, asked)
    with native_errors():
        made = _core.convert_trace(str(source), str(source.parent), progress)
    if not keep_raw and source.name == RAW:
        shutil.rmtree(source, ignore_errors=True)
    return made


def merge(folder: Path, out: Path | None, *, keep_raw: bool, progress: Progress | None = None) -> _core.TraceMerging:
    """Merge the recordings of a run into one file.

    Args:
        folder: The folder that LULL_TRACE named.
        out: The file, which is replaced if it exists; None: `MERGED` in the folder.
        keep_raw: Whether to keep the recordings of the processes; they are kept, too, if a part of them was lost.
        progress: Called with the steps done and their total; if it returns False, merging ends with an error.

    Raises:
        LullError: Nothing was recorded there, or the file cannot be written.
    """
    asked = f"merge the trace {folder}"
    require_otf2(asked)
    raw = folder / RAW
    if not raw.is_dir():
        raise LullError(asked, _why_no_recordings(folder), "name a folder with recordings; --keep-raw keeps them")
    target = out or folder / MERGED
    if target.suffix != MERGED_SUFFIX:
        raise LullError(asked, f"{target} does not end in {MERGED_SUFFIX}", f"name a file that ends in {MERGED_SUFFIX}")
    with native_errors():
        made = _core.merge_trace(str(raw), str(target), progress)
    if not keep_raw and not made.remarks:
        shutil.rmtree(raw, ignore_errors=True)
    return made


def _recordings_in(folder: Path, asked: str) -> Path:
    """Where the recordings are: a folder `raw`, or a merged trace."""
    if folder.suffix == MERGED_SUFFIX and folder.is_file():
        return folder
    for source in (folder / RAW, folder / MERGED):
        if source.exists():
            return source
    raise LullError(asked, _why_no_recordings(folder), "name the folder that LULL_TRACE named while the program ran")


def _why_no_recordings(folder: Path) -> str:
    if (folder / ANCHOR).exists():
        return "it is converted already"
    return "it is merged already" if (folder / MERGED).exists() else "nothing was recorded there"


def leave_energy(folder: Path, node: str, channels: Sequence[Channel], samples: pa.Table, begin_ns: int) -> None:
    """Add the meter's readings to the recordings of a run, so that they become metrics of the archive.

    Args:
        folder: The folder of the trace.
        node: The node of the meter.
        channels: Its channels.
        samples: Rows of samples.parquet of one repeat.
        begin_ns: CLOCK_MONOTONIC when the repeat began.
    """
    wanted = [channel for channel in channels if channel.node == node]
    columns: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    names = np.asarray(samples["channel"].to_pylist(), dtype=object)
    times, joules = samples["time_s"].to_numpy(), samples["joules"].to_numpy()
    for channel in wanted:
        of = names == channel.name
        columns[channel.name] = (times[of], joules[of])
    ticks = np.unique(np.concatenate([of for of, _ in columns.values()])) if columns else np.zeros(0)
    read = [channel for channel in wanted if len(columns[channel.name][0]) > 0]
    content = {
        "host": node,
        "channels": [{"name": c.name, "domain": c.domain.value, "kind": c.kind.value} for c in read],
        "time_ns": [begin_ns + round(float(t) * 1e9) for t in ticks],
        "joules": [np.interp(ticks, *columns[c.name]).tolist() for c in read],
    }
    write_whole(folder / RAW / f"{node}.energy", json.dumps(content).encode(), "energy of the trace", "--out")


def has_records(folder: Path) -> bool:
    """Whether any process has recorded something."""
    return any(path.suffix in (".records", ".folded") for path in (folder / RAW).iterdir())


def make_room(folder: Path) -> None:
    """Create the folder of a trace, with its subfolder `raw`; it must not contain a trace yet.

    Raises:
        LullError: The folder contains something, or cannot be created.
    """
    asked = f"record a trace in {folder}"
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise LullError(asked, "it exists already", "name another folder with --out or remove it")
        (folder / RAW).mkdir(parents=True)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error


def is_trace(folder: Path) -> bool:
    """Whether a folder contains an archive or a merged trace."""
    return (folder / ANCHOR).is_file() or (folder / MERGED).is_file()


def size_of_archive(folder: Path) -> int:
    """The size of an archive's files, in bytes."""
    parts = [folder / ANCHOR, folder / "traces.def"]
    parts += [Path(where) / name for where, _, names in os.walk(folder / "traces") for name in names]
    return sum(path.stat().st_size for path in parts if path.is_file())
