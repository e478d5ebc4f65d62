"""The program of a prediction: a command to trace, existing traces, or an application with a known skeleton.

Each is converted to keys of a job of the simulator.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

from lull import record
from lull.base.errors import LullError, UsageError
from lull.mpi.preload import out_of_reach
from lull.prediction.launch import processes_of, with_processes
from lull.present.quiet import is_quiet
from lull.simulation.description import read_description
from lull.trace.account import analyse
from lull.trace.convert import MERGED_SUFFIX, is_trace
from lull.trace.recording import Recording, record_trace

SKELETONS = {"histogram": "histogram", "index_gather": "index-gather", "radix_sort": "radix-sort"}
TRACES = "traces"  # folder of the traces
TRACE_FILES = (".otf2", MERGED_SUFFIX)


@dataclass(frozen=True)
class Program:
    """The program to simulate."""

    name: str
    job: Mapping[str, Any]  # keys of [[jobs]]
    processes: int  # number to simulate
    traced: tuple[int, ...] = ()  # processes of its traces, the larger first
    events_of_process: float = 0.0  # mean, in the larger trace
    core_share: float = 1.0  # share of a core that each process had when it was traced
    other_runs: tuple[Mapping[str, Any], ...] = ()  # `job` for other runs
    remarks: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Tracing:
    """How a command is traced."""

    folder: Path  # folder of the traces
    processes: int | None  # number to simulate; None: as many as traced
    smaller: int | None  # processes of a second run, if one is needed; None: half as many
    runs: int
    hz: float
    settings: Mapping[str, str]


def names_traces(words: Sequence[str]) -> bool:
    """Whether the words name one trace or two, rather than a command."""
    return 1 <= len(words) <= 2 and all(_is_archive(Path(word)) for word in words)


def names_record(words: Sequence[str]) -> bool:
    """Whether the word names the record of a run that was not traced."""
    return len(words) == 1 and (Path(words[0]) / record.RUN_FILE).is_file() and not _is_archive(Path(words[0]))


def of_traces(paths: Sequence[Path], processes: int | None) -> Program:
    """The program of one trace, or of two traces on different numbers of processes.

    Raises:
        LullError: A trace cannot be read.
        UsageError: The numbers of processes do not match.
    """
    sized = sorted(((traced_processes(path), path) for path in paths), key=lambda one: -one[0])
    largest, larger = sized[0]
    wanted = processes or largest
    asked = f"predict {wanted} processes"
    if wanted < largest:
        raise UsageError(asked, f"{larger} has {largest}", "a trace cannot be replayed by fewer: trace a smaller run")
    if wanted > largest and len(sized) == 1:
        fix = "name a second trace, of the same program on fewer processes"
        raise UsageError(asked, f"{larger} has {largest}", fix)
    used = sized[: 1 if wanted == largest else 2]
    keys = _keys([path for _, path in used])
    events, share = _how_it_was_traced(larger)
    left = [str(path) for _, path in sized[len(used) :]]
    remarks = [f"{path} is not needed: {larger} has all {wanted} processes" for path in left]
    if _aggregates(larger):
        remarks.append(
            "what its aggregator sent is not in a trace; a record of it without one is predicted by its skeleton"
        )
    sizes = tuple(size for size, _ in used)
    return Program(_name_of(larger), keys, wanted, sizes, events, share, remarks=tuple(remarks))


def of_command(command: Sequence[str], tracing: Tracing) -> Program:
    """Trace a command, and again with fewer processes if more are requested than it starts.

    Raises:
        LullError: The command cannot be traced, or it failed.
        UsageError: It must be started with another number of processes, which cannot be set.
    """
    name = program_name(command)
    if (why := out_of_reach(command)) is not None:
        raise LullError(f"trace {command[0]}", why)
    started = processes_of(command)
    smaller = None
    if tracing.processes is not None and tracing.processes != started:
        smaller = _smaller_command(command, started, tracing)
    folders = [tracing.folder / f"run{number + 1}" for number in range(tracing.runs)]
    for folder in folders:
        _trace(command, folder, name, tracing)
    second = []
    if smaller is not None:
        second = [tracing.folder / "smaller"]
        _trace(smaller, second[0], name, tracing)
    found = of_traces([folders[0], *second], tracing.processes)
    others = tuple(_keys([folder, *second][: len(found.traced)]) for folder in folders[1:])
    return Program(name, found.job, found.processes, found.traced, found.events_of_process, found.core_share, others)


def of_record(folder: Path, processes: int | None) -> Program:
    """An application of Lull, from the command in its record.

    Raises:
        LullError: The application has no skeleton, or the skeleton lacks an option of the command.
    """
    command = record.read(folder).command
    place = next((at for at, word in enumerate(command) if Path(word).name in SKELETONS), None)
    asked = f"predict {folder}"
    if place is None:
        raise LullError(
            asked,
            f"it is a record of {Path(command[0]).name}, without a trace",
            f"name a trace; without one there are skeletons of {', '.join(SKELETONS)}",
        )
    name = Path(command[place]).name
    parser = _Parser(asked)
    parser.add_argument("--items", "--updates", "--requests", "--keys", type=int, default=1_000_000)
    parser.add_argument("--mode", default="aggregated", choices=["direct", "per-pe", "per-node", "aggregated"])
    parser.add_argument("--threads", type=int, default=1)
    for option, value in (("--key-bytes", 8), ("--payload", 0), ("--digit-bits", 16)):
        parser.add_argument(option, type=int, default=value)
    given, others = parser.parse_known_args(command[place + 1 :])
    for option in ("--cache", "--input"):
        if any(word.split("=")[0] == option for word in others):
            raise LullError(asked, f"it was run with {option}, which the skeleton of {name} has not", "run it without")
    job: dict[str, Any] = {"pattern": SKELETONS[name], "items": given.items}
    remarks = []
    if given.mode == "aggregated":
        remarks.append("how it aggregated was Lull's choice; buffers of each process are assumed")
    job["mode"] = "per-pe" if given.mode == "aggregated" else given.mode
    if name == "radix_sort":
        job |= {"key_bytes": given.key_bytes, "payload": given.payload, "digit_bits": given.digit_bits}
    started = processes_of(command[:place])
    if processes is None and started is None:
        raise UsageError(asked, "its command does not give the number of processes", "add --processes")
    remarks.append("one pass is predicted, by the skeleton of the application")
    return Program(name, job, processes or (started or 1) * given.threads, remarks=tuple(remarks))


def traced_processes(path: Path) -> int:
    """The number of processes of a trace."""
    tiny = {"topology": {"preset": "fat-tree-4608"}, "jobs": [{"trace": str(path.absolute())}]}
    found = read_description(tiny, f"read the trace {path}").content["jobs"][0]["processes"]
    assert isinstance(found, int)
    return found


class _Parser(argparse.ArgumentParser):
    """A parser that raises LullError for mistakes."""

    def __init__(self, asked: str) -> None:
        super().__init__(add_help=False, allow_abbrev=False)
        self._asked = asked

    def error(self, message: str) -> NoReturn:
        raise LullError(self._asked, f"its command is not understood: {message}")


def _smaller_command(command: Sequence[str], started: int | None, tracing: Tracing) -> list[str]:
    wanted = tracing.processes or 0
    if started is None:
        with_processes(command, wanted)  # raises with the reason
        raise AssertionError("its number of processes is known")
    asked = f"predict {wanted} processes"
    if wanted < started:
        raise UsageError(asked, f"the command starts {started}", "a trace cannot be replayed by fewer: start fewer")
    fewer = started // 2 if tracing.smaller is None else tracing.smaller
    if not 1 < fewer < started:
        found = f"a run of {fewer} in addition to that of {started} would not show the growth"
        raise UsageError(asked, found, "start more, or give those of the second run with --smaller")
    return with_processes(command, fewer)


def _trace(command: Sequence[str], folder: Path, name: str, tracing: Tracing) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _stdout_on_stderr():
        code = record_trace(
            Recording(command, name, folder, tracing.hz, tracing.settings, quiet=is_quiet(), keep_raw=False)
        )
    if code != 0 and (is_trace(folder) or not folder.exists()):
        raise LullError(f"trace {shlex.join(command)}", f"it failed with exit code {code}", "see its output above")
    if not is_trace(folder):
        raise LullError(f"trace {shlex.join(command)}", "it left no trace", "see above; lull doctor looks at MPI")


def _keys(paths: Sequence[Path]) -> dict[str, Any]:
    return dict(zip(("trace", "trace_smaller"), (str(path.absolute()) for path in paths), strict=False))


def _how_it_was_traced(path: Path) -> tuple[float, float]:
    """Mean number of events of a process, and the least share of a core that a process had; 1 if unknown."""
    account = analyse(path).account
    events = account.events / max(len(account.processes), 1)
    try:
        hosts = {host.node: host.cores for host in record.read(path).hosts}
    except LullError:  # a trace of another tool
        return events, 1.0
    there = [process.node for process in account.processes]
    shares = [hosts[node] / there.count(node) for node in set(there) if node in hosts]
    return events, min([1.0, *shares])


def _aggregates(path: Path) -> bool:
    """Whether it is the trace of an application of Lull that aggregates its messages."""
    try:
        command = record.read(path).command
    except LullError:  # a trace of another tool
        return False
    direct = "--mode=direct" in command or ("--mode", "direct") in pairwise(command)
    return not direct and any(Path(word).name in SKELETONS for word in command)


def _is_archive(path: Path) -> bool:
    if path.suffix in TRACE_FILES:
        return path.is_file()
    return path.is_dir() and (is_trace(path) or any(path.glob("*.otf2")))


def _name_of(path: Path) -> str:
    return path.resolve().parent.name if path.suffix in TRACE_FILES else path.resolve().name


def program_name(command: Sequence[str]) -> str:
    """The first word after the launcher's options that is a program."""
    first = Path(command[0]).name
    if processes_of(command) is None:
        return first
    programs = [word for word in command[1:] if word in SKELETONS or (word[0] != "-" and shutil.which(word))]
    return Path(programs[0]).name if programs else first


@contextmanager
def _stdout_on_stderr() -> Iterator[None]:
    """Redirect the output of commands to stderr, because stdout is for the prediction."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
