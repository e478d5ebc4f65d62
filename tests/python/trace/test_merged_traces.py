"""Merged traces: one file for all ranks, from which the same archive is made."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_folded_traces import text_of

from conftest import Lull
from lull import _core
from trace_records import leave, ring

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")]
HEADER_BYTES, CHUNK_HEADER_BYTES = 16, 24  # src/trace/merging/merged_file.hpp
LOG_CLASS, RECORDING, TIMES = 2, 3, 4


def chunks_of(content: bytes) -> Iterator[tuple[int, int, int]]:
    """Kind, place and size of each chunk."""
    at = HEADER_BYTES
    while at < len(content):
        _, what, size = struct.unpack_from("<IIQ", content, at)
        yield what, at + CHUNK_HEADER_BYTES, size
        at += CHUNK_HEADER_BYTES + size


@pytest.fixture
def merged(lull: Lull) -> Path:
    """The merged trace of six ranks in a ring, whose archive is in `plain`."""
    leave(lull.folder / "t", ring(6))
    shutil.copytree(lull.folder / "t", lull.folder / "plain")
    assert lull.run("archive", "convert", "plain").returncode == 0
    done = lull.run("archive", "merge", "t")
    assert (done.returncode, done.stdout) == (0, "")
    assert "merged trace of 6 logs with" in done.stderr
    return lull.folder / "t" / "traces.lulltrace"


def test_the_archive_of_a_merged_trace_is_that_of_its_recordings(lull: Lull, merged: Path) -> None:
    assert not (lull.folder / "t" / "raw").exists()
    for named in ("t", "t/traces.lulltrace"):
        done = lull.run("archive", "convert", named)
        assert (done.returncode, done.stdout) == (0, "")
        assert text_of(lull.folder / "t") == text_of(lull.folder / "plain")
        assert merged.exists()


def test_ranks_that_differ_by_their_neighbours_are_one_class(merged: Path) -> None:
    kinds = [what for what, _, _ in chunks_of(merged.read_bytes())]
    assert kinds.count(RECORDING) == kinds.count(TIMES) == 6
    assert kinds.count(LOG_CLASS) <= 2  # the ranks that divide the ring's ends may differ


def test_the_file_may_lie_elsewhere_and_recordings_be_kept(lull: Lull) -> None:
    leave(lull.folder / "t", ring(2))
    done = lull.run("archive", "merge", "--keep-raw", "--to", "jobs.lulltrace", "t")
    assert done.returncode == 0
    assert (lull.folder / "jobs.lulltrace").exists() and (lull.folder / "t" / "raw").is_dir()
    assert sorted(path.name for path in lull.folder.iterdir() if path.name.startswith(".job")) == []


def test_a_killed_rank_is_merged_up_to_its_last_call(lull: Lull) -> None:
    leave(lull.folder / "t", ring(4, killed=[2]))
    assert lull.run("archive", "merge", "t").returncode == 0
    done = lull.run("archive", "convert", "t")
    assert "rank 2 was killed; the trace contains it up to the last call that ended" in done.stderr


def test_damaged_chunks_cost_only_the_ranks_that_they_are_of(lull: Lull, merged: Path) -> None:
    whole = merged.read_bytes()
    number = 0
    for what, at, size in chunks_of(whole):
        if what not in (RECORDING, TIMES) or size == 0:
            continue
        broken = bytearray(whole)
        broken[at + size // 2] ^= 0x10
        merged.write_bytes(broken)
        done = lull.run("archive", "convert", "t")
        assert done.returncode == 0, done.stderr
        named = "has left no records" if what == RECORDING else "its calls are damaged in traces.lulltrace"
        assert f"rank {number % 6}" in done.stderr and named in done.stderr
        number += 1


def test_a_damaged_header_hides_one_chunk(lull: Lull, merged: Path) -> None:
    whole = merged.read_bytes()
    [_, second, *_] = [at for what, at, _ in chunks_of(whole) if what == RECORDING]
    broken = bytearray(whole)
    broken[second - CHUNK_HEADER_BYTES + 8] ^= 0xFF
    merged.write_bytes(broken)
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 0
    assert "rank 1 has left no records" in done.stderr


def test_a_file_that_is_cut_off_gives_the_ranks_that_are_whole(lull: Lull, merged: Path) -> None:
    whole = merged.read_bytes()
    *_, last = [at for what, at, _ in chunks_of(whole) if what == TIMES]
    merged.write_bytes(whole[: last + 3])
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 0
    assert "rank 5: its calls are damaged in traces.lulltrace, and are left out" in done.stderr
    for length in (0, 5, 20, 60):
        merged.write_bytes(whole[:length])
        done = lull.run("archive", "convert", "t")
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1 and "traces.lulltrace" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (["nothing"], "nothing was recorded there"),
        (["--to", "t.otf2", "t"], "t.otf2 does not end in .lulltrace"),
        (["--to", "missing/t.lulltrace", "t"], "No such file or directory"),
    ],
)
def test_what_cannot_be_merged_is_one_line(lull: Lull, arguments: list[str], found: str) -> None:
    leave(lull.folder / "t", ring(2))
    done = lull.run("archive", "merge", *arguments)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1 and found in done.stderr
    assert (lull.folder / "t" / "raw").is_dir()


def test_a_trace_is_merged_once(lull: Lull, merged: Path) -> None:
    before = merged.read_bytes()
    done = lull.run("archive", "merge", "t")
    assert done.returncode == 1
    assert "it is merged already" in done.stderr
    assert merged.read_bytes() == before


def test_readers_take_a_merged_trace_as_they_take_its_archive(lull: Lull, merged: Path) -> None:
    expected = lull.run("archive", "info", "--format", "json", "plain")
    for named in ("t", "t/traces.lulltrace"):
        done = lull.run("archive", "info", "--format", "json", named)
        assert (done.returncode, done.stderr, done.stdout) == (0, "", expected.stdout)
    assert not list(merged.parent.glob("*.otf2"))
    network = '[topology]\npreset = "fat-tree-4608"\n[[jobs]]\nname = "app"\ntrace = "{}"\n'
    simulated = []
    for number, named in enumerate(("plain", "t/traces.lulltrace", "t")):
        (lull.folder / "net.toml").write_text(network.format(named))
        done = lull.run("simulate", "--out", f"out{number}", "--format", "json", "net.toml")
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        simulated.append([line for line in lines if '"trace":' not in line and "simulator_cpu_s" not in line])
    assert simulated[1] == simulated[2] == simulated[0]


def test_readers_say_what_is_missing(lull: Lull, merged: Path) -> None:
    whole = merged.read_bytes()
    *_, last = [at for what, at, _ in chunks_of(whole) if what == TIMES]
    merged.write_bytes(whole[: last + 3])
    done = lull.run("archive", "info", "t")
    assert done.returncode == 0
    assert "rank 5: its calls are damaged in traces.lulltrace, and are left out" in done.stderr
    assert "6 processes on" in done.stdout
