"""Studies of simulations: their file, their grids, and the results of rows; and a small one as a user calls it."""

from __future__ import annotations

import csv
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import lull
from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull.base import installed
from lull.base.errors import LullError
from lull.base.interrupts import Interrupts
from lull.experiment.state import ExperimentState
from lull.study.kind import MADE
from lull.study.kinds import read_study
from lull.study.simulations.description import Bound, Statement, StudyOfSimulations
from lull.study.simulations.figures import drawings
from lull.study.simulations.grids import all_points, workloads_of
from lull.study.simulations.kind import KIND
from lull.study.simulations.rows import Row, csv_text, rows_of
from lull.study.simulations.running import points_left, run_points
from lull.study.simulations.savings import csv_text as savings_csv
from lull.study.simulations.savings import savings_of
from lull.study.simulations.verdicts import NOT_REPRODUCED, REPRODUCED, UNDECIDED, judge

SMALL = """
kind = "simulations"
title = "Small"
question = "Does it sleep?"
topologies = ["fat-tree-4608"]
mappings = ["linear"]
[simulation]
seed = 3
[applications.miniamr]
job = { pattern = "miniamr", stages_per_ts = 5, num_vars = 2 }
[applications.sw4lite]
job = { pattern = "sw4lite", step_time = "1 ms" }
[[power]]
mode = "deep-sleep"
holds = ["0 Ts", "1 Ts"]
[[grids]]
name = "single"
processes = [8, 16]
[[grids]]
name = "multi"
processes = [8, 16]
workloads = 2
total = 32
[quick]
jobs.miniamr = { stages_per_ts = 1 }
[[quick.grids]]
name = "single"
processes = [8]
[[quick.grids]]
name = "multi"
processes = [8]
workloads = 1
total = 16
[[figures]]
name = "Savings"
grid = "single"
kind = "by-processes"
[[figures]]
name = "Spread"
grid = "multi"
kind = "distribution"
[[paper_results]]
says = "Links that sleep save power."
checks = [{ grid = "single", quantity = "saved", relation = "above", than = 0.5, at = { mode = ["deep-sleep"] } }]
[[paper_results]]
says = "Sleep is free."
checks = [
  { grid = "single", quantity = "slowdown", of = "most", relation = "below", than = 0, at = { mode = ["deep-sleep"] } },
]
"""


def described(folder: Path, text: str = SMALL) -> StudyOfSimulations:
    path = folder / "small.toml"
    path.write_text(text)
    return read_study(path)


def row(application: str, mode: str, *, saved: float = 0.0, slowdown: float | None = None, processes: int = 8) -> Row:
    factors = {"topology": "t", "mapping": "linear", "workload": 0, "hold": "1 Ts"}
    factors |= {"application": application, "processes": processes, "mode": mode}
    name = f"{application}.{processes}.{mode}"
    return Row(name, "", "single", factors, 1, saved, saved, saved, 1.0, slowdown, 0.5, None, None, None, 0.1, 10)


def test_the_studies_of_simulations_that_come_with_lull_are_well_formed() -> None:
    links = read_study(installed.studies()["links"])
    single, left_open, held, multi = links.grids
    settings = 1 + sum(len(power.holds) for power in links.power)
    assert settings == 12
    of_each = len(links.topologies) * len(links.mappings) * settings
    assert of_each * len(list(workloads_of(links, single))) == 2520
    assert of_each * len(list(workloads_of(links, multi))) == 1440
    assert len(left_open.power) == 7
    assert len(held.power) == 3
    assert len(all_points(links.made_quick())) == 1 * 2 * (5 * (7 + 2) + 3 * 7)


def test_points_are_all_combinations_with_an_active_one_for_each(tmp_path: Path) -> None:
    points = all_points(described(tmp_path))
    assert len(points) == 3 * (2 * 2 + 2)
    assert points[0].name == points[0].active == "single.fat-tree-4608.linear.miniamr.8.active"
    assert points[2].name == "single.fat-tree-4608.linear.miniamr.8.deep-sleep.1_Ts"
    assert points[2].active == points[0].name
    assert points[2].content["power"] == {"mode": "deep-sleep", "hold": "1 Ts"}
    assert len({point.name for point in points}) == len(points)


def test_a_point_with_active_links_computes_what_the_settings_save_without_waits(tmp_path: Path) -> None:
    text = SMALL.replace('holds = ["0 Ts", "1 Ts"]\n', """holds = ["0 Ts", "1 Ts"]
[[power]]
name = "learnt"
mode = "deep-sleep"
keys = { bound = 0.01 }
[[power]]
name = "around"
mode = "deep-sleep"
routing = { algorithm = "power-aware" }
[[power]]
mode = "adaptive-rate"
""")  # fmt: skip
    points = all_points(described(tmp_path, text))
    active = points[0]
    assert [name for name, _ in active.savings] == [point.name for point in points[1:3]]
    assert active.savings[1][1] == {"mode": "deep-sleep", "hold": "1 Ts"}
    assert "savings" not in active.content  # which determines the key of the point
    assert all(not point.savings for point in points[1:6])
    state = ExperimentState(tmp_path / "out", "study")
    with state, Interrupts() as interrupts:
        run_points([active], 1, state, interrupts)
        rows = savings_of(points, state)
    assert [row.point for row in rows] == [name for name, _ in active.savings]
    alone = lull.simulate({**points[2].content, "power": {**points[2].content["power"], "wake_delays": False}})
    assert rows[1].saved == pytest.approx(alone.power.saved, rel=1e-12)
    assert rows[1].factors["hold"] == "1 Ts"
    assert next(csv.DictReader(savings_csv(rows).splitlines()))["mode"] == "deep-sleep"


def test_a_grid_may_have_power_settings_of_its_own(tmp_path: Path) -> None:
    own = """
[[grids]]
name = "open"
processes = [8]
[[grids.power]]
name = "learnt, and routed around"
mode = "deep-sleep"
keys = { bound = 0.01 }
routing = { algorithm = "power-aware" }
[quick]
"""
    points = [
        point for point in all_points(described(tmp_path, SMALL.replace("[quick]\n", own))) if point.grid == "open"
    ]
    assert [point.name.removeprefix("open.fat-tree-4608.linear.") for point in points] == [
        "miniamr.8.active",
        "miniamr.8.learnt_and_routed_around",
        "sw4lite.8.active",
        "sw4lite.8.learnt_and_routed_around",
    ]
    assert points[1].factors["mode"] == "learnt, and routed around"
    assert points[1].content["power"] == {"mode": "deep-sleep", "bound": 0.01}
    assert points[1].content["routing"] == {"algorithm": "power-aware"}
    assert "routing" not in points[0].content


def test_drawn_workloads_fill_their_processes_and_run_together(tmp_path: Path) -> None:
    study = described(tmp_path)
    workloads = list(workloads_of(study, study.grids[1]))
    assert [number for number, _ in workloads] == [1, 2]
    assert all(sum(job.processes for job in jobs) == 32 for _, jobs in workloads)
    assert workloads == list(workloads_of(study, study.grids[1]))
    for point in all_points(study):
        assert point.content.get("together", False) == (point.grid == "multi")


def test_a_grid_may_be_sampled(tmp_path: Path) -> None:
    study = described(tmp_path, SMALL.replace("total = 32\n", "total = 32\nsample = { seeds = 2 }\n"))
    points = [point for point in all_points(study) if point.factors["workload"] == 1]
    assert [point.samples for point in points] == [2, 2, 2]
    assert points[0].content["sample"] == {"units": 1, "cut": "30 ms"}
    assert points[0].content_of(1)["sample"] == {"units": 1, "cut": "30 ms", "seed": 2}
    assert not points[0].savings
    state = ExperimentState(tmp_path / "out", "study")
    with state, Interrupts() as interrupts:
        run_points(points[:2], 1, state, interrupts)
        assert points_left(points, state) == points[2:]
        rows = rows_of(points, state)
    assert {row.point for row in rows} == {point.name for point in points[:2]}
    for one in rows:
        assert one.sampled is not None
        assert one.saved_error is not None
        assert one.runs >= 1
    deep = [one for one in rows if one.factors["mode"] == "deep-sleep"]
    assert all(one.slowdown is not None and one.slowdown_error is not None for one in deep)
    lines = list(csv.DictReader(csv_text(rows).splitlines()))
    assert [float(line["sampled"]) for line in lines] == [one.sampled for one in rows]


@pytest.mark.parametrize(
    ("change", "to", "words"),
    [
        ('grid = "multi"\nkind', 'grid = "mutli"\nkind', "figure Spread: no grid 'mutli', did you mean multi?"),
        ("total = 32", "total = 33", "grid multi: total and processes must be multiples of 8, the smallest"),
        ('at = { mode = ["deep', 'at = { mod = ["deep', "paper_results: no factor 'mod', did you mean mode?"),
        ("seed = 3", "seed = 3\njobs = []", "simulation.jobs: the study says it at its top"),
    ],
)
def test_a_mistake_in_the_file_is_one_line(tmp_path: Path, change: str, to: str, words: str) -> None:
    with pytest.raises(LullError, match="read the study") as error:
        described(tmp_path, SMALL.replace(change, to, 1))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_key_that_no_application_has_is_named_with_its_point(tmp_path: Path) -> None:
    study = described(tmp_path, SMALL.replace("num_vars", "num_var"))
    with pytest.raises(LullError, match=r"lay out single.fat-tree-4608.linear.miniamr.8.active: .*num_var"):
        all_points(study)


def check(**changes: object) -> Bound:
    given = {"grid": "single", "quantity": "saved", "relation": "above", "than": 0.5, **changes}
    return Bound.model_validate(given)


ROWS = [
    row("kripke", "deep-sleep", saved=0.9, slowdown=0.0001),
    row("laghos", "deep-sleep", saved=0.7, slowdown=0.15),
    row("kripke", "hybrid", saved=0.8, slowdown=0.0),
    row("laghos", "hybrid", saved=0.4, slowdown=0.005),
]


def verdict(*checks: Bound) -> str:
    return judge(Statement(says="s", checks=list(checks)), ROWS).verdict


def test_a_statement_is_reproduced_when_every_check_holds_at_each_combination() -> None:
    assert verdict(check(at={"mode": ["deep-sleep"]}, for_each=["application"])) == REPRODUCED
    assert verdict(check(for_each=["application", "mode"])) == NOT_REPRODUCED
    assert verdict(check(at={"mode": ["hybrid"]}, of="most")) == REPRODUCED
    assert verdict(check(at={"mode": ["hybrid"]}, of="least")) == NOT_REPRODUCED
    assert verdict(check(at={"mode": ["hybrid"]}, of="least"), check()) == NOT_REPRODUCED


def test_a_check_may_be_of_a_difference() -> None:
    less = check(at={"mode": ["deep-sleep"]}, minus={"mode": ["hybrid"]}, than=0.05, for_each=["application"])
    assert verdict(less) == REPRODUCED
    assert verdict(less.model_copy(update={"than": 0.2})) == NOT_REPRODUCED


def test_a_difference_is_of_rows_that_are_on_both_sides() -> None:
    both = [row("a", "deep-sleep", saved=0.9), row("a", "hybrid", saved=0.1)]
    told = [check(at={"mode": ["deep-sleep"]}, minus={"mode": ["hybrid"]}, than=0.7)]
    for alone in ([], [row("b", "deep-sleep", saved=0.1)], [row("b", "hybrid", saved=0.9)]):
        assert judge(Statement(says="s", checks=told), [*both, *alone]).verdict == REPRODUCED
    assert judge(Statement(says="s", checks=told), [both[0], row("b", "hybrid")]).verdict == UNDECIDED


def test_what_was_not_simulated_cannot_be_told() -> None:
    assert verdict(check(at={"mode": ["fast-wake"]})) == UNDECIDED
    assert verdict(check(minus={"mode": ["fast-wake"]})) == UNDECIDED
    assert verdict() == UNDECIDED


def test_power_counts_once_for_a_point_with_several_jobs() -> None:
    one = row("a", "hybrid", saved=0.2)
    rows = [one, one, one, row("b", "hybrid", saved=0.6), row("c", "hybrid", saved=0.7)]
    told = judge(Statement(says="s", checks=[check(than=0.5)]), rows)
    assert told.verdict == REPRODUCED
    assert "60 %" in told.words


def test_words_tell_the_figures_and_small_ones_with_their_digits() -> None:
    told = judge(Statement(says="s", checks=[check(quantity="slowdown", of="least", than=0.1)], note="why"), ROWS[:2])
    assert told.words == "least slowdown 0.0100 % (wanted: above 10 %); why"


def test_words_tell_a_figure_from_its_bound() -> None:
    rows = [row("a", "fast-wake", saved=0.3791)]
    told = judge(Statement(says="s", checks=[check(of="least", than=0.38)]), rows)
    assert told.words == "least power saved 37.9 % (wanted: above 38 %)"


def test_words_begin_with_the_number_of_points_behind_a_verdict(tmp_path: Path) -> None:
    points = all_points(described(tmp_path))  # active, 0 Ts and 1 Ts of four applications alone and two workloads
    asleep = [point for point in points if point.grid == "single" and point.factors["mode"] == "deep-sleep"]
    statement = Statement(says="s", checks=[check(at={"mode": ["deep-sleep"]})])
    rows = [replace(row("x", "deep-sleep", saved=0.9), point=point.name) for point in asleep]
    assert judge(statement, rows, points).words.startswith("on all 8 points; median")
    assert judge(statement, rows[:2], points).words.startswith("on 2 of 8 points; ")
    apart = Statement(
        says="s",
        checks=[check(grid="multi", at={"mode": ["deep-sleep"]}, minus={"mode": ["active"]}, minus_grid="single")],
    )
    assert judge(apart, rows, points).words.startswith("on 0 of 8 points; ")  # 4 of workloads, and 4 with active links


def test_figures_are_drawn_of_what_is_there(tmp_path: Path) -> None:
    study = described(tmp_path)
    rows = [
        row(application, mode, saved=0.5, slowdown=0.1, processes=processes)
        for application in ("a", "b")
        for mode in ("hybrid", "active")
        for processes in (8, 16)
    ]
    found = drawings(study.figures, rows)
    assert [one.title for one in found] == ["Savings, t: a", "Savings, t: b"]
    assert found[0].headings == ["mapping", "power", "saved, 8", "saved, 16", "slowdown, 8", "slowdown, 16"]
    assert found[0].rows == [["linear", "hybrid, hold 1 Ts", "50 %", "50 %", "10 %", "10 %"]]
    assert "<svg" in found[0].plot.svg("x")


def test_settings_are_drawn_by_mode_and_hold_whichever_come_first(tmp_path: Path) -> None:
    known = [("deep-sleep", "1 Ts"), ("fast-wake", "1 Ts"), ("deep-sleep", "10 Ts"), ("fast-wake", "0 Ts")]
    rows = [row("a", mode, saved=0.5, slowdown=0.1) for mode, _ in [*known, ("deep-sleep", "2 Ts")]]
    for one, hold in zip(rows, [hold for _, hold in known] + ["2 Ts"], strict=True):
        one.factors["hold"] = hold
    (found,) = drawings(described(tmp_path).figures, rows)
    assert [cells[1] for cells in found.rows] == [
        *(f"deep-sleep, hold {hold} Ts" for hold in (1, 2, 10)),
        *(f"fast-wake, hold {hold} Ts" for hold in (0, 1)),
    ]


def test_settings_are_drawn_of_the_same_workloads(tmp_path: Path) -> None:
    figures = [one.model_copy(update={"kind": "distribution"}) for one in described(tmp_path).figures]
    rows = [row("a", mode, saved=0.5, slowdown=0.1) for mode in ("hybrid", "deep-sleep")]
    lacking = row("a", "hybrid", saved=0.1, slowdown=0.9)
    lacking.factors["workload"] = 1
    (found,) = drawings(figures, [*rows, lacking])
    assert {tuple(cells[2:]) for cells in found.rows} == {("50 % (50 % to 50 %)", "10 % (10 % to 10 %)")}
    (alone,) = drawings(figures, [lacking, row("b", "deep-sleep", saved=0.1, slowdown=0.9)])
    assert all(cells[2] == "10 % (10 % to 10 %)" for cells in alone.rows)


def test_power_is_drawn_against_slowdown_for_each_number_of_processes(tmp_path: Path) -> None:
    figures = [one.model_copy(update={"kind": "trade-off"}) for one in described(tmp_path).figures]
    rows = [
        row(application, mode, processes=processes, saved=saved, slowdown=0.1 * saved)
        for processes in (16, 8)
        for application in ("a", "b")
        for mode, saved in (("deep-sleep", 0.9), ("hybrid", 0.8), ("active", 0.0))
    ]
    found = drawings(figures, [*rows, row("c", "hybrid", processes=8, saved=0.5, slowdown=None)])
    assert [(one.name, one.title) for one in found] == [
        ("figure-1", "Savings, t: 8 processes"),
        ("figure-2", "Savings, t: 16 processes"),
    ]
    assert found[0].headings == ["application", "mapping", "deep-sleep, hold 1 Ts", "hybrid, hold 1 Ts"]
    assert found[0].rows == [[name, "linear", "90 %; 9.0 %", "80 %; 8.0 %"] for name in ("a", "b")]
    assert "a, hybrid, hold 1 Ts: draws 20 %, slower by 8 %" in found[0].plot.svg("x")


def test_a_small_study_runs_resumes_and_tells(lull: Lull) -> None:
    (lull.folder / "small.toml").write_text(SMALL)
    first = lull.run("study", "./small.toml", "--quick", "--grid", "single", "--workers", "2")
    assert first.returncode == 0, first.stderr
    assert "grid single: 6 of 6 simulations" in first.stdout
    assert "grid multi: 0 of 3 simulations" in first.stdout
    assert (
        "paper: Links that sleep save power.\n  here: reproduced: on all 4 points; median power saved" in first.stdout
    )
    assert "paper: Sleep is free.\n  here: not reproduced:" in first.stdout
    whole = lull.run("study", "./small.toml", "--quick")
    assert whole.returncode == 0, whole.stderr
    assert "grid multi: 3 of 3 simulations" in whole.stdout
    out = lull.folder / "results" / "study-small-quick"
    rows = list(csv.DictReader((out / "points.csv").open()))
    assert len(rows) == 6 + 3 * 2
    assert {path.name for path in out.iterdir()} <= {".state", *MADE, *KIND.results}
    assert all(float(one["slowdown"]) == 0 for one in rows if one["mode"] == "active")
    report = (out / "report.html").read_text()
    assert "Does it sleep?" in report
    assert "Spread, fat-tree-4608" in report
    again = lull.run("study", "./small.toml", "--quick")
    assert "all requested simulations are in" in again.stderr
    assert again.stdout == whole.stdout


def test_only_the_points_of_a_pattern_and_what_they_are_held_against_are_simulated(lull: Lull) -> None:
    (lull.folder / "small.toml").write_text(SMALL)
    done = lull.run("study", "./small.toml", "--quick", "--only", "multi.*.deep-sleep*")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((lull.folder / "results" / "study-small-quick" / "points.csv").open()))
    assert {row["grid"] for row in rows} == {"multi"}
    assert {row["mode"] for row in rows} == {"active", "deep-sleep"}
    wrong = lull.run("study", "./small.toml", "--quick", "--grid", "single", "--only", "multi.*")
    assert wrong.returncode == 2
    assert "it has no point named 'multi.*'; one is named single." in wrong.stderr


def test_an_interrupted_study_tells_what_is_there(lull: Lull) -> None:
    (lull.folder / "small.toml").write_text(SMALL.replace("stages_per_ts = 5", "stages_per_ts = 200"))
    out = lull.folder / "results" / "study-small"
    started = lull.start("study", "./small.toml", "--workers", "1")
    assert wait_until(lambda: list(out.glob(".state/*/000.json")))
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == 130, said
    assert "the results so far are in" in said
    rows = list(csv.DictReader((out / "points.csv").open()))
    assert len({row["point"] for row in rows}) == len(list(out.glob(".state/*/000.json")))
    assert "<svg" in (out / "report.html").read_text()


def test_what_an_earlier_study_found_is_taken_and_some_of_it_checked(lull: Lull) -> None:
    (lull.folder / "small.toml").write_text(SMALL)
    assert lull.run("study", "./small.toml", "--quick", "--grid", "single", "--out", "one").returncode == 0
    earlier = lull.folder / "one" / "points.csv"
    done = lull.run("study", "./small.toml", "--quick", "--take", "one/points.csv", "--out", "two")
    assert done.returncode == 0, done.stderr
    assert "6 simulations are taken from one/points.csv" in done.stderr
    assert "grid single: 6 of 6 simulations" in done.stdout and "grid multi: 3 of 3 simulations" in done.stdout
    simulated = sorted(path.parent.name for path in (lull.folder / "two" / ".state").glob("*/000.json"))
    assert len(simulated) == 3 + 3, "the other grid, and three probes"

    def single(name: str) -> list[dict[str, str]]:
        rows = csv.DictReader((lull.folder / name / "points.csv").open())
        return [{**row, "simulator_cpu_s": ""} for row in rows if row["grid"] == "single"]

    assert single("two") == single("one")
    probed = [name for name in simulated if name.startswith("single")]
    lines = earlier.read_text().splitlines()
    at = next(place for place, line in enumerate(lines) if line.startswith(probed[0] + ","))
    lines[at] = lines[at].rpartition(",")[0] + ",1"
    earlier.write_text("\n".join(lines) + "\n")
    changed = lull.run("study", "./small.toml", "--quick", "--take", "one/points.csv", "--out", "three")
    assert changed.returncode == 1
    assert f"the simulator has changed: {probed[0]} has packet_hops" in changed.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n", "its columns are not those of a points.csv"),
        (csv_text([row("miniamr", "active")]), "none of its 1 rows belongs to this study now; leave out --take"),
    ],
)
def test_what_cannot_be_taken_is_refused(lull: Lull, content: str, words: str) -> None:
    (lull.folder / "small.toml").write_text(SMALL)
    (lull.folder / "points.csv").write_text(content)
    done = lull.run("study", "./small.toml", "--quick", "--take", "points.csv")
    assert done.returncode == 2
    assert words in done.stderr
    assert not (lull.folder / "results").exists()


def test_options_of_studies_of_simulations_are_refused_elsewhere(lull: Lull) -> None:
    done = lull.run("study", "waiting", "--grid", "single")
    assert done.returncode == 2
    assert "--grid is not for studies of runs; leave it out" in done.stderr
    (lull.folder / "small.toml").write_text(SMALL)
    wrong = lull.run("study", "./small.toml", "--grid", "singel")
    assert wrong.returncode == 2
    assert "it has no grid 'singel'; did you mean single?" in wrong.stderr
