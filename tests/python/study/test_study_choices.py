"""Studies of choices: their file, regret as a pure function, and a small one as a user calls it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import Lull
from lull import _core
from lull.base import installed
from lull.base.errors import LullError
from lull.model.machine import Machine, Transport
from lull.study.choices.description import StudyOfChoices, WrongMachine
from lull.study.choices.kind import KIND
from lull.study.choices.points import all_groups
from lull.study.choices.regret import better, ratio, regret
from lull.study.choices.rows import after_a_tenth
from lull.study.choices.wrong_machine import made_wrong
from lull.study.kind import MADE
from lull.study.kinds import read_study
from lull.study.runs.points import Places

PROGRAM = """
import json, os, sys
took = {"none": 1.0, "slow": 2.0, "quick": 0.5}[os.environ.get("WAY", "none")] * float(sys.argv[1])
if "LULL_MACHINE" in os.environ:
    took *= 3
json.dump({"schema": 2, "node": os.uname().nodename, "pid": os.getpid(), "pe": 0, "regions": [],
           "metrics": [{"name": "took", "value": took, "unit": "s", "combination": "mean"}]},
          open(os.environ["LULL_RECORD"] + "/regions-0.json", "w"))
open(os.environ["HERE"] + "/order", "a").write(" ".join([os.environ.get("LULL_STATS", "-"), *sys.argv[1:]]) + "\\n")
"""

STUDY = """
kind = "choices"
title = "A small study of choices"
question = "Is quick quick?"
[measure]
rounds = 3
counted = 2
confirming = 2
[[applications]]
name = "thing"
chooses = "way"
command = ["{python}", "{here}/program.py", "{size}", "{length}", "{choice}"]
factors = { size = [1, 2] }
parameters = { length = 10 }
seconds = "took"
begin = { length = 1 }
exclude = [{ size = [2], choice = ["slow"] }]
[applications.alternatives]
auto = {}
slow.env = { WAY = "slow" }
quick.env = { WAY = "quick" }
[wrong_machine]
latency = 10
bandwidth = 0.25
[quick.applications.thing]
factors = { size = [1] }
leave_out = ["slow"]
"""

MACHINE = """
form = 1
[transports.network]
pieces = [{ from_bytes = 0, latency_ns = { value = 100, source = "me" }, ns_per_byte = { value = 2, source = "me" } }]
"""


def described(text: str = STUDY) -> StudyOfChoices:
    return StudyOfChoices.model_validate(tomllib.loads(text))


def test_the_study_that_comes_with_lull_is_well_formed_and_large_enough(tmp_path: Path) -> None:
    path = installed.studies()["choices"]
    study = read_study(path)
    groups = all_groups(study, Places(path.parent, tmp_path), wrong_machine=True)
    assert len(groups) >= 60
    assert all(len(group.fixed) >= 2 for group in groups)
    assert any(group.member("wrong") for group in groups)
    quick = all_groups(study.made_quick(), Places(path.parent, tmp_path), wrong_machine=False)
    assert {group.application.name for group in quick} == {one.name for one in study.applications}
    assert len(quick) < len(groups) / 3


def test_an_alternative_runs_where_it_is_not_excluded(tmp_path: Path) -> None:
    small, large = all_groups(described(), Places(tmp_path, tmp_path / "inputs"), wrong_machine=True)
    assert [one.name for one in small.fixed] == ["slow", "quick"] and [one.name for one in large.fixed] == ["quick"]
    counted, wrong, start = (small.member(name) for name in ("counted", "wrong", "wrong_start"))
    assert counted is not None and counted.point.env == {"LULL_STATS": "1"} and counted.runs == 2
    assert wrong is not None and wrong.point.env["LULL_MACHINE"].endswith("wrong.toml")
    assert start is not None and wrong.point.command[2:] == ["1", "10", "auto"]
    assert start.point.command[2:] == ["1", "1", "auto"]
    names = [one.point.name for group in (small, large) for one in group.members]
    assert len(set(names)) == len(names)
    plain = all_groups(described(), Places(tmp_path, tmp_path / "inputs"), wrong_machine=False)
    assert plain[0].member("wrong") is None and plain[0].member("start") is None


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("auto = {}", "other = {}", "the first alternative is auto"),
        ("quick.env", "wrong.env", "wrong has another meaning"),
        ("{size}", "{sise}", "no placeholder 'sise'"),
        ("begin = { length = 1 }", "begin = { width = 1 }", "begin: no parameter 'width'"),
        ("[wrong_machine]", "[other]", "no key 'other'"),
        ("[quick.applications.thing]", "[quick.applications.thong]", "there is no 'thong'"),
        ('seconds = "took"', 'seconds = "took"\nper = "items"', "without region and per"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, before: str, after: str, words: str) -> None:
    path = tmp_path / "choices.toml"
    path.write_text(STUDY.replace(before, after, 1))
    with pytest.raises(LullError, match=words):
        read_study(path)


def test_regret_is_told_where_it_exceeds_the_noise() -> None:
    auto = [1.0, 1.1, 1.2, 1.05, 1.0, 1.15]
    found = regret(auto, {"worse": [2 * value for value in auto], "better": [value / 1.25 for value in auto]})
    assert found.best == "better"
    assert found.told == pytest.approx(0.25) and found.noise == pytest.approx(0)
    noisy = regret(auto, {"same": [1.1, 1.0, 1.1, 1.15, 1.05, 1.0]})
    assert noisy.told == 0 and noisy.noise > 0.05


def test_a_drift_that_all_rounds_share_is_no_regret() -> None:
    auto = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    found = regret(auto, {"same": [1.01 * value for value in auto]})
    assert found.seen.value == pytest.approx(1 / 1.01 - 1) and found.noise == pytest.approx(0)
    assert found.told == 0  # auto is the better one


def test_of_few_rounds_the_interval_is_from_the_least_to_the_most() -> None:
    found = ratio([1.0, 1.2, 1.1], [1.0, 1.0, 1.0])
    assert (found.value, found.low, found.high) == pytest.approx((1.1, 1.0, 1.2))


def test_a_regret_is_that_of_the_rounds_after_those_that_told_it() -> None:
    auto = [1.0, 1.1, 1.2, *[2.0, 2.2, 2.1]]
    lucky = [0.5, 0.5, 0.5, *[1.9, 2.3, 2.1]]
    real = [0.8, 0.8, 0.8, *[1.6, 1.6, 1.6]]
    worse = [2.0, 2.0, 2.0]
    assert better(auto[:3], {"lucky": lucky[:3], "real": real[:3], "worse": worse}) == {"lucky", "real"}
    first = regret(auto[:3], {"lucky": lucky[:3], "real": real[:3], "worse": worse}, 3)
    assert first.best == "lucky" and not first.confirmed
    found = regret(auto, {"lucky": lucky, "real": real, "worse": worse}, 3)
    assert found.best == "real" and found.confirmed
    assert found.told == pytest.approx(2.1 / 1.6 - 1)
    assert regret(auto, {"lucky": lucky, "worse": worse}, 3).told == 0


def test_what_comes_after_the_first_tenth_is_told_apart() -> None:
    # ten seconds: in the first an item takes one second, in the others half a second: 1 + 18 items
    (rest,) = after_a_tenth([10 / 19], [1.0])
    assert rest == pytest.approx(0.5)


def test_a_wrong_machine_is_wrong_in_times_and_rates_alone() -> None:
    told = {"value": 100.0, "low": 90.0, "high": 120.0, "source": "me"}
    rate = {"value": 8e9, "source": "me"}
    machine = Machine.model_validate(
        {
            "transports": {"network": {"pieces": [{"from_bytes": 0, "gap_ns": told, "ns_per_byte": told}]}},
            "memory": {"copy_warm_bytes_per_s": rate},
            "watts": {"link": told},
        }
    )
    wrong = made_wrong(machine, WrongMachine(latency=10, bandwidth=0.25))
    network: Transport = wrong.transports["network"]
    (piece,) = network.pieces
    assert piece.gap_ns is not None and piece.gap_ns.band == pytest.approx((900, 1000, 1200))
    assert piece.ns_per_byte is not None and piece.ns_per_byte.value == pytest.approx(400)
    assert piece.latency_ns is None
    assert wrong.memory.copy_warm_bytes_per_s is not None and wrong.memory.copy_warm_bytes_per_s.value == 2e9
    assert wrong.watts == machine.watts


@pytest.fixture
def study(lull: Lull) -> Lull:
    (lull.folder / "small.toml").write_text(STUDY)
    (lull.folder / "program.py").write_text(PROGRAM)
    lull.env["HERE"] = str(lull.folder)
    return lull


def found_in(folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((folder / "choices.json").read_text())
    return data


def runs(study: Lull) -> list[str]:
    return (study.folder / "order").read_text().splitlines()


def calibrated(study: Lull) -> None:
    kept = study.folder / "config" / "lull" / "machines" / Path(_core.machine_file_of_this_host()).name
    kept.parent.mkdir(parents=True)
    kept.write_text(MACHINE)


def test_each_point_says_what_auto_was_worth(study: Lull) -> None:
    done = study.run("study", "./small.toml")
    assert done.returncode == 0, done.stderr
    assert "has not been calibrated" in done.stderr
    data = found_in(study.folder / "results" / "study-small")
    small, large = data["points"]
    made = {path.name for path in (study.folder / "results" / "study-small").iterdir()}
    assert {name for name in made if not name.startswith("application-")} <= {".state", *MADE, *KIND.results}
    assert small["regret"]["best"] == "quick" and small["regret"]["told"] == pytest.approx(1)
    assert set(small["took"]) == {"auto", "slow", "quick"} and set(large["took"]) == {"auto", "quick"}
    assert small["took"]["slow"]["seconds"] == [2, 2, 2] and small["took"]["slow"]["joules"] is None
    assert small["not_told"]["quick"].startswith("this host has not been calibrated")
    summary = data["summary"]
    assert (summary["points"], summary["predictions"], summary["not_told"]) == (2, 0, 3)
    assert summary["regret_mean_pct"] == pytest.approx(100) and summary["noise_pct"] == pytest.approx(0)
    assert summary["wrong_points"] == 0 and summary["product_regret_mean_pct"] is None
    assert "2 points: regret 100 % in the mean" in done.stdout
    report = (study.folder / "results" / "study-small" / "report.html").read_text()
    assert "Regret: excess of auto over the best fixed choice" in report
    assert small["regret"]["confirmed"]
    # three rounds of each alternative, two counted runs, two more rounds of auto and quick
    assert len(runs(study)) == 3 * 5 + 2 * 2 + 2 * 2 * 2 and sum(line.startswith("1 ") for line in runs(study)) == 4


def test_it_continues_where_it_stopped_and_is_told_again_without_running(study: Lull) -> None:
    assert study.run("study", "./small.toml").returncode == 0
    folder = study.folder / "results" / "study-small"
    before = len(runs(study))
    again = study.run("study", "./small.toml")
    assert again.returncode == 0 and "is complete" in again.stderr and len(runs(study)) == before
    record = folder / "application-thing.size-1.choice-quick"
    (folder / ".state" / record.name / "001.json").unlink()
    for file in record.iterdir():
        file.unlink()
    record.rmdir()
    assert study.run("study", "./small.toml").returncode == 0
    assert len(runs(study)) == before + 1


def test_a_wrong_machine_file_is_believed_by_some_runs(study: Lull) -> None:
    calibrated(study)
    done = study.run("study", "./small.toml")
    assert done.returncode == 0, done.stderr
    folder = study.folder / "results" / "study-small"
    wrong = tomllib.loads((folder / "inputs" / "wrong.toml").read_text())
    (piece,) = wrong["transports"]["network"]["pieces"]
    assert piece["latency_ns"]["value"] == 1000 and piece["ns_per_byte"]["value"] == 8
    data = found_in(folder)
    assert data["summary"]["wrong_points"] == 2
    # three times as long, of which the quick way takes half
    assert data["points"][0]["wrong"]["start"]["value"] == pytest.approx(3)
    assert data["points"][0]["wrong"]["rest"]["seen"]["value"] == pytest.approx(5)
    assert data["points"][0]["not_told"]["quick"] == "the model has no such choice"
    assert "Auto with a wrong machine file" in done.stdout


def test_a_machine_that_is_calibrated_later_adds_its_runs_and_fresh_removes_all(study: Lull) -> None:
    assert study.run("study", "./small.toml").returncode == 0
    before = len(runs(study))
    calibrated(study)
    assert study.run("study", "./small.toml").returncode == 0
    assert len(runs(study)) == before + 2 * 3 * 3  # two points, three rounds: wrong, start, wrong_start
    assert study.run("study", "./small.toml", "--fresh").returncode == 0
    assert len(runs(study)) == 2 * (before + 2 * 3 * 3) and found_in(study.folder / "results" / "study-small")


def test_the_quick_form_leaves_out_what_it_says(study: Lull) -> None:
    done = study.run("study", "./small.toml", "--quick")
    assert done.returncode == 0, done.stderr
    data = found_in(study.folder / "results" / "study-small-quick")
    assert [point["factors"] for point in data["points"]] == [{"size": 1}]
    assert set(data["points"][0]["took"]) == {"auto", "quick"}


def test_options_of_simulations_are_refused(study: Lull) -> None:
    done = study.run("study", "./small.toml", "--workers", "2")
    assert done.returncode == 2 and "--workers is not for studies of choices" in done.stderr
