"""The application stencil: its air is the same on any processes, its files are complete, and mistakes give one line."""

import json
import subprocess
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from conftest import Lull
from lull.base.installed import applications
from mpi_libraries import LIBRARIES

pytestmark = [
    pytest.mark.skipif("stencil" not in applications(), reason="built without MPI or HDF5"),
    pytest.mark.skipif(bool(LIBRARIES[0].missing), reason=LIBRARIES[0].missing),
]
in_fortran = pytest.mark.skipif(
    "stencil_fortran" not in applications(), reason="built without Fortran, or its modules of MPI and HDF5"
)
PROGRAMS = [name for name in ("stencil", "stencil_fortran") if name in applications()]
QUICK = ["--steps", "6", "--every", "3", "--cell-ns", "0", "--verify"]


def stencil(folder: Path, ranks: int, *words: str, program: str = "stencil") -> subprocess.CompletedProcess[str]:
    return LIBRARIES[0].run(ranks, applications()[program], *words, folder=folder)


def put_together(folder: Path, step: int, name: str) -> npt.NDArray[np.generic]:
    """A quantity in all cells, from the files of all processes."""
    files = sorted(folder.glob(f"stencil_{step:06}_*.h5"))
    whole: npt.NDArray[np.generic] | None = None
    for path in files:
        with h5py.File(path) as file:
            part = file[name][()]
            nx, ny, nz = file.attrs["all_cells"]
            x, y = file.attrs["origin"]
        if whole is None:
            whole = np.zeros((nz, ny, nx), part.dtype)
        whole[:, y : y + part.shape[1], x : x + part.shape[2]] = part
    assert whole is not None
    return whole


@pytest.mark.parametrize(("ranks", "cells"), [(2, ("6", "12", "5")), (3, ("4", "12", "5")), (4, ("6", "6", "5"))])
def test_the_air_is_the_same_however_many_compute_it(lull: Lull, ranks: int, cells: tuple[str, ...]) -> None:
    alone, together = lull.folder / "alone", lull.folder / "together"
    for folder, processes, of_each in ((alone, 1, ("12", "12", "5")), (together, ranks, cells)):
        folder.mkdir()
        done = stencil(folder, processes, "--cells", *of_each, *QUICK)
        assert done.returncode == 0, done.stderr
        assert "result verified" in done.stdout
    for name in ("u", "vapour", "tracer_14", "cloudy"):
        np.testing.assert_array_equal(put_together(alone, 6, name), put_together(together, 6, name))


def test_each_process_writes_101_bytes_of_a_cell_at_each_output(lull: Lull) -> None:
    done = stencil(lull.folder, 2, "--cells", "5", "4", "3", *QUICK, "--json")
    said = json.loads(done.stdout)
    assert (said["processes"], said["outputs"], said["bytes"], said["verified"]) == (2, 2, 2 * 2 * 60 * 101, True)
    assert said["wall_s"] >= said["compute_s"] > 0
    names = [f"stencil_{step:06}_{rank:05}.h5" for step in (3, 6) for rank in (0, 1)]
    assert sorted(path.name for path in lull.folder.glob("*.h5")) == names
    with h5py.File(lull.folder / names[0]) as file:
        assert len(file) == 26
        assert sum(file[name].nbytes for name in file) == 60 * 101


def test_the_same_air_makes_the_same_bytes(lull: Lull) -> None:
    found = []
    for number in range(2):
        folder = lull.folder / str(number)
        folder.mkdir()
        assert stencil(folder, 2, "--cells", "4", "4", "4", *QUICK).returncode == 0
        found.append({path.name: path.read_bytes() for path in folder.glob("*.h5")})
    assert found[0] == found[1] and len(found[0]) == 4


@in_fortran
def test_in_fortran_it_writes_the_same_bytes(lull: Lull) -> None:
    found = []
    for program in ("stencil", "stencil_fortran"):
        folder = lull.folder / program
        folder.mkdir()
        done = stencil(folder, 3, "--cells", "5", "4", "3", *QUICK, program=program)
        assert done.returncode == 0, done.stderr
        assert "result verified" in done.stdout
        found.append({path.name: path.read_bytes() for path in folder.glob("*.h5")})
    assert found[0] == found[1] and len(found[0]) == 6


def test_the_domain_may_be_given_as_a_whole_and_computing_pass_asleep(lull: Lull) -> None:
    found = []
    for program in PROGRAMS:
        folder = lull.folder / program
        folder.mkdir()
        words = ["--all-cells", "15", "4", "3", "--steps", "4", "--every", "2", "--cell-ns", "50000", "--asleep"]
        done = stencil(folder, 3, *words, program=program)
        assert done.returncode == 0, done.stderr
        wall = float(done.stdout.splitlines()[0].split(", ")[-1].split()[0])
        assert wall >= 4 * 60 * 50e-6
        found.append({path.name: path.read_bytes() for path in folder.glob("*.h5")})
    plain = lull.folder / "plain"
    plain.mkdir()
    stencil(plain, 3, "--cells", "5", "4", "3", "--steps", "4", "--every", "2", "--cell-ns", "0")
    assert all(one == {path.name: path.read_bytes() for path in plain.glob("*.h5")} for one in found)


each_program = pytest.mark.parametrize("program", ["stencil", pytest.param("stencil_fortran", marks=in_fortran)])


@each_program
def test_a_file_that_cannot_be_written_ends_the_job_with_a_line(lull: Lull, program: str) -> None:
    done = stencil(lull.folder, 2, *QUICK, "--out", "missing", program=program)
    assert done.returncode != 0
    assert "stencil: write missing/stencil_000003_0000" in done.stderr


@each_program
def test_a_mistake_is_one_line(lull: Lull, program: str) -> None:
    done = stencil(lull.folder, 2, "--cells", "5", "4", program=program)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("stencil: ")]
    assert len(said) == 1 and "--cells" in said[0]


@each_program
def test_a_domain_that_cannot_be_dealt_equally_is_refused_in_a_line(lull: Lull, program: str) -> None:
    done = stencil(lull.folder, 2, "--all-cells", "5", "4", "3", program=program)
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if line.startswith("stencil: ")]
    assert len(said) == 1 and "cannot be distributed" in said[0]
