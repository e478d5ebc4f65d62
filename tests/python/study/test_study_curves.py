"""Plots of a study, curves and bars: what can be described, what is left out, and the display."""

from pathlib import Path

import pytest

from conftest import Lull
from lull.base import installed
from lull.base.errors import LullError
from lull.hosts.virtual import virtual_hosts
from lull.record import EnergyKind
from lull.report import svg
from lull.statistics.bootstrap import Interval
from lull.study.kinds import read_study
from lull.study.runs import impacts
from lull.study.runs.curves import binary
from lull.study.runs.points import Places, all_points, pairs

PROGRAM = """
import json, os, sys, time
pause = float(sys.argv[1]) * float(sys.argv[2])
begin, cpu = time.monotonic_ns(), time.process_time_ns()
while time.monotonic_ns() < begin + pause * 1e9: pass
json.dump({"schema": 2, "node": os.uname().nodename, "pid": os.getpid(), "pe": 0,
           "regions": [{"name": "work", "begin_ns": begin, "end_ns": time.monotonic_ns(),
                        "cpu_ns": time.process_time_ns() - cpu}],
           "metrics": [{"name": "items", "value": 10, "unit": "1", "combination": "sum"},
                       {"name": "lag_us", "value": pause, "unit": "us", "combination": "mean"}]},
          open(os.environ["LULL_RECORD"] + "/regions-0.json", "w"))
"""

STUDY = """
title = "t"
question = "q"
command = ["{python}", "{here}/program.py", "{pause}", "{way}"]
[factors]
pause = [0.1, 0.2]
way = [1, 2]
colour = ["red", "blue"]
[[exclude]]
colour = ["blue"]
way = [2]
[measure]
runs = 2
warmup = 0
region = "work"
per = "items"
[[curves]]
name = "Ways"
over = "pause"
unit = "s"
lines = "way"
relative_to = 1
panels = ["lag_us", "time", "cpu", "power", "energy"]
[[impacts]]
name = "What ways save"
over = "pause"
unit = "s"
lines = ["ways"]
[[bars]]
name = "End to end"
groups = "pause"
bars = "way"
only.colour = ["red"]
[[compare]]
name = "ways"
baseline = { way = 1 }
candidate = { way = 2 }
for_each = ["pause", "colour"]
listed = false
"""


def described(folder: Path, text: str = STUDY):
    (folder / "program.py").write_text(PROGRAM)
    path = folder / "s.toml"
    path.write_text(text)
    return read_study(path)


def test_excluded_combinations_are_no_points_and_are_not_compared(tmp_path: Path) -> None:
    study = described(tmp_path)
    names = [point.name for point in all_points(study, Places(tmp_path, tmp_path))]
    assert len(names) == 6
    assert not [name for name in names if "blue" in name and "way-2" in name]
    assert [fixed["colour"] for fixed, _, _ in pairs(study, study.compare[0])] == ["red", "red"]


def test_a_study_without_any_point_is_refused(tmp_path: Path) -> None:
    study = described(tmp_path, STUDY.replace('colour = ["blue"]\nway = [2]', "way = [1, 2]"))
    with pytest.raises(LullError, match="all are excluded"):
        all_points(study, Places(tmp_path, tmp_path))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('over = "pause"', 'over = "pace"', "no factor 'pace', did you mean pause?"),
        ('over = "pause"', 'over = "colour"', "'red' is not a positive number"),
        ('over = "pause"', 'over = "way"', "the same factor, way"),
        ('bars = "way"', 'bars = "pause"', "groups and bars are the same factor, pause"),
        ('groups = "pause"', 'groups = "pace"', "no factor 'pace', did you mean pause?"),
        ('lines = ["ways"]', 'lines = ["way"]', "no comparison 'way', did you mean ways?"),
        ('for_each = ["pause", "colour"]', 'for_each = ["colour"]', "it does not say at which pause"),
        ("relative_to = 1", "relative_to = 3", "way has no value 3"),
        ('[[exclude]]\ncolour = ["blue"]', '[[exclude]]\ncolor = ["blue"]', "no factor 'color', did you mean colour?"),
    ],
)
def test_what_cannot_be_drawn_is_said_before_anything_runs(tmp_path: Path, before: str, after: str, words: str) -> None:
    with pytest.raises(LullError, match=words.replace("?", r"\?")):
        described(tmp_path, STUDY.replace(before, after, 1))


def test_curves_are_printed_drawn_and_in_the_report(lull: Lull) -> None:
    described(lull.folder)
    done = lull.run("study", "./s.toml")
    assert done.returncode == 0, done.stderr
    assert "Ways: colour red; in brackets over 1" in done.stdout
    assert "Speedup" not in done.stdout  # the comparison is not listed
    row = next(line for line in done.stdout.splitlines() if line.split()[:2] == ["0.1", "2"])
    assert row.split()[2:5] == ["0.200", "us", "(2)"]
    out = lull.folder / "results" / "study-s"
    assert {path.name for path in (out / "plots").iterdir()} == {
        f"{name}.{form}" for name in ("curves-1", "curves-2", "impacts-1", "bars-1") for form in ("svg", "pdf")
    }
    page = (out / "report.html").read_text()
    assert '<section id="curves">' in page
    assert "CPU time per item" in page
    assert "End to end: colour red" in done.stdout
    assert '<section id="bars">' in page
    assert "What ways save: colour red" in done.stdout and '<section id="impacts">' in page
    assert "0.1, 2, nodes: " in page  # the text of a bar under the pointer


def test_figures_are_told_anew_without_running_anything_again(lull: Lull) -> None:
    described(lull.folder)
    assert lull.run("study", "./s.toml").returncode == 0
    told = STUDY.replace("End to end", "In all").replace('"lag_us", ', "")
    told = told.replace('only.colour = ["red"]', 'only = { colour = ["red"], way = [2] }')
    (lull.folder / "s.toml").write_text(told)
    done = lull.run("study", "./s.toml")
    assert done.returncode == 0, done.stderr
    assert "is complete" in done.stderr
    table = done.stdout.partition("In all: colour red\n")[2].partition("\n\n")[0]
    assert [line.split()[:2] for line in table.splitlines()[1:]] == [["0.1", "2"], ["0.2", "2"]]
    assert "lag us" not in done.stdout


def test_a_panel_that_no_run_reports_is_refused(lull: Lull) -> None:
    described(lull.folder, STUDY.replace('"lag_us"', '"leg_us"'))
    done = lull.run("study", "./s.toml")
    assert done.returncode == 1
    assert "has no quantity 'leg_us'" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("lines", [["poll", "adaptive"], [f"dedicated-nodes={number}" for number in range(6)]])
def test_a_legend_stands_within_its_figure(lines: list[str]) -> None:
    with svg.drawing():
        figure, axes = svg.panels(2, 2.9)
        for line in lines:
            axes[0].plot([1, 2], [1, 2], label=line)
        svg.legend_below(figure, axes[0])
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1


def test_one_wide_interval_does_not_flatten_a_plot_of_impacts() -> None:
    wide = {panel: Interval(0.1, -12.0, 0.3) for panel in impacts.PANELS}
    usual = {panel: Interval(0.5, 0.4, 0.6) for panel in impacts.PANELS}
    lines = {"before to after": [impacts.ImpactPoint(1, wide), impacts.ImpactPoint(4, usual)]}
    drawn = impacts.plot("Saved", lines, "fragments", EnergyKind.ESTIMATED)
    for panel in drawn.figure.axes:
        assert -100 < panel.get_ylim()[0] < 10
        assert [mark.get_xdata() for mark in panel.lines if mark.get_marker() == "v"] == [[1]]


def test_sizes_read_as_people_write_them() -> None:
    assert [binary(value) for value in (8, 1024, 65536, 1 << 20, 1500, 0.5)] == ["8", "1K", "64K", "1M", "1500", "0.5"]


def test_the_study_of_waiting_is_whole(tmp_path: Path) -> None:
    path = installed.studies()["waiting"]
    study = read_study(path)
    for one in (study, study.made_quick()):
        points = all_points(one, Places(path.parent, tmp_path))
        assert {point.env["LULL_WAIT"] for point in points} == {
            "poll",
            "interrupt",
            "poll+dvfs",
            "interrupt+dvfs",
            "adaptive",
        }
        assert not [point for point in points if point.factors["network"] == "link" and point.factors["pes"] == 8]


def test_the_study_of_access_patterns_is_whole(tmp_path: Path) -> None:
    path = installed.studies()["access-patterns"]
    study = read_study(path)
    for one, number in ((study, 5 * 9 * 5), (study.made_quick(), 3 * 3 * 5)):
        assert len(all_points(one, Places(path.parent, tmp_path))) == number


def small(text: str, network: str) -> str:
    """The study of waiting with one point of each of two policies, over `network`."""
    for before, after in (
        ("factors.bytes = [8, 65536, 1048576]", f'factors.bytes = [65536]\nfactors.network = ["{network}"]'),
        (
            "parameters.seconds = 0.3",
            'parameters.seconds = 0.05\nfactors.wait = ["poll", "adaptive"]\nmeasure.runs = 1\nmeasure.warmup = 0',
        ),
        ("{here}", str(installed.studies()["waiting"].parent)),
    ):
        assert before in text
        text = text.replace(before, after)
    return text


@pytest.mark.parametrize("network", ["tcp", "link"])
def test_the_study_of_waiting_runs(lull: Lull, network: str) -> None:
    if network == "link":
        try:
            with virtual_hosts(2):
                pass
        except LullError as error:
            pytest.skip(str(error))
    (lull.folder / "w.toml").write_text(small(installed.studies()["waiting"].read_text(), network))
    done = lull.run("study", "./w.toml", "--quick")
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines() if line.split()[:1] == ["64K"]]
    assert [row[1] for row in rows] == ["poll", "adaptive"]


def test_the_study_of_access_patterns_runs(lull: Lull) -> None:
    text = (installed.studies()["access-patterns"]).read_text()
    for before, after in (
        ('factors.network = ["shared-memory", "tcp", "tcp-rewritten"]', 'factors.network = ["tcp", "tcp-rewritten"]'),
        ("factors.fragments = [1, 256, 4096]", "factors.fragments = [16]"),
        ("parameters.seconds = 0.1", 'parameters.seconds = 0.02\nparameters.working_set = "1M"'),
        ("measure.runs = 3", "measure.runs = 1"),
    ):
        assert before in text
        text = text.replace(before, after)
    (lull.folder / "small.toml").write_text(text)
    done = lull.run("study", "./small.toml", "--quick")
    assert done.returncode == 0, done.stderr
    assert "Aggregation" in done.stdout
    assert "rewritten by the runtime" in done.stdout
    assert (lull.folder / "results" / "study-small-quick" / "report.html").is_file()
