"""`lull compare` and `lull report` of simulations: several against one, conditions, plots as files."""

from __future__ import annotations

import json
import random

import pytest

from conftest import Lull
from lull.simulation.account import SimulationFile, read_simulation
from lull.simulation.comparison import compare
from warm_start import WarmLull

NET = """
[topology]
name = "fat-tree"
radix = 4
[power]
mode = "active"
[[jobs]]
message = "4 KiB"
messages = 20
load = 0.2
"""


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory, warm_lull: WarmLull) -> Lull:
    lull = Lull(tmp_path_factory.mktemp("simulations"), warm=warm_lull)
    (lull.folder / "net.toml").write_text(NET)
    for name, *more in (("a",), ("b", "power.mode=deep-sleep", "power.hold=1 us"), ("c", "jobs.0.messages=40")):
        options = [word for one in more for word in ("--set", one)]
        done = lull.run("simulate", "net.toml", "--out", name, *options)
        assert done.returncode == 0, done.stderr
    return lull


def test_several_simulations_are_compared_in_turn(three: Lull):
    done = three.run("compare", "a", "b", "c")
    assert done.returncode == 0, done.stderr
    assert "b against a: simulations" in done.stdout
    assert "c against a: simulations" in done.stdout
    assert len(json.loads(three.run("compare", "a", "b", "c", "--format", "json").stdout)["comparisons"]) == 2


def test_any_simulation_may_be_the_baseline(three: Lull):
    assert "a against b: simulations" in three.run("compare", "a", "b", "--baseline", "b").stdout


def test_conditions_hold_of_their_ratios(three: Lull):
    done = three.run("compare", "a", "b", "--fail-if", "energy_reduction>0.1")
    assert done.returncode == 0
    assert "not decided, b has" in done.stderr, "of one seed there is no interval"
    done = three.run("compare", "a", "b", "--fail-if", "energy_reduction>0.1", "--fail-on-median")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "--fail-if energy_reduction>0.1: met, b has" in done.stderr
    assert three.run("compare", "a", "b", "--fail-if", "greenup<0.98", "--fail-on-median").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fail-if", "edp_ratio<1"], 1, "b has no edp_ratio: simulations have no EDP"),
        (["--region", "x"], 2, "leave out --region and --per"),
    ],
)
def test_what_simulations_do_not_have_is_one_line(three: Lull, arguments, code, words):
    done = three.run("compare", "a", "b", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_markdown_has_a_table_for_each_comparison(three: Lull):
    done = three.run("compare", "a", "b", "c", "--format", "markdown")
    assert done.returncode == 0, done.stderr
    assert "|  | a | b | ratio |" in done.stdout
    assert "|  | a | c | ratio |" in done.stdout
    assert "Speedup" in done.stdout
    assert "- power.mode: active → deep-sleep" in done.stdout


@pytest.mark.parametrize(("form", "begin"), [("svg", b"<svg "), ("pdf", b"%PDF-")])
def test_their_plots_are_files_on_demand(three: Lull, form: str, begin: bytes):
    done = three.run("report", "a", "b", "--to", "page.html", "--plots", f"plots-{form}", "--plots-as", form)
    assert done.returncode == 0, done.stderr
    paths = list((three.folder / f"plots-{form}").iterdir())
    assert {path.name for path in paths} == {f"{name}.{form}" for name in ("latency", "link-use", "states")}
    assert all(path.read_bytes().startswith(begin) for path in paths)


def test_simulations_of_the_same_seeds_are_compared_in_pairs(three: Lull) -> None:
    base = read_simulation(three.folder / "a")
    draw = random.Random(1)
    times = [base.repeats[0].simulated_s * draw.uniform(0.5, 2.0) for _ in range(8)]

    def side(by: float, seeds: list[int]) -> SimulationFile:
        [one] = base.repeats
        made = [one.model_copy(update={"seed": seed, "simulated_s": times[seed] * by}) for seed in seeds]
        return base.model_copy(update={"repeats": made})

    found = compare("a", side(1.0, list(range(8))), "b", side(0.9, [3, 1, 0, 2, 7, 6, 5, 4]))
    assert found.paired
    assert found.speedup.low == pytest.approx(1 / 0.9)
    assert found.speedup.high == pytest.approx(1 / 0.9), "what the seeds do to both sides widens no interval"
    assert not any("seeds differ" in line for line in found.warnings)
