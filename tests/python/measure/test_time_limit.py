"""A measurement in an allocation warns, once, if its runs will not fit."""

from lull.job.launchers import Allocation
from lull.measurement.time_limit import TimeLimit

ALLOCATION = Allocation("Slurm", "4_3", "lull 5", 1)


def warnings(
    left: float | None, walls: list[float], runs: int, allocation: Allocation | None = ALLOCATION
) -> list[str]:
    limit = TimeLimit(allocation, runs, lambda: left)
    return [limit.warning(wall) for wall in walls]


def test_runs_that_fit_give_no_line() -> None:
    assert warnings(1000, [10] * 20, runs=20) == [""] * 20
    assert warnings(None, [10] * 3, runs=20) == [""] * 3
    assert warnings(5, [10], runs=1) == [""]
    assert warnings(5, [10] * 3, runs=20, allocation=None) == [""] * 3


def test_runs_that_do_not_fit_give_one_line() -> None:
    first, *others = warnings(95, [10] * 5, runs=20)
    assert first == (
        "the job 4_3 of Slurm ends in 95 s: of 19 runs that are still to come, about 9 fit; whole runs are kept"
    )
    assert others == [""] * 4


def test_runs_that_become_longer_give_the_line_later() -> None:
    found = warnings(50, [10, 10, 28], runs=5)
    assert found[:2] == ["", ""]
    assert "ends in 12 s: of 2 runs that are still to come, about 0 fit" in found[2]


def test_the_batch_system_is_asked_once() -> None:
    times = []

    def seconds_left() -> float:
        times.append(1)
        return 1000

    limit = TimeLimit(ALLOCATION, 5, seconds_left)
    for _ in range(5):
        limit.warning(1)
    assert times == [1]
