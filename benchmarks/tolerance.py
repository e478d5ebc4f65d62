"""How well does the critical path of one run predict others? (`make bench-tolerance`)

Seven applications run on 64 processes of three networks, and on 256 of one. Each is simulated with links always active,
which gives its tolerance of 1 % slowdown, and then with every change of which the tolerance says something: links that
sleep after several holds and after the shortest one; links that learn their holds for the same bound; cables that take
longer; nodes of less bandwidth.
A row is added to the table (docs/results/links/tolerance.csv) as soon as it is known, so that the same command goes on
after an interruption. With a whole table it only prints the summary. Prints one line of JSON at the end; figures.toml
describes its figures.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from lull.prediction import bearing
from lull.simulation.description import read_description
from lull.simulation.engine import run
from lull.simulation.result import Result
from lull.simulation.tolerance import Tolerance

TOP = Path(__file__).resolve().parent.parent
TABLE = TOP / "docs" / "results" / "links" / "tolerance.csv"
COLUMNS = ("application", "network", "processes", "change", "slowdown_by_path", "slowdown", "saved_by_path", "saved")
NETWORKS = ("fat-tree-4608", "dragonfly-rows-4608", "hyperx-4608")
LARGER = ("dragonfly-rows-4608", 256)
APPLICATIONS = {  # few steps, in which each process still waits for many messages
    "kripke": {"steps": 2},
    "laghos": {"steps": 1},
    "amg": {"solves": 1},
    "examinimd": {"steps": 50},
    "sw4lite": {"steps": 5},
    "minife": {"steps": 20},
    "miniamr": {"steps": 10},
}
TOLERATED = 0.01
MODES = [
    *({"mode": "deep-sleep", "hold": f"{held} Ts"} for held in (0, 1, 4)),
    {"mode": "fast-wake", "hold": "1 Ts"},
    {"mode": "hybrid", "hold": "1 Ts", "hybrid_hold": "100 us"},
]
FELT = 0.01  # slowdowns above this are compared by their ratio


def points() -> Iterator[tuple[str, str, int]]:
    """Application, network and number of processes."""
    for application in APPLICATIONS:
        for network in NETWORKS:
            yield application, network, 64
        yield application, *LARGER


def simulated(content: dict[str, Any]) -> Result:
    """Without the same with links always active."""
    asked = "simulate the point"
    return run(read_description(content, asked), asked, baseline=False)


def changes(
    content: dict[str, Any], found: Tolerance
) -> Iterator[tuple[str, dict[str, Any], float | None, float | None]]:
    """Every change: its name, its description, and slowdown and saving by the critical path."""
    for one in found.sleeps:
        mode = {key: value for key, value in one.settings.items() if key != "wake_delays"}
        yield f"{mode['mode']}, hold {mode['hold']}", {**content, "power": mode}, one.slowdown, one.saved
    for mode in bearing.further_modes(found):
        kind, name = mode.name.split(", ")
        of = next(one for one in found.sleeps if one.settings["mode"] == kind)
        by_path = (of.shortest_slowdown, of.shortest_saved) if name.startswith("shortest") else (None, None)
        yield f"{kind}, {name.split()[0]} hold", {**content, "power": dict(mode.keys)}, *by_path
    for name, changed in bearing.checked(content, found).items():
        yield name, changed, found.slowdown, None


def rows_of(application: str, network: str, processes: int) -> Iterator[dict[str, Any]]:
    """A row for each change of the point."""
    job = {"pattern": application, "processes": processes, "mapping": "random", **APPLICATIONS[application]}
    content = {"topology": {"preset": network}, "jobs": [job]}
    found = simulated({**content, "tolerance": TOLERATED, "savings": MODES}).jobs[0].tolerance
    assert found is not None
    for name, changed, slowdown, saved in changes(content, found):
        result = simulated(changed)
        yield {
            "application": application,
            "network": network,
            "processes": processes,
            "change": name,
            "slowdown_by_path": slowdown,
            "slowdown": result.jobs[0].run_time_s / found.run_time_s - 1,
            "saved_by_path": saved,
            "saved": None if saved is None and "hold" not in name else result.used_power.saved,
        }


def figures(rows: Sequence[dict[str, str]]) -> dict[str, float]:
    """The summary: differences in percentage points."""

    def of(*beginnings: str) -> list[dict[str, str]]:
        return [row for row in rows if row["change"].startswith(beginnings)]

    def percent(row: dict[str, str], column: str) -> float:
        return 100 * float(row[column])

    asleep = [row for row in of("deep-sleep", "fast-wake", "hybrid") if row["slowdown_by_path"]]
    errors = [abs(percent(row, "slowdown_by_path") - percent(row, "slowdown")) for row in asleep]
    felt = [row for row in asleep if float(row["slowdown"]) > FELT]
    ratios = [float(row["slowdown_by_path"]) / float(row["slowdown"]) for row in felt]
    saved = [abs(percent(row, "saved_by_path") - percent(row, "saved")) for row in asleep]
    shortest, learnt = of("deep-sleep, shortest"), of("deep-sleep, learnt")
    return {
        "points": len({(row["application"], row["network"], row["processes"]) for row in rows}),
        "asleep": len(asleep),
        "slowdown_error_median": median(errors),
        "slowdown_ratio_least": min(ratios),
        "slowdown_ratio_median": median(ratios),
        "slowdown_ratio_most": max(ratios),
        "saved_error_median": median(saved),
        "saved_error_worst": max(saved),
        "shortest_within": sum(float(row["slowdown"]) <= 1.25 * TOLERATED for row in shortest) / len(shortest),
        "shortest_slowdown_worst": max(percent(row, "slowdown") for row in shortest),
        "learnt_within": sum(float(row["slowdown"]) <= 1.25 * TOLERATED for row in learnt) / len(learnt),
        "learnt_slowdown_worst": max(percent(row, "slowdown") for row in learnt),
        "cables_slowdown_median": median(percent(row, "slowdown") for row in of(bearing.CABLES)),
        "bandwidth_slowdown_median": median(percent(row, "slowdown") for row in of(bearing.BANDWIDTH)),
    }


def main() -> None:
    """Simulate the points that the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=TABLE, help="the table")
    chosen = parser.parse_args()
    if not chosen.out.exists():
        chosen.out.write_text(",".join(COLUMNS) + "\n")
    known = {(row["application"], row["network"], int(row["processes"])) for row in csv.DictReader(chosen.out.open())}
    for point in points():
        if point in known:
            continue
        print(*point, file=sys.stderr, flush=True)
        rows = list(rows_of(*point))
        with chosen.out.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(rows)
    found = figures(list(csv.DictReader(chosen.out.open(newline=""))))
    for name, value in found.items():
        print(f"{name:28} {value:.4g}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
