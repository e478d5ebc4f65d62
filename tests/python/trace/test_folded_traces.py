"""Traces whose records are folded while the program runs: nothing is lost, and little is written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_trace import printed

from conftest import Lull, compiled
from lull import _core
from lull.mpi.preload import preloaded
from lull.trace.account import analyse
from lull.trace.convert import convert
from mpi_libraries import ENVIRONMENT, LIBRARIES, MpiLibrary, each_library
from trace_records import leave, ring

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")]
FOLD_RECORDS = Path(__file__).parents[3] / "build" / "venv" / "tests" / "unit" / "fold_records"
FOLDED = {**ENVIRONMENT, "LULL_TRACE_FORM": "folded"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("programs")
    for mpi in LIBRARIES:
        if not mpi.missing:
            for source in ("every_message.c", "completed_elsewhere.c"):
                mpi.compiled(source, folder, "-pthread", name=f"{Path(source).stem}.{mpi.name}")
    yield folder


@pytest.fixture
def folding(lull: Lull) -> Lull:
    return replace(lull, env=FOLDED)


def text_of(folder: Path) -> str:
    """The archive as text, without what differs between any two archives of the same records."""
    return re.sub(r"(?m)^(TRACE_IDENTIFIER|.*UUID|.*Trace id).*$", "", printed(folder)).replace(str(folder), "")


def expect_same_archives(trace: Path) -> None:
    """Convert raw records, and the same records folded, and compare the archives."""
    if not FOLD_RECORDS.exists():
        pytest.skip("fold_records is not built")
    folded = trace.with_name("folded")
    shutil.copytree(trace, folded)
    subprocess.run([FOLD_RECORDS, folded / "raw"], check=True)
    assert not list((folded / "raw").glob("*.records"))
    merged = trace.with_name("merged")
    for source in (trace, folded):
        _core.merge_trace(str(source / "raw"), str(merged.with_suffix(".lulltrace")))
        merged.mkdir()
        merged.with_suffix(".lulltrace").rename(merged / "traces.lulltrace")
        read_at_once = analyse(merged).account
        convert(merged, keep_raw=False)
        if source == trace:
            from_raw = text_of(merged)
            shutil.rmtree(merged)
    convert(trace, keep_raw=False)
    convert(folded, keep_raw=False)
    raw_text, folded_text = text_of(trace), text_of(folded)
    assert raw_text == folded_text
    assert raw_text == from_raw
    assert read_at_once == analyse(folded).account
    assert raw_text == text_of(merged)
    assert "ENTER" in folded_text


@each_library
@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_the_archive_is_that_of_raw_records(mpi: MpiLibrary, built: Path, tmp_path: Path, ranks: int) -> None:
    done = mpi.run(ranks, built / f"every_message.{mpi.name}", "40", tools={"LULL_TRACE": str(tmp_path / "t")})
    assert done.returncode == 0, done.stderr
    expect_same_archives(tmp_path / "t")


@each_library
def test_requests_that_another_thread_completes_are_the_same(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    program = built / f"completed_elsewhere.{mpi.name}"
    done = mpi.run(2, program, "400", tools={"LULL_TRACE": str(tmp_path / "t")})
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    expect_same_archives(tmp_path / "t")


def test_openshmem_programs_are_the_same(tmp_path: Path) -> None:
    program = compiled("shmem_traffic.c", tmp_path)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    env = preloaded(inherited, tools={"LULL_TRACE": str(tmp_path / "t")})
    done = Lull(tmp_path, env=env).run("run", "-n", "4", str(program))
    assert (done.returncode, done.stderr) == (0, "")
    expect_same_archives(tmp_path / "t")


@each_library
def test_sums_of_a_folded_run_are_those_that_the_program_counts(folding: Lull, mpi: MpiLibrary, built: Path) -> None:
    words = mpi.start(4, built / f"every_message.{mpi.name}", "25")
    done = replace(folding, env=ENVIRONMENT).run("trace", "-q", "--folded", "--keep-raw", "--out", "t", *words)
    assert done.returncode == 0, done.stderr
    messages, size, _ = map(int, done.stdout.split())
    content = json.loads(folding.run("archive", "info", "--format", "json", "t").stdout)
    assert (content["messages"], content["message_bytes"]) == (messages, size)
    assert sum(process["received_messages"] for process in content["processes"]) == messages
    assert sum(process["received_bytes"] for process in content["processes"]) == size
    assert all(value == 0 for value in content["faults"].values())
    raw = folding.folder / "t" / "raw"
    assert len(list(raw.glob("*.folded"))) == 4 and not list(raw.glob("*.records"))


@each_library
def test_threads_of_a_folded_run_complete_each_other_s_requests(folding: Lull, mpi: MpiLibrary, built: Path) -> None:
    words = mpi.start(2, built / f"completed_elsewhere.{mpi.name}", "2000")
    done = folding.run("trace", "-q", "--out", "t", *words)
    assert done.returncode == 0, done.stderr
    content = json.loads(folding.run("archive", "info", "--format", "json", "t").stdout)
    assert sum(process["received_messages"] for process in content["processes"]) == 2 * 2000 * 4
    assert all(value == 0 for value in content["faults"].values())


@each_library
@pytest.mark.parametrize("end", ["kill", "exit", "abort"])
def test_a_folded_job_that_ends_in_the_middle_leaves_a_whole_archive(
    folding: Lull, mpi: MpiLibrary, built: Path, end: str
) -> None:
    words = mpi.start(4, built / f"every_message.{mpi.name}", "20", end)
    done = folding.run("trace", "-q", "--keep-raw", "--out", "t", *words)
    assert done.returncode != 0
    text = printed(folding.folder / "t")
    assert text.count("MPI_ALLREDUCE") or text.count('"MPI_Allreduce"')
    merged = folding.folder / "merged.lulltrace"
    assert folding.run("archive", "merge", "--to", str(merged), "t").returncode == 0
    assert analyse(merged).account == analyse(folding.folder / "t").account


def folded_ring(folder: Path) -> Path:
    """The folded records of rank 0 in a trace of two."""
    if not FOLD_RECORDS.exists():
        pytest.skip("fold_records is not built")
    leave(folder, ring(2))
    subprocess.run([FOLD_RECORDS, folder / "raw"], check=True)
    return min((folder / "raw").glob("*.folded"))


def test_damaged_folded_records_are_kept_as_far_as_they_can_be_read(lull: Lull) -> None:
    path = folded_ring(lull.folder / "t")
    content = bytearray(path.read_bytes())
    content[32 + 10] ^= 0xFF  # in the structure, the first chunk
    path.write_bytes(content)
    done = lull.run("archive", "convert", "t")
    assert (done.returncode, done.stdout) == (0, "")
    assert "lull: rank 0: its folded records are damaged; what came before is kept\n" in done.stderr
    printed(lull.folder / "t")


def test_a_folded_file_that_is_cut_off_is_left_out_and_named(lull: Lull) -> None:
    path = folded_ring(lull.folder / "t")
    path.write_bytes(path.read_bytes()[:-20])
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 0
    assert f"{path.name} is damaged or truncated, and is left out" in done.stderr
    printed(lull.folder / "t")


def test_a_form_that_does_not_exist_is_one_line(lull: Lull) -> None:
    done = replace(lull, env={"LULL_TRACE_FORM": "flat"}).run("trace", "--out", "t", "true")
    [line] = done.stderr.splitlines()
    assert done.returncode == 125
    assert "LULL_TRACE_FORM" in line and "raw" in line and "folded" in line
