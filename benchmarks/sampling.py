"""How far are sampled simulations from whole ones? (`make bench-sampling`)

Points of the study `links` are drawn at random from all its topologies, mappings, applications, modes of links and
holds: one application on 256 or 512 processes, or four that run together. Each is simulated whole, and three times
sampled.
A row is added to the table (docs/results/links/sampled.csv) as soon as it is known, so that the same command goes on
after an interruption. With a whole table it only prints the summary: remove the table to simulate all points again, in
about an hour. Prints the table's summary, then one line of JSON; figures.toml describes its figures.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from lull.base import installed
from lull.simulation.description import read_description
from lull.simulation.engine import run
from lull.simulation.latency import student_half_width
from lull.simulation.result import Result
from lull.study.kinds import read_study
from lull.study.simulations.description import Grid
from lull.study.simulations.grids import ACTIVE, Point, all_points

TOP = Path(__file__).resolve().parent.parent
TABLE = TOP / "docs" / "results" / "links" / "sampled.csv"
SEEDS = 3
FELT = 0.0005  # slowdowns that differ by less are equal: the order of two messages can change as much
COLUMNS = (
    "point", "application", "saved", "saved_error", "saved_interval", "slowdown", "slowdown_error",
    "slowdown_interval", "share", "whole_cpu_s", "sampled_cpu_s",
)  # fmt: skip
GRIDS = [
    Grid(name="alone", processes=[256, 512]),
    Grid(name="together", processes=[256], workloads=12, total=1024),
]


def drawn(alone: int, together: int) -> list[Point]:
    """The points, the same for the same numbers."""
    study = read_study(installed.studies()["links"]).model_copy(update={"grids": GRIDS})
    points = [point for point in all_points(study) if point.factors["mode"] != ACTIVE]
    random.Random(1).shuffle(points)
    found = []
    for grid, number in (("alone", alone), ("together", together)):
        found += [point for point in points if point.grid == grid][:number]
    return found


def simulated(point: Point, sample: dict[str, Any] | None = None) -> Result:
    """The point, and the same with links always active."""
    content = {**point.content, "sample": sample} if sample else point.content
    asked = f"simulate {point.name}"
    return run(read_description(content, asked), asked)


def cpu_s(of: Result) -> float:
    """CPU time of both simulations."""
    return of.simulator_cpu_s + (of.active.simulator_cpu_s if of.active else 0.0)


def rows_of(point: Point) -> list[dict[str, Any]]:
    """A row for each job."""
    whole = simulated(point)
    samples = [simulated(point, {"seed": seed}) for seed in range(1, SEEDS + 1)]
    saved = [one.power.saved for one in samples]
    rows = []
    for place, job in enumerate(whole.jobs):
        slowdowns = [one.jobs[place].slowdown or 0.0 for one in samples]
        slowdown = job.slowdown or 0.0
        rows.append({
            "point": point.name,
            "application": point.jobs[place].application,
            "saved": whole.power.saved,
            "saved_error": fmean(saved) - whole.power.saved,
            "saved_interval": student_half_width(saved),
            "slowdown": slowdown,
            "slowdown_error": fmean(slowdowns) - slowdown,
            "slowdown_interval": student_half_width(slowdowns),
            "share": fmean(one.sampled.share for one in samples if one.sampled),
            "whole_cpu_s": cpu_s(whole),
            "sampled_cpu_s": fmean(map(cpu_s, samples)),
        })  # fmt: skip
    return rows


def figures(rows: Sequence[dict[str, str]]) -> dict[str, float]:
    """The summary: errors in percentage points, over points for power and over jobs for slowdown."""
    found: dict[str, float] = {}
    for grid in ("alone", "together"):
        jobs = [row for row in rows if row["point"].startswith(f"{grid}.")]
        points = list({row["point"]: row for row in jobs}.values())
        if not points:
            continue
        saved = [100 * abs(float(row["saved_error"])) for row in points]
        slowdown = [100 * abs(float(row["slowdown_error"])) for row in jobs]
        relative = [abs(float(row["slowdown_error"])) / (1 + float(row["slowdown"])) for row in jobs]
        found |= {
            f"{grid}_points": len(points),
            f"{grid}_saved_median": median(saved),
            f"{grid}_saved_worst": max(saved),
            f"{grid}_slowdown_median": median(slowdown),
            f"{grid}_slowdown_worst": max(slowdown),
            f"{grid}_run_time_worst": 100 * max(relative),
            f"{grid}_covered": fmean(
                abs(float(row["slowdown_error"])) <= max(float(row["slowdown_interval"]), FELT) for row in jobs
            ),
            f"{grid}_share": median(float(row["share"]) for row in points),
            f"{grid}_cpu_ratio": sum(float(row["whole_cpu_s"]) for row in points)
            / sum(float(row["sampled_cpu_s"]) for row in points),
        }
    return found


def main() -> None:
    """Simulate the points that the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--alone", type=int, default=60, help="points of one application")
    parser.add_argument("--together", type=int, default=6, help="points of several")
    parser.add_argument("--out", type=Path, default=TABLE, help="the table")
    chosen = parser.parse_args()
    points = drawn(chosen.alone, chosen.together)
    if not chosen.out.exists():
        chosen.out.write_text(",".join(COLUMNS) + "\n")
    known = {row["point"] for row in csv.DictReader(chosen.out.open(newline=""))}
    for number, point in enumerate(points, 1):
        if point.name in known:
            continue
        print(f"{number}/{len(points)} {point.name}", file=sys.stderr, flush=True)
        rows = rows_of(point)
        with chosen.out.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(rows)
    found = figures(list(csv.DictReader(chosen.out.open(newline=""))))
    for name, value in found.items():
        print(f"{name:28} {value:.4g}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
