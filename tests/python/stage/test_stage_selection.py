"""What `lull stage --approach auto` selects: by the model, and by the costs of earlier runs of the same command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lull import _core
from lull.model.figures import case_of_runs
from lull.record import Output
from lull.stage.programs import StageRequest
from lull.stage.selection import MOST_RUNS, Memory, select, selected

MB = 1_000_000


def figures(
    approach: str, seconds: float, *, write_s: float = 0.0, output: int = 100 * MB, outputs: int = 10
) -> Output:
    """The figures of a run of 4 processes on one node, which computed 40 s in total."""
    aside = 0 if approach == "time-partitioning" else int(approach.rpartition("=")[2])
    clients = 4 - aside
    mine, theirs = {"files": outputs, "bytes": output * outputs}, {"files": 0, "bytes": 0}
    if aside:
        mine, theirs = theirs, mine
    return Output.model_validate(
        {
            "approach": approach,
            "nodes": 1,
            "outputs": outputs,
            "clients": {
                "processes": clients,
                "wall_s": seconds * clients,
                "compute_s": 40,
                "stall_s": 0,
                "write_s": 0 if aside else write_s * clients,
                "cpu_s": 40,
                "handed_over": theirs,
                "wrote_itself": mine,
                "dropped": {"files": 0, "bytes": 0},
                "too_large": 0,
            },
            "servers": {
                "processes": aside,
                "wall_s": seconds * aside,
                "idle_s": (seconds - write_s) * aside,
                "write_s": write_s * aside,
                "cpu_s": 0.1,
                "written": theirs,
                "failed": 0,
            },
        }
    )


def kept(run: Output) -> str:
    """The figures in the format of a run."""
    return json.dumps({"schema": 1, **run.model_dump()})


def test_nothing_is_selected_without_a_run() -> None:
    assert select([], "time") is None
    assert select([figures("time-partitioning", 10, outputs=0)], "time") is None


def test_what_the_model_promises_is_tried() -> None:
    chosen = select([figures("time-partitioning", 30, write_s=20)], "time")
    assert chosen is not None
    assert chosen.approach == "dedicated-cores=1"
    assert "not tried yet" in chosen.why and "less time" in chosen.why


def test_what_was_measured_counts_more_than_what_was_promised() -> None:
    slow = figures("dedicated-cores=1", 80, write_s=20)
    chosen = select([slow, figures("time-partitioning", 30, write_s=20)], "time")
    assert chosen is not None and chosen.approach == "time-partitioning"
    assert chosen.why == "the best of 2 tried"


def test_a_slow_run_gets_a_second_chance_where_the_model_promises_more() -> None:
    fine = figures("time-partitioning", 30, write_s=20)
    slow = figures("dedicated-cores=1", 32, write_s=20)
    others = [figures("dedicated-cores=2", 40, write_s=20)] * 2
    again = select([fine, slow, *others], "time")
    given_up = select([fine, slow, slow, *others], "time")
    assert again is not None and again.approach == "dedicated-cores=1"
    assert given_up is not None and given_up.approach == "time-partitioning"


def test_old_runs_are_forgotten(tmp_path: Path) -> None:
    memory = Memory(["./app"], {"XDG_CACHE_HOME": str(tmp_path)})
    for _ in range(100):
        place = memory.file()
        assert place is not None
        place.write_text("")
    assert len(list(place.parent.iterdir())) == MOST_RUNS


def test_a_small_promise_is_not_worth_a_change() -> None:
    chosen = select([figures("time-partitioning", 10.1, write_s=0.1)], "time")
    assert chosen is not None and chosen.approach == "time-partitioning"


def test_an_approach_by_which_nothing_was_written_is_not_tried_again() -> None:
    silent = figures("dedicated-cores=1", 1, outputs=0)
    chosen = select([silent, figures("time-partitioning", 30, write_s=20)], "time")
    assert chosen is not None and chosen.approach == "dedicated-cores=2"


def test_runs_with_other_output_are_not_compared() -> None:
    other = figures("dedicated-cores=1", 1, write_s=0.1, output=MB)
    chosen = select([figures("time-partitioning", 30, write_s=20), other], "time")
    assert chosen is not None and "not tried yet" in chosen.why


@pytest.mark.parametrize("objective", ["time", "energy", "edp"])
def test_the_objective_decides(objective: str) -> None:
    chosen = select([figures("time-partitioning", 30, write_s=20)], objective)
    assert chosen is not None
    machine, simulation = case_of_runs([figures("time-partitioning", 30, write_s=20)]) or pytest.fail("no case")
    best = _core.choose_output(machine, simulation, _core.output_ways(machine), objective)[0]
    assert chosen.approach == best.way


def test_each_command_has_figures_of_its_own(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    memory = Memory(["mpirun", "-n", "4", "./app"], environment)
    for content in ("half a fi", kept(figures("time-partitioning", 30)), kept(figures("dedicated-cores=1", 30))):
        place = memory.file()
        assert place is not None
        place.write_text(content)
    assert [run.approach for run in memory.runs()] == ["dedicated-cores=1", "time-partitioning"]
    assert Memory(["mpirun", "-n", "5", "./app"], environment).runs() == []
    assert Memory(["mpirun", "-n", "4", "./app"], {**environment, "SLURM_NTASKS": "8"}).runs() == []


def test_auto_stays_until_something_is_known(tmp_path: Path) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path)}
    command = ["mpirun", "-n", "4", "./app"]
    request, why = selected(StageRequest("auto"), command, environment)
    assert (request.approach, why) == ("auto", "")
    [place] = request.figures
    assert request.when_full is None
    place.write_text(kept(figures("time-partitioning", 30, write_s=20)))
    request, why = selected(StageRequest("auto"), command, environment)
    assert (request.approach, request.when_full) == ("dedicated-cores=1", "cheapest")
    assert why.startswith("auto takes dedicated-cores=1, by the figures of earlier runs")
    alone, why = selected(StageRequest("auto"), command, {**environment, "LULL_CHOOSE": "off"})
    assert (alone.approach, why) == ("auto", "")
    named, _ = selected(StageRequest("auto", when_full="wait", figures=(tmp_path / "mine",)), command, environment)
    assert (named.when_full, named.figures[0], len(named.figures)) == ("wait", tmp_path / "mine", 2)


def test_without_a_place_for_them_figures_are_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    request, _ = selected(StageRequest("auto"), ["./app"], {"XDG_CACHE_HOME": str(tmp_path / "file")})
    assert request.figures == ()
    assert Memory(["./app"], {}).file() is None and Memory(["./app"], {}).runs() == []
