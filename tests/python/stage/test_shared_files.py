"""Files that all ranks write together by MPI-IO: staged, they are those of a plain run, and so is what ranks read."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import processes_with, wait_until
from covering import seed_of_today
from lull.mpi.preload import preloaded
from mpi_libraries import ENVIRONMENT, LIBRARIES, MpiLibrary, each_library, printing_to

pytestmark = pytest.mark.in_turn(2)

# Its collective writes would fill holes with memory that was never set, in plain runs, too.
DETERMINISTIC = {"OMPI_MCA_fbtl_posix_write_datasieving": "0"}
# A step that is read behind what is written: a hole belongs to the file as soon as something behind it does.
KEPT = [21, 32]


@dataclass(frozen=True)
class Done:
    """What a run has printed, and the file that it has left."""

    run: subprocess.CompletedProcess[str]
    file: bytes

    @property
    def printed(self) -> list[str]:
        """Its lines; ranks print in any order."""
        return sorted(self.run.stdout.splitlines())


def run(
    mpi: MpiLibrary, folder: Path, ranks: int, program: Path, *arguments: str, servers: int = 0, **settings: str
) -> Done:
    """Run the program with a file in the folder; `ranks` are those that it sees."""
    tools = {"LULL_STAGE": f"dedicated-cores={servers}"} | settings if servers else None
    folder.mkdir()
    path = folder / "file"
    done = mpi.run(ranks + servers, program, path, *arguments, tools=tools, env=DETERMINISTIC, folder=folder)
    return Done(done, path.read_bytes() if path.exists() else b"")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled programs."""
    return tmp_path_factory.mktemp("programs")


def program(mpi: MpiLibrary, built: Path, name: str) -> Path:
    """A program of the folder `programs/stage`, compiled once."""
    here = built / mpi.name
    here.mkdir(exist_ok=True)
    return here / name if (here / name).exists() else mpi.compiled(f"stage/{name}.c", here)


@each_library
def test_random_programs_are_as_plainly(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    what = program(mpi, built, "shared_random")
    today = seed_of_today() * 1000
    for i, seed in enumerate([*KEPT, today, today + 1]):
        ranks = 2 + i % 2
        arguments = [str(seed), "60"]
        plain = run(mpi, tmp_path / f"plain{i}", ranks, what, *arguments)
        assert plain.run.returncode == 0, plain.run.stderr
        settings = {"LULL_STAGE_CLOSE": ["go", "wait"][i // 2 % 2], "LULL_STAGE_BUFFER": ["1G", "256K"][i % 2]}
        staged = run(mpi, tmp_path / f"staged{i}", ranks, what, *arguments, servers=1 + i % 2, **settings)
        assert staged.run.returncode == 0, staged.run.stderr
        assert staged.printed == plain.printed, f"seed {seed}"
        assert staged.file == plain.file, f"seed {seed}"


@each_library
def test_random_programs_on_two_nodes_are_as_plainly(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    what = program(mpi, built, "shared_random")
    seeds = [KEPT[0], seed_of_today() * 1000 + 2]
    for i, seed in enumerate(seeds if mpi is LIBRARIES[0] else seeds[1:]):
        arguments = [str(seed), "60"]
        plain = run(mpi, tmp_path / f"plain{i}", 4, what, *arguments)
        assert plain.run.returncode == 0, plain.run.stderr
        servers = 1 + i  # of each node
        settings = {"LULL_NODES": "2", "LULL_STAGE": f"dedicated-cores={servers}"}
        staged = run(mpi, tmp_path / f"staged{i}", 4, what, *arguments, servers=2 * servers, **settings)
        assert staged.run.returncode == 0, staged.run.stderr
        assert staged.printed == plain.printed, f"seed {seed}"
        assert staged.file == plain.file, f"seed {seed}"


@pytest.mark.parametrize("nodes", [1, 2])
def test_files_are_verified_at_the_end(nodes: int, tmp_path: Path, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    sums = tmp_path / "sums"
    sums.mkdir()
    what = program(mpi, built, "shared_steps")
    settings = {"LULL_NODES": str(nodes), "LULL_STAGE_VERIFY": str(sums), "LULL_STAGE": "dedicated-cores=1"}
    done = run(mpi, tmp_path / "right", 2, what, "64", "4", servers=nodes, **settings)
    assert done.run.returncode == 0, done.run.stderr
    assert f"lull: verified: {len(done.file)} bytes of 1 file as handed over; 0 bytes" in done.run.stderr
    assert not list(sums.iterdir())


@each_library
def test_the_table_counts_what_was_handed_over(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    what = program(mpi, built, "shared_steps")
    figures = tmp_path / "figures.json"
    plain = run(mpi, tmp_path / "plain", 3, what, "64", "4")
    staged = run(mpi, tmp_path / "staged", 3, what, "64", "4", servers=1, LULL_STAGE_FIGURES=str(figures))
    assert staged.run.returncode == plain.run.returncode == 0, staged.run.stderr
    assert staged.file == plain.file and len(plain.file) == 4 * 3 * 64 * 1024
    output = json.loads(figures.read_text())
    shared = output["clients"]["shared"]
    assert (shared["calls"], shared["pieces"], shared["bytes"]) == (12, 12 * 16, len(plain.file))
    assert output["servers"]["written"] == {"files": 1, "bytes": len(plain.file)}
    assert output["servers"]["shared_writes"] < shared["pieces"]
    assert "12 writes of 192 pieces became" in staged.run.stderr


@each_library
def test_a_full_disk_reaches_the_program_as_an_error(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    what = program(mpi, built, "shared_steps")
    small, printed = tmp_path / "small", tmp_path / "printed"
    small.mkdir()
    mounted = f"mount -t tmpfs -o size=1m none {small} && cd {small} && "
    words = shlex.join(mpi.start(4, *printing_to(printed), what, small / "file", "512", "8"))
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", mounted + words],
        env=preloaded(environment, tools={"LULL_STAGE": "dedicated-cores=1"}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if "mount:" in done.stderr:
        pytest.skip("cannot mount a small file system")
    assert done.returncode != 0
    text = printed.read_text()
    assert text.count(f"lull: write {small}/file: No space left on device") == 1
    assert "(no space)" in text


class WaitingJob:
    """A run of shared_steps that waits before its last step."""

    def __init__(self, folder: Path, started: subprocess.Popen[str]) -> None:
        self.folder = folder
        self.started = started

    @property
    def returncode(self) -> int | None:
        """Of the launcher, once it has ended."""
        return self.started.returncode

    def servers(self, count: int) -> list[int]:
        """The process ids of its servers."""
        found = processes_with(str(self.folder), name="lull-stage-serv")
        assert len(found) == count
        return found

    def go_on(self) -> str:
        """Let it do its last step; returns its output when it and its servers have ended."""
        (self.folder / "go").touch()
        return self.ended()

    def ended(self) -> str:
        """Its output when it and its servers have ended."""
        out, err = self.started.communicate(timeout=TIMEOUT_S)
        assert wait_until(lambda: not processes_with(str(self.folder), name="lull-stage-serv"))
        return out + err


@contextmanager
def job_that_waits(
    mpi: MpiLibrary, folder: Path, ranks: int, program: Path, settings: dict[str, str]
) -> Iterator[WaitingJob]:
    """With one server on each node, and a slow storage, which keeps something under way."""
    folder.mkdir()
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    } | ENVIRONMENT
    tools = {
        "LULL_STAGE": "dedicated-cores=1",
        "LULL_STAGE_STORAGE_LIMIT": "256K",
        "LULL_STAGE_FIGURES": str(folder / "figures"),  # by which the servers are found
        **settings,
    }
    job = subprocess.Popen(
        mpi.start(ranks, program, folder / "file", "64", "4", "wait"),
        env=preloaded(environment, tools=tools),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert wait_until((folder / "ready").exists)
        yield WaitingJob(folder, job)
    finally:
        job.kill()


@each_library
@pytest.mark.parametrize("victim", ["server", "rank"])
def test_what_was_handed_over_survives_a_process(mpi: MpiLibrary, tmp_path: Path, built: Path, victim: str) -> None:
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 2, what, "64", "4")
    folder = tmp_path / "staged"
    with job_that_waits(mpi, folder, 3, what, {}) as job:
        [server] = job.servers(1)
        if victim == "server":
            os.kill(server, signal.SIGKILL)
            said = job.go_on()
        else:
            os.kill(int((folder / "ready").read_text()), signal.SIGKILL)
            said = job.ended()
    written = (folder / "file").read_bytes()
    if victim == "server":
        assert job.returncode == 0, said
        assert written == plain.file
    else:
        assert written == plain.file[: 3 * 2 * 64 * 1024]


@each_library
def test_before_a_job_is_killed_the_server_writes_what_was_handed_over(
    mpi: MpiLibrary, tmp_path: Path, built: Path
) -> None:
    """As at a time limit: SIGTERM to all processes of a job, and SIGKILL when the server has ended."""
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 2, what, "64", "4")
    with job_that_waits(mpi, tmp_path / "staged", 3, what, {}) as job:
        for process in [*job.servers(1), *processes_with(str(tmp_path / "staged"), name="shared_steps")]:
            os.kill(process, signal.SIGTERM)
        job.ended()
    assert job.returncode != 0
    assert (tmp_path / "staged" / "file").read_bytes() == plain.file[: 3 * 2 * 64 * 1024]


@each_library
def test_a_job_that_is_killed_at_once_leaves_bytes_of_the_program_or_holes(
    mpi: MpiLibrary, tmp_path: Path, built: Path
) -> None:
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 2, what, "64", "4")
    with job_that_waits(mpi, tmp_path / "staged", 3, what, {}) as job:
        for process in [*job.servers(1), *processes_with(str(tmp_path / "staged"), name="shared_steps")]:
            os.kill(process, signal.SIGKILL)
        job.ended()
    written = (tmp_path / "staged" / "file").read_bytes()
    assert all(got in (0, right) for got, right in zip(written, plain.file, strict=False))


def test_a_byte_that_was_changed_meanwhile_ends_the_job_with_an_error(tmp_path: Path, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    sums, folder = tmp_path / "sums", tmp_path / "staged"
    sums.mkdir()
    settings = {"LULL_STAGE_VERIFY": str(sums), "LULL_STAGE_STORAGE_LIMIT": "0"}
    with job_that_waits(mpi, folder, 3, program(mpi, built, "shared_steps"), settings) as job:
        file = folder / "file"
        assert wait_until(lambda: any(file.read_bytes()[4096:8192]))  # written, by the other rank
        with file.open("r+b") as written:
            written.seek(5000)
            written.write(b"!")
        said = job.go_on()
    assert job.returncode != 0
    assert re.search(r"lull: verify .*/file: read 4096 bytes at 4096 back: they are not those", said), said
    assert re.search(r"lull: verified: 0 bytes of 0 files", said), said


def test_dedicated_nodes_leave_it_to_the_program(tmp_path: Path, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 2, what, "64", "2")
    settings = {"LULL_STAGE": "dedicated-nodes=1", "LULL_NODES": "2"}
    done = run(mpi, tmp_path / "staged", 2, what, "64", "2", servers=2, **settings)
    assert done.run.returncode == 0, done.run.stderr
    assert len(re.findall(r"several processes share the file \(MPI-IO\).*writes it itself", done.run.stderr)) == 1
    assert done.file == plain.file


def test_a_node_without_a_server_leaves_it_to_the_program(tmp_path: Path, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 2, what, "64", "2")
    done = run(mpi, tmp_path / "staged", 2, what, "64", "2", servers=1, LULL_NODES="2")
    assert done.run.returncode == 0, done.run.stderr
    assert len(re.findall(r"has no server.*the program writes it itself", done.run.stderr)) == 1
    assert done.file == plain.file


def rank_of(server: int) -> int:
    """The rank for which the server of an Open MPI program was started."""
    variables = Path(f"/proc/{server}/environ").read_bytes().split(b"\0")
    [rank] = [one for one in variables if one.startswith(b"OMPI_COMM_WORLD_RANK=")]
    return int(rank.partition(b"=")[2])


@pytest.mark.parametrize("of_home", [True, False])
def test_nodes_that_lose_each_other_fail_and_do_not_hang(tmp_path: Path, built: Path, of_home: bool) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    what = program(mpi, built, "shared_steps")
    plain = run(mpi, tmp_path / "plain", 4, what, "64", "4")
    with job_that_waits(mpi, tmp_path / "staged", 6, what, {"LULL_NODES": "2"}) as job:
        in_order = sorted(job.servers(2), key=rank_of)
        os.kill(in_order[0 if of_home else 1], signal.SIGKILL)
        said = job.go_on()
    assert job.returncode != 0
    assert f"lull: write {tmp_path}/staged/file: Input/output error" in said
    # What ranks 2 and 3, or 0 and 1, had handed over before is written: their server lives.
    written = (tmp_path / "staged" / "file").read_bytes()
    for i in range(3 * 4 * 64 // 4):
        if (i % 4 >= 2) == of_home:
            piece = slice(i * 4096, (i + 1) * 4096)
            assert written[piece] == plain.file[piece]


@each_library
def test_buffers_on_a_gpu_are_packed_by_the_library(mpi: MpiLibrary, tmp_path: Path, built: Path) -> None:
    source = Path(__file__).parents[1] / "programs" / "stage" / "fake_device.c"
    fake = tmp_path / "libcuda.so.1"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", source, "-o", fake], check=True)
    what = program(mpi, built, "shared_random")
    plain = run(mpi, tmp_path / "plain", 2, what, "77", "40")
    folder = tmp_path / "staged"
    folder.mkdir()
    env = {**DETERMINISTIC, "LD_PRELOAD": str(fake), "FAKE_DEVICE": str(tmp_path / "asked")}
    tools = {"LULL_STAGE": "dedicated-cores=1"}
    done = mpi.run(3, what, folder / "file", "77", "40", tools=tools, env=env, folder=folder)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "asked").exists()
    assert sorted(done.stdout.splitlines()) == plain.printed
    assert (folder / "file").read_bytes() == plain.file
