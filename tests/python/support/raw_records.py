"""The files that traced processes wrote (src/trace/raw.hpp), read by code that only tests use."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RAW = Path(__file__).parents[3] / "src" / "trace" / "raw.hpp"
RECORD = struct.Struct("<QIHHiiQ")
HEADER = struct.Struct("<8sIIIIQQQQQ")
HEADER_FIELDS = (
    *("magic", "version", "first_record", "window_bytes", "unused"),
    *("thread", "lost", "saved", "base", "next"),
)


def _kinds() -> list[str]:
    body = re.search(r"enum class kind : std::uint8_t \{(.*?)\};", RAW.read_text(encoding="utf-8"), re.DOTALL)
    assert body is not None
    names = re.sub(r"//.*", "", body[1]).replace("= 0", "")
    return [name.strip() for name in names.split(",") if name.strip()]


KINDS = _kinds()


@dataclass(frozen=True)
class Record:
    """One record, with its function by name."""

    what: str
    function: str
    begin: int
    duration: int
    comm: int
    peer: int
    tag: int
    bytes: int


@dataclass
class RawProcess:
    """All records of one process."""

    definitions: list[dict[str, Any]]
    threads: list[list[Record]]

    def defined(self, what: str) -> list[dict[str, Any]]:
        return [one for one in self.definitions if one["is"] == what]

    @property
    def rank(self) -> int:
        return int(self.defined("rank")[0]["rank"])

    @property
    def records(self) -> list[Record]:
        return [record for thread in self.threads for record in thread]

    def of(self, *kinds: str) -> list[Record]:
        return [record for record in self.records if record.what in kinds]

    def calls(self, function: str) -> list[Record]:
        return [record for record in self.records if record.function == function]


def read_raw(folder: Path) -> list[RawProcess]:
    """The processes of a trace that had a rank, by rank."""
    made = []
    for path in (folder / "raw").glob("*.definitions"):
        definitions = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        names = {
            one["first"] + index: name
            for one in definitions
            if one["is"] == "regions"
            for index, name in enumerate(one["names"])
        }
        threads = [
            _records(log, names)
            for log in sorted(path.parent.glob(f"{path.name.removesuffix('.definitions')}.*.records"))
        ]
        process = RawProcess(definitions, threads)
        if process.defined("rank"):
            made.append(process)
    return sorted(made, key=lambda process: process.rank)


def _records(path: Path, names: dict[int, str]) -> list[Record]:
    content = path.read_bytes()
    if len(content) < HEADER.size:
        return []
    header = dict(zip(HEADER_FIELDS, HEADER.unpack_from(content), strict=True))
    first, page = header["first_record"], header["first_record"] - header["window_bytes"]
    in_window = min(header["next"] - header["base"], header["window_bytes"])
    saved = header["saved"] * RECORD.size if in_window else len(content) - first
    made = []
    for at in (*range(first, first + saved, RECORD.size), *range(page, page + in_window, RECORD.size)):
        begin, duration, region, comm, peer, tag, last = RECORD.unpack_from(content, at)
        what = KINDS[last >> 56]
        if what == "none":
            break
        begins_call = KINDS.index(what) < KINDS.index("more_received") or what == "window_collective"
        function = names.get(region, "") if begins_call else ""
        made.append(Record(what, function, begin, duration, comm, peer, tag, last & (1 << 56) - 1))
    return made
