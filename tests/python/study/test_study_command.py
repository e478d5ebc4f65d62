"""`lull study` as a user calls it: interleaved, resumable after any kill, with correct verdicts."""

import json
import os
import random
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc
import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from lull import record
from lull.experiment.state import ExperimentState
from lull.study.kind import MADE
from lull.study.kinds import all_results

PROGRAM = """
import json, os, sys, time
begin = time.monotonic_ns(); time.sleep(float(sys.argv[1])); end = time.monotonic_ns()
json.dump({"schema": 2, "node": os.uname().nodename, "pid": os.getpid(), "pe": 0,
           "regions": [{"name": "updates", "begin_ns": begin, "end_ns": end, "cpu_ns": 5}],
           "metrics": [{"name": "updates", "value": 1000, "unit": "1", "combination": "sum"}]},
          open(os.environ["LULL_RECORD"] + "/regions-0.json", "w"))
open(os.environ["HERE"] + "/order", "a").write(" ".join(sys.argv[1:]) + " " + os.environ.get("EXTRA", "-") + "\\n")
"""

STUDY = """
title = "A small study"
question = "Is half the time half the time?"
command = ["{python}", "{here}/program.py", "{pause}", "{input}"]
[parameters]
base = 1
[factors]
pause = [0.1, 0.05]
input = ["none", "made"]
[values.input]
none.args = []
made.args = ["--input", "{prepared:thing}"]
made.env = { EXTRA = "set" }
[prepare.thing]
command = ["{python}", "-c", "open(r'{output}', 'w').write('x')"]
output = "thing.txt"
[measure]
runs = 3
warmup = 1
hz = 50
region = "updates"
per = "updates"
[quick]
factors.input = ["none"]
measure.runs = 2
[[compare]]
name = "shorter"
baseline = { pause = 0.1 }
candidate = { pause = 0.05 }
for_each = ["input"]
[[paper_results]]
says = "Half is half."
checks = [{ compare = "shorter", quantity = "speedup", relation = "above", than = 1.5 }]
[[paper_results]]
says = "The moon is made of cheese."
note = "there is no moon here"
"""


@pytest.fixture
def study(lull: Lull) -> Lull:
    (lull.folder / "small.toml").write_text(STUDY)
    (lull.folder / "program.py").write_text(PROGRAM)
    lull.env["HERE"] = str(lull.folder)
    return lull


def order(study: Lull) -> list[str]:
    return (study.folder / "order").read_text().splitlines()


def points(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir() if path.is_dir() and path.name not in ("inputs", ".state"))


def test_every_point_has_a_whole_record_and_the_report_is_written(study: Lull) -> None:
    done = study.run("study", "./small.toml")
    assert done.returncode == 0, done.stderr
    out = study.folder / "results" / "study-small"
    assert points(out) == [
        "pause-0_05.input-made",
        "pause-0_05.input-none",
        "pause-0_1.input-made",
        "pause-0_1.input-none",
    ]
    for name in points(out):
        run = record.read(out / name)
        assert [repeat.index for repeat in run.repeats] == [0, 1, 2]
        assert run.label == name
        assert sorted(pc.unique(record.read_samples(out / name)["repeat"]).to_pylist()) == [0, 1, 2]
    assert record.read(out / "pause-0_1.input-none").factors == {"pause": 0.1, "input": "none"}
    assert {path.name for path in out.iterdir()} == {".state", *points(out), *MADE} - {"plots"}
    assert (out / "report.html").stat().st_size > 0
    assert str(Path("results/study-small/report.html")) in done.stderr


def test_values_stand_for_arguments_and_environment(study: Lull) -> None:
    study.run("study", "./small.toml")
    inputs = study.folder.resolve() / "results" / "study-small" / "inputs" / "thing.txt"
    assert {line.split(" ", 1)[1] for line in order(study)} == {"-", f"--input {inputs} set"}


def test_repeats_are_interleaved_and_warmed_up(study: Lull) -> None:
    study.run("study", "./small.toml")
    ran = order(study)
    assert len(ran) == 4 * (1 + 3)
    rounds = [ran[i : i + 4] for i in range(0, 16, 4)]
    assert all(sorted(one) == sorted(rounds[0]) for one in rounds)
    assert any(one != rounds[0] for one in rounds[1:])


def test_quick_is_smaller_and_stands_in_a_folder_of_its_own(study: Lull) -> None:
    assert study.run("study", "./small.toml", "--quick").returncode == 0
    out = study.folder / "results" / "study-small-quick"
    assert points(out) == ["pause-0_05.input-none", "pause-0_1.input-none"]
    assert len(record.read(out / "pause-0_1.input-none").repeats) == 2


def test_the_papers_claims_stand_beside_what_was_found(study: Lull) -> None:
    shown = study.run("study", "./small.toml", "--quick").stdout
    assert "paper: Half is half." in shown
    assert "here: undecided: Speedup" in shown  # two runs give no interval
    assert "here: undecided: there is no moon here" in shown


def test_without_a_terminal_progress_is_plain_lines_with_the_time_left(study: Lull) -> None:
    lines = study.run("study", "./small.toml", "--quick").stderr.splitlines()
    assert [line.split(" ")[0] for line in lines] == [*(f"{i}/6" for i in range(1, 7)), "lull:"]  # report in ...
    assert lines[0].endswith(" left")


def test_a_complete_study_is_not_run_again_unless_fresh(study: Lull) -> None:
    first = study.run("study", "./small.toml", "--quick")
    ran = len(order(study))
    again = study.run("study", "./small.toml", "--quick")
    assert "is complete" in again.stderr
    assert again.stdout == first.stdout
    assert len(order(study)) == ran
    keep = study.folder / "results" / "study-small-quick" / "mine.txt"
    keep.write_text("a note")
    assert study.run("study", "./small.toml", "--quick", "--fresh").returncode == 0
    assert len(order(study)) == 2 * ran
    assert keep.exists()


def test_killed_at_any_moment_it_leaves_no_child_and_goes_on_where_it_was(study: Lull) -> None:
    chance = random.Random(3)
    mark = f"MARK={study.folder}/x"
    study.env["MARK"] = f"{study.folder}/x"
    out = study.folder / "results" / "study-small"
    for finished in range(6):
        process = study.start("study", "./small.toml")
        assert wait_until(lambda least=finished: len(list((out / ".state").glob("*/*.json"))) >= least)
        time.sleep(chance.uniform(0, 0.4))
        process.kill()
        process.communicate()
        assert gone(mark), processes_with(mark)
        for name in points(out) if out.exists() else []:
            assert len(record.read(out / name).repeats) == 3
    kept = {path: path.read_bytes() for path in (out / ".state").glob("*/*.json")}
    assert len(kept) >= 5
    done = study.run("study", "./small.toml")
    assert done.returncode == 0, done.stderr
    assert all(path.read_bytes() == content for path, content in kept.items())
    assert len(points(out)) == 4


def test_a_search_for_finished_repeats_finds_none_that_is_half_written(tmp_path: Path, monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(os, "fsync", lambda _: seen.append([*tmp_path.rglob("*.json"), *tmp_path.rglob("*.parquet")]))
    with ExperimentState(tmp_path, "study") as state:
        for name in ("000.json", "000.parquet"):
            state.write(tmp_path / ".state" / "point" / name, b"{}")
            seen.append([path.name for path in (tmp_path / ".state" / "point").iterdir()])
    assert [sorted(map(str, one)) for one in seen] == [
        [],
        ["000.json"],
        [str(tmp_path / ".state" / "point" / "000.json")],
        ["000.json", "000.parquet"],
    ]


def test_an_interrupt_keeps_what_is_finished_and_exits_130(study: Lull) -> None:
    process = study.start("study", "./small.toml")
    state = study.folder / "results" / "study-small" / ".state"
    assert wait_until(lambda: list(state.glob("*/000.json")))
    process.send_signal(2)
    _, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "interrupted by SIGINT" in stderr
    assert study.run("study", "./small.toml").returncode == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda study: study.env.update(LULL_WAIT="poll"), "LULL_WAIT was interrupt and is poll"),
        (lambda study: (study.folder / "small.toml").write_text(STUDY.replace("runs = 3", "runs = 4")), "changed"),
        (lambda study: (study.folder / "program.py").write_text(PROGRAM + "\n"), "program.py has changed"),
    ],
)
def test_what_no_longer_belongs_together_is_moved_aside_with_the_difference(study: Lull, change, words: str) -> None:
    process = study.start("study", "./small.toml")
    assert wait_until(lambda: list((study.folder / "results").glob("study-small/.state/*/000.json")))
    process.kill()
    process.communicate()
    change(study)
    done = study.run("study", "./small.toml", "--quiet")
    line = done.stderr.splitlines()[0]
    assert line.startswith("lull: the former content of results/study-small is now in ") and words in line
    assert list((study.folder / "results" / "study-small-1" / ".state").glob("*/000.json"))


def test_another_study_in_the_folder_is_moved_aside_and_not_lost(study: Lull) -> None:
    assert study.run("study", "./small.toml", "--quick").returncode == 0
    results = study.folder / "results"
    points = {folder.name for folder in (results / "study-small-quick").glob("pause-*")}
    study.env["LULL_WAIT"] = "poll"
    done = study.run("study", "./small.toml", "--quick")
    assert done.returncode == 0, done.stderr
    first = done.stderr.splitlines()[0]
    assert "study-small-quick is now in" in first and "LULL_WAIT was interrupt and is poll" in first
    for folder in (results / "study-small-quick", results / "study-small-quick-1"):
        assert {point.name for point in folder.glob("pause-*")} == points
        assert (folder / "report.html").exists()


def test_the_results_of_another_kind_of_study_are_removed_or_moved_aside(study: Lull) -> None:
    out = study.folder / "results" / "study-small-quick"
    others = {*all_results()} - {*MADE}
    assert {"points.csv", "choices.json", "sweep.csv"} <= others

    def left_by_others(folder: Path) -> set[str]:
        return {path.name for path in folder.iterdir()} & others

    assert study.run("study", "./small.toml", "--quick").returncode == 0
    assert not left_by_others(out)
    for name in others:
        (out / name).write_text("from a study of another kind")
    assert study.run("study", "./small.toml", "--quick").returncode == 0
    assert left_by_others(out) == others, "the same study goes on in the folder as it is"
    (study.folder / "small.toml").write_text(STUDY.replace("measure.runs = 2", "measure.runs = 1"))
    assert study.run("study", "./small.toml", "--quick").returncode == 0
    assert not left_by_others(out) and left_by_others(out.with_name(f"{out.name}-1")) == others
    for name in others:
        (out / name).write_text("from a study of another kind")
    assert study.run("study", "./small.toml", "--quick", "--fresh").returncode == 0
    assert not left_by_others(out)


@pytest.mark.parametrize(("until", "runs", "words"), [(100000, 6, ""), (1e-9, 7, "7 runs, the most allowed")])
def test_rounds_go_on_until_every_interval_is_narrow(study: Lull, until: float, runs: int, words: str) -> None:
    more = f"runs = 3\nuntil_ci = {until}\nmax_runs = 7"
    (study.folder / "small.toml").write_text(STUDY.replace("runs = 3", more).replace("measure.runs = 2", ""))
    done = study.run("study", "./small.toml", "--quick")
    assert done.returncode == 0, done.stderr
    assert words in done.stderr
    out = study.folder / "results" / "study-small-quick"
    assert [len(record.read(out / name).repeats) for name in points(out)] == [runs, runs]


def test_two_at_once_in_one_folder_are_refused(study: Lull) -> None:
    process = study.start("study", "./small.toml")
    assert wait_until((study.folder / "order").exists)
    second = study.run("study", "./small.toml")
    process.kill()
    process.communicate()
    assert second.returncode == 1
    assert "another process works on a study there" in second.stderr


def test_a_failing_program_stops_the_study_with_its_last_words(study: Lull) -> None:
    (study.folder / "program.py").write_text("import sys; print('first'); sys.exit('the bins are full')")
    done = study.run("study", "./small.toml")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("lull: run pause-")
    assert "exit code 1: the bins are full" in done.stderr


def test_a_program_without_the_region_stops_the_study(study: Lull) -> None:
    (study.folder / "program.py").write_text("pass")
    assert "reported no region 'updates'" in study.run("study", "./small.toml").stderr


def test_a_folder_with_something_else_is_left_alone(study: Lull) -> None:
    (study.folder / "mine").mkdir()
    (study.folder / "mine" / "thesis.tex").write_text("")
    for flags in ([], ["--fresh"]):
        done = study.run("study", "./small.toml", *flags, "--out", "mine")
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert [path.name for path in (study.folder / "mine").iterdir()] == ["thesis.tex"]


def test_quietly_no_progress_is_shown(study: Lull) -> None:
    shown = study.run("study", "./small.toml", "--quick", "--out", "shown")
    assert re.search(r"(?m)^1/\d+ ", shown.stderr)
    hidden = study.run("study", "./small.toml", "--quick", "--out", "hidden", "-q")
    assert hidden.returncode == 0 and not re.search(r"(?m)^\d+/\d+ ", hidden.stderr)


def test_a_file_that_is_not_there_is_one_line(lull: Lull) -> None:
    done = lull.run("study", "nowhere/else.toml")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


def test_the_state_says_what_was_begun(study: Lull) -> None:
    study.run("study", "./small.toml", "--quick")
    begun = json.loads((study.folder / "results" / "study-small-quick" / ".state" / "conditions.json").read_text())
    assert begun["options"] == ["--quick"]
    assert "LULL_RECORD" not in begun["settings"]


GATE = """
title = "t"
question = "q"
command = ["./{side}/app"]
[factors]
side = ["main", "change"]
[measure]
runs = 1
warmup = 0
[[compare]]
name = "the change"
baseline = { side = "main" }
candidate = { side = "change" }
"""


def program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_a_program_by_a_relative_path_is_known_by_its_content(lull: Lull) -> None:
    (lull.folder / "gate.toml").write_text(GATE)
    program(lull.folder / "main" / "app", "echo main")
    program(lull.folder / "change" / "app", "echo change")
    assert lull.run("study", "./gate.toml", "--out", "gate").returncode == 0
    os.utime(lull.folder / "change" / "app")
    done = lull.run("study", "./gate.toml", "--out", "gate")
    assert "is complete" in done.stderr, "a later time alone changes nothing"
    status = (lull.folder / "change" / "app").stat()
    program(lull.folder / "change" / "app", "echo CHANGE")
    os.utime(lull.folder / "change" / "app", ns=(status.st_atime_ns, status.st_mtime_ns))
    done = lull.run("study", "./gate.toml", "--out", "gate")
    assert done.returncode == 0
    assert "app has been rebuilt" in done.stderr and "is complete" not in done.stderr


def test_a_program_on_path_and_an_input_are_known_by_their_content(lull: Lull) -> None:
    (lull.folder / "gate.toml").write_text(GATE.replace('"./{side}/app"', '"app", "--in=deck", "-o", "out"'))
    program(lull.folder / "bin" / "app", "date +%N > out; cat deck")
    (lull.folder / "deck").write_text("one")
    (lull.folder / "out").write_text("old")
    lull.env["PATH"] = f"{lull.folder / 'bin'}:{os.environ['PATH']}"
    assert lull.run("study", "./gate.toml", "--out", "gate").returncode == 0
    assert "is complete" in lull.run("study", "./gate.toml", "--out", "gate").stderr
    (lull.folder / "deck").write_text("two")
    assert "deck has changed" in lull.run("study", "./gate.toml", "--out", "gate").stderr
    program(lull.folder / "bin" / "app", "cat deck; true")
    assert "app has been rebuilt" in lull.run("study", "./gate.toml", "--out", "gate").stderr


def test_fresh_gets_past_a_damaged_note_and_links(study: Lull) -> None:
    out = study.folder / "results" / "study-small"
    assert study.run("study", "./small.toml").returncode == 0
    (out / ".state" / "conditions.json").write_text("{")
    elsewhere = study.folder / "elsewhere"
    elsewhere.mkdir()
    point = next(out.glob("pause-*"))
    shutil.rmtree(point)
    point.symlink_to(elsewhere)
    done = study.run("study", "./small.toml")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "--fresh" in done.stderr
    done = study.run("study", "./small.toml", "--fresh")
    assert done.returncode == 0, done.stderr
    assert elsewhere.is_dir() and not point.is_symlink()


def test_a_study_in_the_working_directory_is_moved_aside(study: Lull) -> None:
    inside = study.folder / "inside"
    inside.mkdir()
    here = replace(study, folder=inside)
    assert here.run("study", "../small.toml", "--out", ".").returncode == 0
    here.env["LULL_WAIT"] = "poll"
    done = here.run("study", "../small.toml", "--out", ".")
    assert done.returncode == 0, done.stderr
    assert (study.folder / "inside-1" / ".state" / "conditions.json").exists()
