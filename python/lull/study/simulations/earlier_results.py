"""Take rows from the points.csv of an earlier study of the same simulations instead of simulating again.

A row is taken if its point has the same name and exactly the same description now. Simulations are reproducible to the
bit with the same simulator: some randomly drawn points are simulated again, and all their figures must equal those
taken.
"""

from __future__ import annotations

import csv
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from lull.base.errors import LullError, UsageError, describe_os_error
from lull.study.simulations.description import FACTORS
from lull.study.simulations.grids import Point
from lull.study.simulations.rows import FIGURES, Row, heading

PROBES = 3  # points that are simulated again
MOST_PROBE_S = 60.0  # most CPU time that such a point took, if there are any
OWN_TIME = "simulator_cpu_s"  # the only figure in which two runs of a simulation differ

EarlierRows = Mapping[str, Sequence[Row]]  # point -> a row for each of its jobs


def read_earlier_rows(path: Path, points: Sequence[Point]) -> EarlierRows:
    """The rows of `path` that belong to `points`.

    Raises:
        UsageError: The file cannot be read, is not a points.csv, or has no row of this study.
    """
    asked = f"take results from {path}"
    named = {point.name: point for point in points}
    rows: dict[str, list[Row]] = defaultdict(list)
    others = 0
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if list(reader.fieldnames or []) != heading():
                raise UsageError(asked, "its columns are not those of a points.csv", "name one that lull study wrote")
            for cells in reader:
                point = named.get(cells["point"])
                if point is None or point.key != cells["description"]:
                    others += 1
                    continue
                rows[point.name].append(_row(cells, point, len(rows[point.name])))
    except OSError as error:
        raise UsageError(asked, describe_os_error(error), "name the points.csv of an earlier study") from error
    except (ValueError, IndexError, csv.Error) as error:
        raise UsageError(asked, f"a row of it is damaged ({error})", "name another") from error
    whole = {name: of for name, of in rows.items() if len(of) == len(named[name].jobs)}
    if not whole:
        raise UsageError(asked, f"none of its {others} rows belongs to this study now", "leave out --take")
    return whole


def probes(taken: EarlierRows, points: Sequence[Point]) -> list[Point]:
    """The points to simulate again: drawn at random, but the same for the same rows."""
    known = [point for point in points if point.name in taken]
    short = [point for point in known if taken[point.name][0].simulator_cpu_s <= MOST_PROBE_S]
    return random.Random(len(known)).sample(short or known[:1], min(PROBES, len(short or known[:1])))


def check_probes(taken: EarlierRows, rows: Sequence[Row], path: Path) -> None:
    """Compare simulated rows with those taken; `rows` may include points that were not taken.

    Raises:
        LullError: A figure differs.
    """
    own: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        own[row.point].append(row)
    for name, before in taken.items():
        for then, now in zip(before, own.get(name, []), strict=False):
            for figure in FIGURES:
                if figure != OWN_TIME and then.quantity(figure) != now.quantity(figure):
                    found = f"{name} has {figure} {now.quantity(figure)!r} now and {then.quantity(figure)!r} there"
                    asked = f"take results from {path}"
                    raise LullError(asked, f"the simulator has changed: {found}", "leave out --take")


def _row(cells: Mapping[str, str], point: Point, place: int) -> Row:
    job = point.jobs[place]
    figures = {name: None if cells[name] == "" else float(cells[name]) for name in FIGURES}
    whole = {name: int(cells[name]) for name in ("runs", "packet_hops")}
    factors = {**point.factors, "application": job.application, "processes": job.processes}
    if [str(factors[name]) for name in FACTORS] != [cells[name] for name in FACTORS]:
        raise ValueError(f"{point.name}: its factors are not those of its description")
    return Row(point.name, point.key, point.grid, factors, **{**figures, **whole})  # type: ignore[arg-type]
