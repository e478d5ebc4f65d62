"""The cost of one more megabyte: when it is reported, and that the slope is correct."""

import json
from pathlib import Path

import pytest

import records
from conftest import Lull
from lull.comparison.marginal import marginal
from lull.comparison.quantity import quantity
from lull.record import Run

MB = 1_000_000
START_J, J_PER_MB = 300.0, 0.4


def step(size: int, runs: int = 8, **more: object) -> Run:
    """A record of a sweep: 300 J whatever is moved, and 0.4 J for each MB; a little noise."""
    megabytes = 100 * size
    joules = START_J + J_PER_MB * megabytes
    noise = [1 + 0.002 * ((3 * i) % 7 - 3) for i in range(runs)]
    times = [10.0 + 0.01 * i for i in range(runs)]
    powers = [joules * n / t for n, t in zip(noise, times, strict=True)]
    run = records.run(f"s{size}", times, powers, wire_bytes=megabytes * MB, factors={"size": size, "mode": "direct"})
    return run.model_copy(update=more)


def test_the_slope_is_what_a_megabyte_costs_without_the_start() -> None:
    found = marginal([quantity(step(size)) for size in (1, 2, 4, 8)])
    assert found is not None
    assert found.j_per_mb.value == pytest.approx(J_PER_MB, rel=0.02)
    assert found.j_per_mb.low is not None and found.j_per_mb.high is not None
    assert found.j_per_mb.low < J_PER_MB < found.j_per_mb.high
    assert found.without_j == pytest.approx(START_J, rel=0.02)
    assert (found.factor, found.runs, found.least_mb, found.most_mb) == ("size", 32, 100, 800)


def test_few_runs_have_a_slope_and_no_interval() -> None:
    found = marginal([quantity(step(size, runs=3)) for size in (1, 4)])
    assert found is not None
    assert found.j_per_mb.low is None


@pytest.mark.parametrize(
    "other",
    [
        step(4, factors={"size": 4, "mode": "aggregated"}),
        step(4, factors={"size": "large", "mode": "direct"}),
        step(4, factors={"size": 4}),
        step(4, settings={"LULL_WAIT": "interrupt"}),
        step(1, factors={"size": 2, "mode": "direct"}),
        records.run("none", factors={"size": 4, "mode": "direct"}),
    ],
    ids=["two factors", "not a number", "other factors", "other settings", "same bytes", "no bytes"],
)
def test_what_is_no_sweep_of_the_bytes_has_no_slope(other: Run) -> None:
    assert marginal([quantity(step(1)), quantity(other)]) is None


def test_compare_tells_it_on_the_screen_in_markdown_and_as_json(lull: Lull) -> None:
    names = [str(records.write(Path(lull.folder) / f"s{size}", step(size))) for size in (1, 2, 4)]
    words = "Each further MB costs 4"
    assert words in lull.run("compare", *names).stdout
    assert (
        "records that differ in size and move 100–400 MB" in lull.run("compare", *names, "--format", "markdown").stdout
    )
    told = json.loads(lull.run("compare", *names, "--format", "json").stdout)["marginal"]
    assert told["j_per_mb"]["value"] == pytest.approx(J_PER_MB, rel=0.05)
    assert json.loads(lull.run("compare", names[0], names[0], "--format", "json").stdout)["marginal"] is None
