"""MPI programs that use by name what they have just written: under each approach they see the same as without."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from test_stage_programs import HDF5, flags, ranks_for

from bounds import TIMEOUT_S
from conftest import gone, wait_until
from lull.mpi.preload import preloaded
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library, printing_to
from places import PROGRAMS

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not HDF5, reason="needs libhdf5-dev")]

APPROACHES = ["time-partitioning", "dedicated-cores=1", "dedicated-nodes=1"]
# A storage so slow that files are outstanding for long.
SLOW = {"LULL_STAGE_STORAGE_LIMIT": "20M"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def program(mpi: MpiLibrary, built: Path) -> Path:
    here = built / mpi.name
    here.mkdir(exist_ok=True)
    made = here / "stage_names"
    return (
        made
        if made.exists()
        else mpi.compiled("stage/stage_names.c", here, *flags("--cflags", "--libs", HDF5), "-ldl", "-pthread")
    )


def run(
    mpi: MpiLibrary, folder: Path, clients: int, approach: str, what: list[str | Path], *, prefix: str = "", **env: str
) -> subprocess.CompletedProcess[str]:
    """Run in a new folder, plainly if there is no approach; `prefix`: shell words before the command."""
    folder.mkdir()
    ranks = clients if not approach or "=" not in approach else ranks_for(clients, approach)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    if approach:
        nodes = {"LULL_NODES": "2"} if "nodes" in approach else {}
        environment = preloaded(environment, tools={"LULL_STAGE": approach}) | nodes | env
    words = shlex.join(map(str, mpi.start(ranks, *what)))
    done = subprocess.run(
        ["sh", "-c", f"{prefix} {words}"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert wait_until(lambda: gone(str(folder)))
    return done


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@each_library
@pytest.mark.parametrize(
    ("what", "clients", "settings"),
    [
        (["append"], 2, SLOW),
        (["folders"], 2, SLOW),
        (["links"], 2, SLOW),
        (["open", "7"], 2, {"LULL_STAGE_BUFFER": "8M"}),
        (["callbacks"], 2, {}),
        (["signals"], 2, {}),
        (["gather"], 3, SLOW),
        (["children"], 2, SLOW),
        (["neighbours"], 3, SLOW),
        (["loading", "library"], 2, SLOW),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_program_sees_its_own_past_as_plainly(
    mpi: MpiLibrary, built: Path, tmp_path: Path, what: list[str], clients: int, settings: dict[str, str]
) -> None:
    library = tmp_path / "loading.so"
    subprocess.run(["cc", "-shared", "-fPIC", PROGRAMS / "stage/stage_loading.c", "-o", library], check=True)
    command: list[str | Path] = [program(mpi, built), *(library if word == "library" else word for word in what)]
    plain = run(mpi, tmp_path / "plain", clients, "", command)
    for approach in APPROACHES:
        staged = run(mpi, tmp_path / approach, clients, approach, command, **settings)
        assert staged.returncode == plain.returncode, staged.stderr
        assert contents(tmp_path / approach) == contents(tmp_path / "plain")


def test_a_program_without_hdf5_finds_that_it_is_not_there(tmp_path: Path) -> None:
    names = tmp_path / "names"
    subprocess.run(["cc", "-o", names, PROGRAMS / "stage/hdf5_names.c", "-ldl"], check=True)
    folders = [Path(flag[2:]) for flag in flags("--libs-only-L", HDF5)]
    command = [names, *(folder / "libhdf5.so" for folder in folders[:1])]
    plainly = subprocess.run(command, capture_output=True, text=True, check=True)
    done = subprocess.run(
        command,
        env=preloaded(os.environ, tools={"LULL_STAGE": "dedicated-cores=1"}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, plainly.stdout, "")


@each_library
@pytest.mark.parametrize("approach", APPROACHES)
def test_few_descriptors_lose_no_file(mpi: MpiLibrary, built: Path, tmp_path: Path, approach: str) -> None:
    command: list[str | Path] = [program(mpi, built), "descriptors"]
    few = "ulimit -S -n 128;"
    plain = run(mpi, tmp_path / "plain", 2, "", command, prefix=few)
    staged = run(mpi, tmp_path / approach, 2, approach, command, prefix=few)
    assert (plain.returncode, staged.returncode) == (0, 0), staged.stderr
    assert contents(tmp_path / approach) == contents(tmp_path / "plain")


@each_library
@pytest.mark.parametrize("approach", APPROACHES)
def test_a_killed_program_keeps_what_it_has_flushed(
    mpi: MpiLibrary, built: Path, tmp_path: Path, approach: str
) -> None:
    command: list[str | Path] = [program(mpi, built), "killed"]
    run(mpi, tmp_path / "plain", 2, "", command)
    staged = run(mpi, tmp_path / approach, 2, approach, command)
    assert staged.returncode != 0
    assert contents(tmp_path / approach) == contents(tmp_path / "plain")


@each_library
@pytest.mark.parametrize("approach", ["dedicated-cores=1", "dedicated-nodes=1"])
def test_a_program_that_exits_without_ending_mpi_loses_no_file(
    mpi: MpiLibrary, built: Path, tmp_path: Path, approach: str
) -> None:
    command: list[str | Path] = [program(mpi, built), "rotate", "10000", "exit"]
    run(mpi, tmp_path / "plain", 1, "", command)
    run(mpi, tmp_path / approach, 1, approach, command, **SLOW)  # launchers handle it differently
    assert contents(tmp_path / approach) == contents(tmp_path / "plain")


@each_library
@pytest.mark.parametrize("approach", ["dedicated-cores=1", "dedicated-nodes=1"])
def test_no_checkpoint_is_removed_before_the_next_is_safe(
    mpi: MpiLibrary, built: Path, tmp_path: Path, approach: str
) -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("needs a mount namespace")
    copied = tmp_path / "kept"
    copied.mkdir()
    # The shell, the launcher and the program see a disk with room for the first checkpoint, but not for a second one.
    disk = f'mount -t tmpfs -o size=8m none "$PWD" && cd "$PWD" && trap "cp * {shlex.quote(str(copied))}" EXIT;'
    printed = tmp_path / "printed"
    words = [*printing_to(printed), program(mpi, built), "rotate", "900000"]
    inner = shlex.join(mpi.start(ranks_for(1, approach), *words))
    done = run(
        mpi, tmp_path / approach, 1, approach, ["true"], prefix=f"unshare -m sh -c {shlex.quote(disk + inner)} #"
    )
    assert done.returncode != 0
    assert "No space left on device" in printed.read_text()
    assert [path.name for path in copied.iterdir() if path.suffix == ".h5"] == ["ck.0.0.h5"]
    assert (
        subprocess.run(["h5dump", "-d", "/d", "-s", "0", "-c", "1", copied / "ck.0.0.h5"], check=False).returncode == 0
    )
