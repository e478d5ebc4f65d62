"""`lull measure --append`: further repeats of the same command, and nothing else, in a record that stays complete."""

import shutil

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull import record


@pytest.fixture
def first(lull: Lull) -> Lull:
    done = lull.run("measure", "--out", "r", "--label", "mine", "--runs", "2", "--", "sleep", "0.1")
    assert done.returncode == 0
    return lull


def test_repeats_and_their_samples_are_added(first: Lull) -> None:
    done = first.run("measure", "--append", "r", "--runs", "2", "--warmup", "1", "--", "sleep", "0.1")
    assert done.returncode == 0, done.stderr
    run = record.read(first.folder / "r")
    assert run.label == "mine"
    assert [repeat.index for repeat in run.repeats] == [0, 1, 2, 3]
    samples = record.read_samples(first.folder / "r")
    assert set(samples.column("repeat").to_pylist()) == {0, 1, 2, 3}
    assert sorted(path.name for path in (first.folder / "r").iterdir()) == ["run.json", "samples.parquet"]


@pytest.mark.parametrize(
    ("options", "env", "command", "words"),
    [
        ((), {}, ("sleep", "0.2"), "its command is sleep 0.1"),
        (("--label", "other"), {}, ("sleep", "0.1"), "its label is mine"),
        (("--hz", "50"), {}, ("sleep", "0.1"), "10 times a second"),
        ((), {"LULL_WAIT": "poll"}, ("sleep", "0.1"), "LULL_WAIT"),
        ((), {"LULL_WIRE_WATTS": "16"}, ("sleep", "0.1"), "LULL_WIRE_WATTS"),
        (("--out", "x"), {}, ("sleep", "0.1"), "make new records"),
    ],
)
def test_another_thing_is_refused_before_it_runs(
    first: Lull, options: tuple[str, ...], env: dict[str, str], command: tuple[str, ...], words: str
) -> None:
    before = (first.folder / "r" / "run.json").read_bytes()
    first.env.update(env)
    done = first.run("measure", "--append", "r", *options, "--", *command)
    assert done.returncode == 125
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr
    assert (first.folder / "r" / "run.json").read_bytes() == before


def test_idle_power_measured_with_further_repeats_is_kept(first: Lull) -> None:
    done = first.run("measure", "--append", "r", "--idle", "1", "--", "sleep", "0.1")
    assert done.returncode == 0, done.stderr
    run = record.read(first.folder / "r")
    assert len(run.repeats) == 3
    assert run.idle


def test_other_hosts_are_refused(first: Lull) -> None:
    path = first.folder / "r" / "run.json"
    path.write_text(
        path.read_text().replace('"processor": "', '"processor": "un').replace('"processor":"', '"processor":"un')
    )
    done = first.run("measure", "--append", "r", "--", "sleep", "0.1")
    assert (done.returncode, len(record.read(first.folder / "r").repeats)) == (125, 2)
    assert "processor of" in done.stderr


def test_a_record_that_is_not_there_is_refused(lull: Lull) -> None:
    done = lull.run("measure", "--append", "r", "true")
    assert done.returncode == 125
    assert "measure a first run with --out" in done.stderr


def test_one_adds_at_a_time(lull: Lull) -> None:
    command = ("sh", "-c", 'test -z "$LONG" || { touch adding; while ! test -e enough; do sleep 0.02; done; }')
    assert lull.run("measure", "--out", "r", "--", *command).returncode == 0
    shutil.copytree(lull.folder / "r", lull.folder / "copy")
    lull.env["LONG"] = "yes"
    running = lull.start("measure", "--append", "r", "--runs", "2", "--", *command)
    assert wait_until((lull.folder / "adding").exists)
    del lull.env["LONG"]
    second = lull.run("measure", "--append", "r", "--", *command)
    beside = lull.run("measure", "--append", "copy", "--", *command)
    (lull.folder / "enough").touch()
    _, said = running.communicate(timeout=TIMEOUT_S)
    assert (second.returncode, beside.returncode, running.returncode) == (125, 0, 0), said
    assert "another lull measure is adding to it" in second.stderr
    assert len(record.read(lull.folder / "r").repeats) == 3


def test_samples_of_a_repeat_that_was_never_named_are_dropped(first: Lull) -> None:
    whole = (first.folder / "r" / "run.json").read_bytes()
    first.run("measure", "--append", "r", "--", "sleep", "0.1")
    (first.folder / "r" / "run.json").write_bytes(whole)  # as if killed between the two files
    before = record.read_samples(first.folder / "r").num_rows
    first.run("measure", "--append", "r", "--", "sleep", "0.1")
    assert abs(record.read_samples(first.folder / "r").num_rows - before) < before / 2
    assert len(record.read(first.folder / "r").repeats) == 3
