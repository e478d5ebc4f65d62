"""The model of output compared with the results of a publication on two sites."""

from __future__ import annotations

import json
from typing import Any

from conftest import Lull


def advice(lull: Lull, *words: str) -> dict[str, Any]:
    done = lull.run("approaches", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def test_the_first_site_is_as_published_but_for_how_energy_falls_with_the_frequency(lull: Lull) -> None:
    said = advice(lull, "nancy")
    assert [claim["says"] for claim in said["claims"] if not claim["holds"]] == [
        "half as often, almost 60 % less energy: one dedicated core"
    ]
    uses = said["cpu_use_pct"]
    published = {one["way"] for one in uses}
    assert [one["way"] for one in said["ways"] if one["way"] in published] == [
        "dedicated-nodes=2",
        "dedicated-cores=1",
        "dedicated-nodes=1",
        "dedicated-cores=2",
        "time-partitioning",
    ]
    assert len(uses) == 15
    misses = {(one["every"], one["way"]): one["predicted"] - one["paper"] for one in uses}
    assert {key for key, miss in misses.items() if abs(miss) > 3} == {
        (10, "dedicated-cores=1"),
        (10, "dedicated-cores=2"),
    }
    assert max(abs(miss) for miss in misses.values()) < 10


def test_the_second_site_is_as_published(lull: Lull) -> None:
    said = advice(lull, "rennes")
    assert all(claim["holds"] for claim in said["claims"])
    [power] = [claim for claim in said["claims"] if claim["paper_pct"] is not None]
    assert abs(power["predicted_pct"] - power["paper_pct"]) < 2


def test_the_site_is_shown_beside_the_paper(lull: Lull) -> None:
    done = lull.run("approaches", "nancy")
    assert done.returncode == 0, done.stderr
    assert "not so" in done.stdout and "CPU use %, every" in done.stdout
