"""`lull trace`: archives of recorded processes, their analysis, and traced MPI programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import records
from conftest import Lull
from lull import _core
from lull.trace.account import analyse
from lull.trace.convert import convert
from lull.trace.describe import size_words
from lull.trace.plots import plots_of
from trace_records import RECEIVE, RECEIVES, SEND, SENDS, Process, leave, ring

pytestmark = pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")
OTF2_PRINT = shutil.which("otf2-print")


def printed(folder: Path) -> str:
    """The output of otf2-print for an archive, which must contain no error."""
    if OTF2_PRINT is None:
        pytest.skip("otf2-print is not installed")
    done = subprocess.run(
        [OTF2_PRINT, "--show-global-defs", "-A", folder / "traces.otf2"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_records_become_an_archive_that_otf2_print_reads(lull: Lull) -> None:
    folder = leave(lull.folder / "t", ring(4))
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 0, done.stderr
    assert "trace of 4 processes" in done.stderr
    assert not (folder / "raw").exists()
    text = printed(folder)
    assert text.count("MPI_SEND ") == text.count("MPI_RECV ") == 4 * 50
    assert text.count("MPI_COLLECTIVE_END") == 4 * 50
    assert '"rank 3"' in text


def test_what_processes_wrote_stays_if_asked_for(lull: Lull) -> None:
    folder = leave(lull.folder / "t", ring(2))
    assert lull.run("archive", "convert", "--keep-raw", "t").returncode == 0
    assert list((folder / "raw").glob("*.records"))
    assert lull.run("archive", "convert", "t").returncode == 0  # once more


def test_a_killed_process_is_named_and_the_archive_is_whole(lull: Lull) -> None:
    folder = leave(lull.folder / "t", ring(3, killed=[1]))
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 0
    assert "lull: rank 1 was killed; the trace contains it up to the last call that ended\n" in done.stderr
    printed(folder)


def test_a_folder_without_records_is_one_line(lull: Lull) -> None:
    (lull.folder / "t").mkdir()
    done = lull.run("archive", "convert", "t")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line == (
        "lull: convert the trace t: nothing was recorded there; name the folder that LULL_TRACE named while the"
        " program ran"
    )


def test_info_says_who_talks_to_whom_and_what_time_went_on(lull: Lull) -> None:
    convert(leave(lull.folder / "t", ring(4)), keep_raw=False)
    done = lull.run("archive", "info", "t")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("4 processes on 1 node, 1.00 s, ")
    assert "200 messages of 205 kB" in done.stdout
    assert "late sender" in done.stdout and "imbalance" in done.stdout
    assert "1–<2 KiB" in done.stdout and "barrier" in done.stdout


def test_info_as_json_holds_every_sum(lull: Lull) -> None:
    convert(leave(lull.folder / "t", ring(4)), keep_raw=False)
    content = json.loads(lull.run("archive", "info", "--format", "json", "t").stdout)
    assert content["messages"] == sum(pair["messages"] for pair in content["pairs"]) == 200
    assert content["message_bytes"] == sum(size["bytes"] for size in content["sizes"]) == 200 * 1024
    assert {(pair["from"], pair["to"]) for pair in content["pairs"]} == {(0, 1), (1, 2), (2, 3), (3, 0)}
    assert content["collectives"] == [{"operation": "barrier", "calls": 200, "sent_bytes": 0, "received_bytes": 0}]
    assert all(value == 0 for value in content["faults"].values())
    for process in content["processes"]:
        assert sum(process["time"].values()) == pytest.approx(1, rel=1e-3)
    # Rank 0 computes longest: rank 1 waits for its message, all wait for it in the barrier.
    first, second, *_ = content["processes"]
    assert second["time"]["late_sender"] > 0.3 > first["time"]["late_sender"]
    assert first["time"]["compute"] > 1.5 * second["time"]["compute"]


def test_messages_that_do_not_fit_are_said(lull: Lull) -> None:
    sender, receiver = Process(0, 2), Process(1, 2)
    sender.did(SEND, SENDS, 5000, 6000, 1, 8)
    sender.did(SEND, SENDS, 7000, 8000, 1, 8, tag=3)
    receiver.did(RECEIVE, RECEIVES, 1000, 2000, 0, 8)
    convert(leave(lull.folder / "t", [sender, receiver]), keep_raw=False)
    done = lull.run("archive", "info", "t")
    assert "1 message received before they were sent, by up to 3.00 µs: the clocks differ" in done.stdout
    assert "1 message sent whose receive is not in the trace" in done.stdout


@pytest.mark.parametrize(("form", "begin"), [("svg", b"<svg "), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_plots_are_files(lull: Lull, form: str, begin: bytes) -> None:
    convert(leave(lull.folder / "t", ring(4)), keep_raw=False)
    done = lull.run("archive", "info", "t", "--plots", "p", "--plots-as", form)
    assert done.returncode == 0, done.stderr
    files = {path.stem: path for path in (lull.folder / "p").iterdir()}
    assert set(files) == {"trace-processes", "trace-time", "trace-matrix", "trace-sizes"}
    assert all(path.read_bytes().startswith(begin) for path in files.values())


def test_a_report_on_a_traced_run_has_its_plots(lull: Lull) -> None:
    folder = records.write(lull.folder / "t", records.run("app", [1.0]))
    convert(leave(folder, ring(3)), keep_raw=False)
    done = lull.run("report", "t", "--to", "page.html")
    assert done.returncode == 0, done.stderr
    page = (lull.folder / "page.html").read_text()
    assert "<h2>Traces</h2>" in page and 'id="trace-matrix' in page


def test_many_processes_share_rows_and_cells(tmp_path: Path) -> None:
    convert(leave(tmp_path / "t", ring(80, rounds=2)), keep_raw=False)
    plots = {one.name: one for one in plots_of(analyse(tmp_path / "t"))}
    assert len(plots["trace-processes"].rows) <= 64
    assert plots["trace-matrix"].plot.svg("m").startswith("<svg")


def test_a_trace_where_nobody_talks_still_has_time(tmp_path: Path) -> None:
    convert(leave(tmp_path / "t", [Process(0, 1)]), keep_raw=False)
    found = analyse(tmp_path / "t")
    assert found.account.messages == 0
    assert found.account.burstiness.peak_over_mean is None
    assert {one.name for one in plots_of(found)} == {"trace-processes", "trace-time"}


def test_a_damaged_archive_is_one_line(lull: Lull) -> None:
    folder = leave(lull.folder / "t", ring(2))
    convert(folder, keep_raw=False)
    (folder / "traces.def").write_bytes(b"no definitions")
    done = lull.run("archive", "info", "t")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: read ") and line.endswith("; check whether the archive is complete")


def test_where_there_is_no_archive_the_line_says_what_to_do(lull: Lull) -> None:
    leave(lull.folder / "t", ring(2))
    done = lull.run("archive", "info", "t")
    assert done.returncode == 1
    assert "create one from the records with lull archive convert" in done.stderr


@pytest.mark.parametrize(
    ("low", "high", "words"), [(0, 0, "0 B"), (1, 1, "1 B"), (2, 3, "2–3 B"), (1024, 2047, "1–<2 KiB")]
)
def test_sizes_in_words(low: int, high: int, words: str) -> None:
    assert size_words(low, high) == words
