"""A rank that cannot take part in staging: no rank does, with a line, and the program writes its output itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mpi_libraries import MpiLibrary, each_library

pytestmark = pytest.mark.in_turn(2)

# Its collective writes would fill holes with memory that was never set, in plain runs, too.
DETERMINISTIC = {"OMPI_MCA_fbtl_posix_write_datasieving": "0"}
ALONE = "the program writes its output itself"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled programs."""
    return tmp_path_factory.mktemp("programs")


def limited(limit: str, rank: int = 1) -> list[str]:
    """The words before a program by which one of its ranks gets a limit of ulimit."""
    own = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    return ["sh", "-c", f'[ "{own}" != {rank} ] || ulimit {limit}; exec "$@"', "sh"]


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("lull")]


def steps(
    mpi: MpiLibrary, built: Path, folder: Path, ranks: int, limit: str, **settings: str
) -> tuple[subprocess.CompletedProcess[str], bytes]:
    """A file of all ranks, staged if there are settings; its last rank serves."""
    program = built / f"{mpi.name}-steps"
    if not program.exists():
        mpi.compiled("stage/shared_steps.c", built, name=program.name)
    folder.mkdir()
    words = limited(limit) if limit else []
    done = mpi.run(ranks, *words, program, folder / "file", "64", "4", tools=settings or None, env=DETERMINISTIC)
    return done, (folder / "file").read_bytes()


@each_library
@pytest.mark.parametrize("ranks", [3, 5])
def test_too_few_descriptors_in_one_rank_let_the_program_write(
    mpi: MpiLibrary, tmp_path: Path, built: Path, ranks: int
) -> None:
    _, plain = steps(mpi, built, tmp_path / "plain", ranks - 1, "")
    done, file = steps(mpi, built, tmp_path / "staged", ranks, "-n 44", LULL_STAGE="dedicated-cores=1")
    assert done.returncode == 0, done.stderr
    assert file == plain
    [said] = lines(done)
    assert said.startswith(f"lull: rank 1 of {ranks}: ") and "(ulimit -n)" in said and said.endswith(ALONE)


@each_library
def test_too_little_memory_in_one_rank_lets_the_program_write_shared_files(
    mpi: MpiLibrary, tmp_path: Path, built: Path
) -> None:
    _, plain = steps(mpi, built, tmp_path / "plain", 3, "")
    settings = {"LULL_STAGE": "dedicated-cores=1", "LULL_STAGE_BUFFER": "16G"}
    done, file = steps(mpi, built, tmp_path / "staged", 4, "-v 8000000", **settings)
    assert done.returncode == 0, done.stderr
    assert file == plain
    assert lines(done)[0].startswith("lull: rank 1 of 4: share files that several processes write: ")
    assert "linked statically" not in done.stderr


@each_library
def test_ranks_with_other_settings_let_the_program_write(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    _, plain = steps(mpi, built, tmp_path / "plain", 4, "")
    program, path = built / f"{mpi.name}-steps", tmp_path / "file"
    own = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    words = ["sh", "-c", f'[ "{own}" != 2 ] || export LULL_STAGE=dedicated-cores=2; exec "$@"', "sh"]
    tools = {"LULL_STAGE": "dedicated-cores=1"}
    done = mpi.run(4, *words, program, path, "64", "4", tools=tools, env=DETERMINISTIC)
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == plain
    [said] = lines(done)
    assert "rank 2 has other settings" in said and said.endswith(ALONE)


@each_library
def test_a_file_shared_with_spawned_processes_is_left_to_the_program(
    mpi: MpiLibrary, tmp_path: Path, built: Path
) -> None:
    program = mpi.compiled("stage/shared_spawned.c", built, name=f"{mpi.name}-spawned")
    if mpi.run(2, program, tmp_path / "plain", env=DETERMINISTIC).returncode != 0:
        pytest.skip("needs an MPI library that spawns processes")
    done = mpi.run(3, program, tmp_path / "file", tools={"LULL_STAGE": "dedicated-cores=1"}, env=DETERMINISTIC)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "file").read_bytes() == b"".join(rank.to_bytes(4, "little") for rank in range(3))
    assert "processes that were spawned, or of another job, have it open, too" in done.stderr
