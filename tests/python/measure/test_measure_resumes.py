"""A measurement that was killed or interrupted: the same command continues it, another does not."""

import json
import signal

import pytest

import lull as library
from bounds import TIMEOUT_S
from conftest import Lull, gone, wait_until
from lull import record
from lull.base.errors import LullError
from lull.experiment.state import CONDITIONS, STATE

# Each run adds a line to `ran`; the one whose number is in the file `stop` does not end.
COUNTS = '#!/bin/sh\necho "$1" >> ran\ntest "$(wc -l < ran)" != "$(cat stop)" || sleep 600\n'


@pytest.fixture
def counts(lull: Lull) -> Lull:
    (lull.folder / "counts").write_text(COUNTS)
    (lull.folder / "counts").chmod(0o755)
    return lull


def ran(lull: Lull) -> list[str]:
    path = lull.folder / "ran"
    return path.read_text().splitlines() if path.exists() else []


def stopped(lull: Lull, at: int, *args: str, by: signal.Signals = signal.SIGKILL) -> None:
    """Call `lull measure ARGS`, and kill it in the run of this number; later calls run through."""
    (lull.folder / "stop").write_text(f"{at}\n")
    process = lull.start("measure", *args)
    assert wait_until(lambda: len(ran(lull)) == at)
    process.send_signal(by)
    process.communicate(timeout=TIMEOUT_S)
    assert gone(str(lull.folder))
    (lull.folder / "stop").write_text("-1\n")


def repeats(lull: Lull, name: str = "r") -> list[record.Repeat]:
    return record.read(lull.folder / name).repeats


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_the_same_command_measures_only_what_is_missing(counts: Lull, by: signal.Signals) -> None:
    command = ["--runs", "5", "--out", "r", "./counts", "a"]
    stopped(counts, 4, *command, by=by)
    before = repeats(counts)
    done = counts.run("measure", *command)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[0] == "lull: resumes: 3 of 5 runs are in r; --fresh measures them again"
    assert repeats(counts)[:3] == before and len(repeats(counts)) == 5 and len(ran(counts)) == 6
    assert set(record.read_samples(counts.folder / "r").column("repeat").to_pylist()) == set(range(5))
    assert sorted(path.name for path in (counts.folder / "r").iterdir()) == ["run.json", "samples.parquet"]
    again = counts.run("measure", *command)
    assert again.returncode == 125 and "it exists already" in again.stderr and len(ran(counts)) == 6


def test_more_or_fewer_runs_are_the_same_measurement(counts: Lull) -> None:
    stopped(counts, 4, "--runs", "9", "--out", "r", "./counts")
    done = counts.run("measure", "--runs", "2", "--out", "r", "./counts")
    assert done.returncode == 0 and len(repeats(counts)) == 3 and len(ran(counts)) == 4


def test_warm_ups_run_again_for_they_warm_the_machine_of_now(counts: Lull) -> None:
    command = ["--runs", "3", "--warmup", "2", "--out", "r", "./counts"]
    stopped(counts, 4, *command)
    assert counts.run("measure", *command).returncode == 0
    assert len(ran(counts)) == 4 + 2 + 2


@pytest.mark.parametrize(
    ("change", "args", "words"),
    [
        (lambda lull: None, ["--runs", "3", "--out", "r", "./counts", "other"], "its description has changed"),
        (lambda lull: None, ["--runs", "3", "--hz", "7", "--out", "r", "./counts"], "its description has changed"),
        (lambda lull: lull.env.update(LULL_WAIT="poll"), None, "LULL_WAIT was interrupt and is poll"),
        (lambda lull: lull.env.update(OMP_NUM_THREADS="3"), None, "OMP_NUM_THREADS was empty and is 3"),
        (lambda lull: (lull.folder / "counts").write_text(COUNTS + "true\n"), None, "counts has been rebuilt"),
    ],
)
def test_other_conditions_are_refused_in_a_folder_with_a_name(counts: Lull, change, args, words: str) -> None:
    command = ["--runs", "3", "--out", "r", "./counts"]
    stopped(counts, 2, *command)
    before = repeats(counts)
    change(counts)
    done = counts.run("measure", *(args or command))
    assert done.returncode == 125
    [line] = done.stderr.splitlines()
    assert words in line and line.endswith("--fresh starts again, --out names another folder")
    assert repeats(counts) == before and len(ran(counts)) == 2
    done = counts.run("measure", "--fresh", *(args or command))
    assert done.returncode == 0, done.stderr
    assert "resumes" not in done.stderr and len(repeats(counts)) == 3 and len(ran(counts)) == 5


def test_without_a_name_the_folder_of_the_earlier_call_is_found(counts: Lull) -> None:
    command = ["--runs", "3", "./counts"]
    stopped(counts, 3, *command)
    stopped(counts, 5, "--runs", "3", "./counts", "other")
    done = counts.run("measure", *command)
    assert done.returncode == 0, done.stderr
    first, second = sorted((counts.folder / "results").iterdir())
    assert f"resumes: 2 of 3 runs are in results/{first.name}" in done.stderr
    assert len(repeats(counts, f"results/{first.name}")) == 3
    assert (second / STATE / CONDITIONS).exists()


def test_without_a_name_other_conditions_get_a_new_folder_and_a_line(counts: Lull) -> None:
    command = ["--runs", "3", "./counts"]
    stopped(counts, 2, *command)
    [first] = (counts.folder / "results").iterdir()
    (counts.folder / "counts").write_text(COUNTS + "true\n")
    done = counts.run("measure", *command)
    assert done.returncode == 0
    words = f"results/{first.name} is unfinished, but not continued: counts has been rebuilt"
    assert done.stderr.splitlines()[0] == f"lull: {words}"
    fresh = counts.run("measure", "--fresh", *command)
    assert fresh.returncode == 0 and "unfinished" not in fresh.stderr
    assert len(list((counts.folder / "results").iterdir())) == 3


def test_a_measurement_that_still_runs_is_not_continued_by_another(counts: Lull) -> None:
    (counts.folder / "stop").write_text("2\n")
    command = ["--runs", "3", "--out", "r", "./counts"]
    process = counts.start("measure", *command)
    assert wait_until(lambda: len(ran(counts)) == 2)
    second = counts.run("measure", *command)
    process.kill()
    process.communicate(timeout=TIMEOUT_S)
    assert second.returncode == 125 and "another process works on a measurement there" in second.stderr


def test_commands_in_turn_complete_the_round_in_which_they_were_killed(counts: Lull) -> None:
    for name in ("a", "b"):
        (counts.folder / f"{name}.toml").write_text(f'command = ["./counts", "{name}"]\n')
    command = ["--interleave", "--runs", "3", "--out", "o", "a.toml", "b.toml"]
    stopped(counts, 4, *command)
    done = counts.run("measure", *command)
    assert done.returncode == 0, done.stderr
    assert "resumes: 3 of 6 runs are in o" in done.stderr
    rounds = [line for number, line in enumerate(ran(counts)) if number != 3]  # without the run that was killed
    assert [sorted(rounds[i : i + 2]) for i in (0, 2, 4)] == [["a", "b"]] * 3
    assert sorted(path.name for path in (counts.folder / "o").iterdir()) == ["a", "b"]
    (counts.folder / "a.toml").write_text('command = ["./counts", "c"]\n')
    assert "it exists already" in counts.run("measure", *command).stderr


def test_a_measurement_to_a_precision_goes_on_to_it(counts: Lull) -> None:
    command = ["--until-ci", "1e-6", "--max-runs", "8", "--out", "r", "./counts"]
    stopped(counts, 4, *command)
    done = counts.run("measure", *command)
    assert "resumes: 3 runs are in r" in done.stderr and "stopped after 8 runs" in done.stderr
    assert len(repeats(counts)) == 8 and len(ran(counts)) == 9


def test_idle_power_is_measured_once(counts: Lull) -> None:
    command = ["--runs", "3", "--idle", "1", "--out", "r", "./counts"]
    stopped(counts, 2, *command)
    before = record.read(counts.folder / "r").idle
    done = counts.run("measure", *command)
    assert "measuring idle power" not in done.stderr
    assert record.read(counts.folder / "r").idle == before != []


def test_runs_that_are_added_to_a_record_resume_too(counts: Lull) -> None:
    (counts.folder / "stop").write_text("-1\n")
    assert counts.run("measure", "--runs", "2", "--out", "r", "./counts").returncode == 0
    (counts.folder / "ran").unlink()
    command = ["--runs", "4", "--append", "r", "./counts"]
    stopped(counts, 3, *command)
    before = repeats(counts)
    done = counts.run("measure", *command)
    assert done.returncode == 0, done.stderr
    assert "resumes: 2 of 4 runs are in r" in done.stderr
    assert repeats(counts)[:4] == before and [one.index for one in repeats(counts)] == list(range(6))
    assert sorted(path.name for path in (counts.folder / "r").iterdir()) == ["run.json", "samples.parquet"]
    assert counts.run("measure", *command).returncode == 0
    assert len(repeats(counts)) == 10, "a call that ended is not continued: the next adds as many again"


def test_runs_are_added_to_a_measurement_that_nobody_continues(counts: Lull) -> None:
    stopped(counts, 3, "--runs", "9", "--out", "r", "./counts")
    done = counts.run("measure", "--runs", "2", "--append", "r", "./counts")
    assert done.returncode == 0
    assert "what was begun there is not continued: it was started without --append" in done.stderr
    assert len(repeats(counts)) == 4 and not (counts.folder / "r" / STATE).exists()


def test_one_run_leaves_nothing_to_continue(counts: Lull) -> None:
    stopped(counts, 1, "--out", "r", "./counts")
    assert not (counts.folder / "r").exists()


def test_fresh_removes_only_a_measurement(counts: Lull) -> None:
    stopped(counts, 2, "--runs", "3", "--out", "r", "./counts")
    path = counts.folder / "r" / STATE / CONDITIONS
    path.write_text(json.dumps({**json.loads(path.read_text()), "what": "study"}))
    (counts.folder / "r" / "thesis.tex").touch()
    done = counts.run("measure", "--fresh", "--runs", "3", "--out", "r", "./counts")
    assert done.returncode == 125 and "a study is there; name another folder with --out" in done.stderr
    assert len(repeats(counts)) == 1 and (counts.folder / "r" / "thesis.tex").exists()


def test_from_python_the_same_call_continues(counts: Lull, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(counts, 3, "--runs", "4", "--label", "counts", "--out", "r", "./counts")
    monkeypatch.chdir(counts.folder)
    monkeypatch.setenv("LULL_METER_SOURCES", counts.sources)
    found = library.measure(["./counts"], runs=4, out="r")
    assert len(found.run.repeats) == 4 and len(ran(counts)) == 5
    with pytest.raises(LullError, match="it exists already"):
        library.measure(["./counts"], runs=4, out="r", fresh=True)
