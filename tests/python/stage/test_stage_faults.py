"""The random programs of stage_faults.py that have found a fault, and some that change with the seed."""

from __future__ import annotations

from pathlib import Path

import pytest

from covering import seed_of_today
from mpi_libraries import MpiLibrary, each_library
from stage_faults import KEPT, TROUBLES, differences, flags

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not flags(), reason="needs libhdf5-dev")]


@each_library
def test_random_programs_are_as_plainly(mpi: MpiLibrary, tmp_path: Path) -> None:
    program = mpi.compiled("stage/stage_random.c", tmp_path, *flags())
    today = seed_of_today() * 1000
    for i, first in enumerate([*KEPT, today]):
        into = tmp_path / str(first)
        into.mkdir()
        trouble = TROUBLES[i % 4]
        assert differences(mpi, program, into, range(first, first + (1 if first in KEPT else 4)), trouble) == []
