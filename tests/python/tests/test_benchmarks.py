"""The figures of benchmarks: their targets, and how they are kept and compared. No benchmark is timed here."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lull.study.simulations.grids import Job, Point
from places import TOP

BENCHMARKS = TOP / "benchmarks"


def module_of(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", BENCHMARKS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def run() -> ModuleType:
    return module_of("run")


def test_each_benchmark_has_its_figures(run: ModuleType) -> None:
    for name in run.benchmarks():
        assert (BENCHMARKS / f"{name}.py").is_file()
        assert all(figure.meaning and figure.wanted[0] in "<>" for figure in run.figures_of(name))


@pytest.mark.parametrize(
    ("wanted", "value", "met"),
    [(">= 1", 1.0, True), (">= 1", 0.99, False), ("<= 0.5", 0.5, True), ("<= 0.5", 0.6, False), (">", 3.0, None)],
)
def test_a_figure_is_met_missed_or_only_said(run: ModuleType, wanted: str, value: float, met: bool | None) -> None:
    figure = run.Figure("x", wanted, "")
    assert figure.met(value) is met
    assert figure.more_is_better == wanted.startswith(">")


def test_kept_figures_say_where_they_are_from(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results")
    kept = json.loads(run.keep("meter", {"overhead_10hz_pct": 0.1, "rounds": 5}).read_text())
    assert kept["figures"] == {"overhead_10hz_pct": 0.1}
    assert kept["benchmark"] == "meter" and kept["commit"] and kept["date"]
    assert set(kept["machine"]) == {"processor", "cores", "memory_gib", "system"}
    assert kept["spread"] == {}


def test_the_spread_of_figures_is_kept_where_it_is_known(
    run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "RESULTS", tmp_path)
    found = {"overhead_10hz_pct": 0.1, "spread": {"overhead_10hz_pct": [0.0, 0.3], "no_figure": [1, 2]}}
    assert json.loads(run.keep("meter", found).read_text())["spread"] == {"overhead_10hz_pct": [0.0, 0.3]}


def test_what_a_benchmark_does_not_print_is_no_result(run: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "quick.py").write_text("print('a table')\nprint('no figures')\n")
    with pytest.raises(SystemExit, match="its last line is no JSON: 'no figures'"):
        run.run(sys.executable, tmp_path, "quick", show=False)
    (tmp_path / "benchmarks" / "quick.py").write_text("raise SystemExit(3)\n")
    with pytest.raises(SystemExit, match="exit code 3"):
        run.run(sys.executable, tmp_path, "quick", show=False)


def test_how_long_a_grid_takes_is_by_the_sizes_of_its_workloads() -> None:
    replay = module_of("replay")

    def point(workload: int, setting: int, *jobs: Job) -> Point:
        factors = {"topology": "net", "mapping": "linear", "workload": workload, "mode": "deep-sleep"}
        return Point(f"{workload}.{setting}", "multi", factors, jobs, {}, "")

    small, large = Job("app", 256), Job("app", 512)
    points = [point(1, setting, small) for setting in range(10)] + [point(2, 0, large), point(3, 0, small, large)]
    packet_hops = {("net", "linear", "app"): {256: 100.0, 1024: 400.0}}
    assert replay.size_of(points[-1], packet_hops) == pytest.approx(300)  # 512 processes: between known ones
    assert replay.size_of(points[-1], {}) is None
    size = dict.fromkeys((p.name for p in points), 200.0) | {"3.0": 400.0}
    known = dict.fromkeys((p.name for p in points[:9]), 2.0) | {"2.0": 4.0}
    seconds, error = replay.estimated(points, known, size)
    assert seconds == pytest.approx(9 * 2 + 4 + 600 * 0.015)  # workloads have equal weights, however much is known
    assert error == pytest.approx(3)  # each is 1 off by the ratio
    assert replay.estimated(points[:1], {points[0].name: 2.0}, size) == (2.0, 0.0)


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "NAME is one of aggregation"), ({"BASE": "0" * 12, "NAME": "meter"}, "there is no such commit")],
)
def test_comparing_says_what_it_needs(environment: dict[str, str], said: str) -> None:
    inherited = {name: value for name, value in os.environ.items() if name not in ("BASE", "NAME")}
    ended = subprocess.run(
        [sys.executable, str(BENCHMARKS / "compare.py")],
        env={**inherited, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 1
    assert said in ended.stderr
