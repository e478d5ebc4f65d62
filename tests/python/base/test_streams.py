"""Texts that are not UTF-8, encodings that lack characters, streams that are closed or full: no traceback."""

import json
import os
import subprocess
import threading
from pathlib import Path

import click
import pytest

import lull as library
from bounds import TIMEOUT_S
from conftest import Lull
from lull import record
from lull.base.text import readable
from lull.cli import main
from records import run, write

LATIN = os.fsdecode(b"caf\xe9")


def called(lull: Lull, *args: str, redirect: str = "", **env: str) -> subprocess.CompletedProcess[bytes]:
    """`lull ARGS`, by a shell that closes or redirects its streams."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", *lull.argv(*args)],
        cwd=lull.folder,
        env={**lull.environment(), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_labels_arguments_and_folders_need_not_be_utf8(lull: Lull) -> None:
    folder = lull.folder / LATIN
    folder.mkdir()
    here = Lull(folder, sources="estimate")
    done = called(here, "measure", "--label", LATIN, "--out", f"r-{LATIN}", "echo", LATIN)
    assert (done.returncode, done.stdout) == (0, b"caf\xe9\n"), done.stderr
    found = record.read(folder / f"r-{LATIN}")
    assert (found.label, found.command) == ("caf\\xe9", ["echo", "caf\\xe9"])
    done = called(here, "measure", "--append", f"r-{LATIN}", "--label", LATIN, "echo", LATIN)
    assert done.returncode == 0, done.stderr
    for args in (("report", f"r-{LATIN}", "--to", f"{LATIN}.html"), ("export", "--format", "csv", f"r-{LATIN}")):
        done = called(here, *args)
        assert (done.returncode, done.stderr) == (0, b"")
    assert b"r-caf\\xe9" in done.stdout


@pytest.mark.parametrize("variable", ["LULL_SNMP_COMMAND", "LULL_SITE", "LULL_WAIT", "LULL_METER_SOURCES"])
def test_settings_need_not_be_utf8(lull: Lull, variable: str) -> None:
    for args in (("sources", "--format", "json"), ("settings",), ("measure", "true")):
        done = called(lull, *args, **{variable: f"echo {LATIN}"})
        assert b"Traceback" not in done.stderr
        if done.returncode:
            assert len(done.stderr.splitlines()) == 1


def test_a_meter_that_writes_latin_1_is_read(lull: Lull) -> None:
    done = called(
        lull,
        "sources",
        "--format",
        "json",
        LULL_METER_SOURCES="",
        LULL_SNMP_COMMAND=r"printf 'Leistung f\374r alles: 430 W\n'",
    )
    [snmp] = [one for one in json.loads(done.stdout) if one["name"] == "snmp"]
    assert snmp["readable"], snmp["reason"]


@pytest.mark.parametrize(
    "env",
    [
        {"PYTHONIOENCODING": "latin-1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_what_an_encoding_lacks_is_written_plainly(lull: Lull, env: dict[str, str]) -> None:
    write(lull.folder / "a", run("A"))
    write(lull.folder / "b", run("B", [5.0] * 10))
    done = called(lull, "compare", "a", "b", **env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"2.00 (1.97-2.03)" in done.stdout.replace("–".encode(), b"-") or b"-" in done.stdout


@pytest.mark.parametrize("redirect", ["2>/dev/full", "2>&-", ">&- 2>&- <&-"])
def test_a_measurement_does_not_fail_because_nobody_can_read_its_lines(lull: Lull, redirect: str) -> None:
    done = called(lull, "measure", "--runs", "2", "--out", "r", "sh", "-c", "exit 7", redirect=redirect)
    assert done.returncode == 7
    assert len(record.read(lull.folder / "r").repeats) == 2


def test_a_full_standard_output_is_one_line_and_a_closed_one_none(lull: Lull) -> None:
    for args in (("settings",), ("sources",), ("--help",)):
        full = called(lull, *args, redirect=">/dev/full")
        assert (full.returncode, full.stderr) == (1, b"lull: write to standard output: No space left on device\n")
        closed = called(lull, *args, redirect=">&-")
        assert (closed.returncode, closed.stderr) == (0, b"")


@pytest.mark.parametrize(("text", "expected"), [("plain", "plain"), (LATIN, "caf\\xe9"), ("\ud800é", "\\ud800é")])
def test_lone_surrogates_become_readable(text: str, expected: str) -> None:
    assert readable(text) == expected


def test_a_toml_file_may_begin_with_a_byte_order_mark(lull: Lull) -> None:
    for name in ("a", "b"):
        (lull.folder / f"{name}.toml").write_text(f'label = "{name}"\ncommand = "true"\n', encoding="utf-8-sig")
    done = lull.run("measure", "--interleave", "--out", "r", "a.toml", "b.toml")
    assert done.returncode == 0, done.stderr


def test_a_thread_may_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_METER_SOURCES", "estimate")
    failures: list[BaseException] = []

    def measure(place: int) -> None:
        try:
            library.measure(["true"], out=tmp_path / f"r{place}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=measure, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert all((tmp_path / f"r{place}" / "run.json").exists() for place in range(2))


def test_the_oldest_click_that_is_allowed_has_one_line_for_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(click.exceptions, "NoArgsIsHelpError", raising=False)  # new in click 8.2
    monkeypatch.setattr("sys.argv", ["lull", "report", "--to", "x", "nowhere"])
    monkeypatch.setattr("lull.cli.configure_streams", lambda: None)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 1
    assert capsys.readouterr().err.startswith("lull: read the record nowhere: ")
