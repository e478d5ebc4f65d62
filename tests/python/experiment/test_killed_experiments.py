"""Whatever runs several times goes on after a kill at any moment; `make faults` kills more often."""

from pathlib import Path

import pytest

from killed_experiments import CASES, kill_and_resume


@pytest.mark.parametrize("name", CASES)
def test_killed_at_any_moment_it_resumes_and_nothing_is_lost_or_doubled(name: str, tmp_path: Path) -> None:
    seed = 1  # make faults draws others
    kill_and_resume(CASES[name], tmp_path, runs=2 if name == "sweep" else 6, kills=3, seed=seed)
