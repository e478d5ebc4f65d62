"""Records like those of traced processes; a tick is a nanosecond. Kinds are those of src/trace/raw.hpp."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

CALL, SEND, RECEIVE, COLLECTIVE = 1, 2, 3, 4
FUNCTIONS = ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Barrier", "MPI_Finalize", "MPI_Comm_spawn"]
INIT, SENDS, RECEIVES, BARRIER, FINALIZE = range(5)
SECOND = 1_000_000_000


@dataclass
class Process:
    """One process of a job, and its records."""

    rank: int
    size: int
    host: str = "h1"
    killed: bool = False
    records: list[bytes] = field(default_factory=list)
    end: int = SECOND

    def did(self, kind: int, function: int, begin: int, end: int, peer: int = -1, size: int = 0, tag: int = 0) -> None:
        """One call."""
        self.records.append(struct.pack("<QIHHiiQ", begin, end - begin, function, 0, peer, tag, size | kind << 56))

    def leave_in(self, folder: Path) -> None:
        """Write the files of the process below `folder`/raw."""
        raw = folder / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        name = f"{self.host}-{100 + self.rank}"
        lines: list[dict[str, object]] = [
            {"is": "process", "version": 2, "host": self.host, "boot": "b", "pid": 100 + self.rank, "job": "j",
             "program": "app"},
            {"is": "clocks", "ticks": 0, "monotonic_ns": 0, "realtime_ns": SECOND},
            {"is": "rank", "rank": self.rank, "size": self.size, "paradigm": "mpi", "library": "L"},
            {"is": "regions", "paradigm": "mpi", "first": 0, "names": FUNCTIONS},
            {"is": "communicator", "ticks": 0, "number": 0, "members": [[0, self.size]], "name": "MPI_COMM_WORLD"},
            {"is": "clocks", "ticks": self.end, "monotonic_ns": self.end, "realtime_ns": SECOND + self.end},
        ]  # fmt: skip
        if not self.killed:
            lines.append({"is": "end"})
        (raw / f"{name}.definitions").write_text("".join(json.dumps(line) + "\n" for line in lines))
        header = struct.pack("<8sIIIIQQQQQ", b"lullraw\n", 2, 8192, 4096, 0, 100 + self.rank, 0, 0, 0, 0)
        (raw / f"{name}.0.records").write_bytes(header.ljust(8192, b"\0") + b"".join(self.records))


def ring(size: int, rounds: int = 50, *, killed: Sequence[int] = ()) -> list[Process]:
    """Processes that in each round send 1 KiB to their right and then enter a barrier; rank 0 computes longest."""
    processes = [Process(rank, size, killed=rank in killed) for rank in range(size)]
    step = SECOND // (rounds + 2)
    for process in processes:
        process.did(CALL, INIT, 1000, step // 2)
        for number in range(1, rounds + 1):
            start = number * step
            ready = start + (step // 2 if process.rank == 0 else step // 10)
            process.did(SEND, SENDS, ready, ready + 2000, (process.rank + 1) % size, 1024, 5)
            sent = start + (step // 2 if (process.rank - 1) % size == 0 else step // 10)
            got = max(ready + 3000, sent + 3000)
            process.did(RECEIVE, RECEIVES, ready + 2000, got, (process.rank - 1) % size, 1024, 5)
            process.did(COLLECTIVE, BARRIER, got, start + step * 6 // 10)
        if not process.killed:
            process.did(CALL, FINALIZE, SECOND - step // 2, SECOND - 1000)
    return processes


def leave(folder: Path, processes: Sequence[Process]) -> Path:
    """Write all of them; returns the folder."""
    for process in processes:
        process.leave_in(folder)
    return folder
