"""The kept points of the study `links` obey what follows from the model of sleeping links, whatever the traffic."""

import csv
from collections import defaultdict
from statistics import median

import pytest

from documentation import TOP

DEEP_US, FAST_US = 5.5, 0.34  # wake-ups of the paper's table VI
FEEDBACK = 0.0001  # waking up changes the pauses, so that power saved differs by so much between pairs

Rows = dict[tuple[str, str, str], list[dict[str, str]]]  # point without its setting, mode, hold


@pytest.fixture(scope="module")
def rows() -> Rows:
    found: Rows = defaultdict(list)
    with (TOP / "docs" / "results" / "links" / "points.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found[row["point"].partition(f".{row['mode']}")[0], row["mode"], row["hold"]].append(row)
    return found


def test_hybrid_with_the_shortest_holds_saves_what_deep_sleep_does_with_the_longest(rows: Rows) -> None:
    pairs = [(of_point, rows[at, "deep-sleep", "4 Ts"]) for (at, mode, hold), of_point in rows.items()
             if (mode, hold) == ("hybrid", "1 Ts") and (at, "deep-sleep", "4 Ts") in rows]  # fmt: skip
    assert len(pairs) > 100
    less = [float(deep[0]["saved"]) - float(hybrid[0]["saved"]) for hybrid, deep in pairs]
    assert max(less) < FEEDBACK


def test_slowdown_in_fast_wake_over_that_in_deep_sleep_is_the_ratio_of_wake_ups(rows: Rows) -> None:
    ratios: dict[str, list[float]] = defaultdict(list)
    for (at, mode, hold), of_point in rows.items():
        if (mode, hold) == ("deep-sleep", "0 Ts"):
            for deep, fast in zip(of_point, rows.get((at, "fast-wake", "0 Ts"), of_point), strict=True):
                if deep is not fast and float(deep["slowdown"]) > 0.01:
                    ratios[deep["application"]].append(float(fast["slowdown"]) / float(deep["slowdown"]))
    assert len(ratios) == 5
    of_wake_ups = FAST_US / DEEP_US
    for of_application in ratios.values():
        assert median(of_application) == pytest.approx(of_wake_ups, abs=0.005)
        assert of_wake_ups - 0.022 < min(of_application) <= max(of_application) < of_wake_ups + 0.005
