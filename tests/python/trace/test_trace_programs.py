"""Traced MPI programs: sums compared with the program's own counts, and programs that end at any point."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from test_trace import printed

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull import _core, record
from mpi_libraries import ENVIRONMENT, LIBRARIES, MpiLibrary, each_library

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("programs")
    for mpi in LIBRARIES:
        if not mpi.missing:
            mpi.compiled("every_message.c", folder, name=f"every_message.{mpi.name}")
    yield folder


@pytest.fixture
def tracing(lull: Lull) -> Lull:
    return replace(lull, env=ENVIRONMENT)


def trace(lull: Lull, mpi: MpiLibrary, built: Path, *words: str, ranks: int = 4) -> subprocess.CompletedProcess[str]:
    return lull.run("trace", "-q", "--out", "t", *mpi.start(ranks, built / f"every_message.{mpi.name}", *words))


@each_library
def test_sums_are_those_that_the_program_counts(tracing: Lull, mpi: MpiLibrary, built: Path) -> None:
    done = trace(tracing, mpi, built, "25")
    assert done.returncode == 0, done.stderr
    messages, size, collectives = map(int, done.stdout.split())
    content = json.loads(tracing.run("archive", "info", "--format", "json", "t").stdout)
    assert (content["messages"], content["message_bytes"]) == (messages, size)
    assert tracing.run("show", "t").stderr == "lull: lull archive info t shows the messages of this run\n"
    assert sum(process["received_messages"] for process in content["processes"]) == messages
    assert sum(process["received_bytes"] for process in content["processes"]) == size
    found = {one["operation"]: one["calls"] for one in content["collectives"]}
    # Fences count as barriers; the last reduction is not counted by the program.
    assert found["barrier"] + found["broadcast"] + found["allreduce"] == collectives + 2 * 4
    assert found["reduce"] == 4
    assert (content["one_sided"], content["one_sided_bytes"]) == (4, 32)
    assert all(value == 0 for value in content["faults"].values())


@each_library
def test_otf2_print_has_nothing_to_say(tracing: Lull, mpi: MpiLibrary, built: Path) -> None:
    assert trace(tracing, mpi, built, "5").returncode == 0
    text = printed(tracing.folder / "t")
    for name in ("MPI_ISEND ", "MPI_IRECV ", "RMA_PUT", "NON_BLOCKING_COLLECTIVE_COMPLETE", '"odd"', '"even"'):
        assert name in text
    assert "METRIC " in text


def test_the_folder_is_a_record_too(tracing: Lull, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    assert trace(tracing, mpi, built, "5").returncode == 0
    run = record.read(tracing.folder / "t")
    assert run.command[0] == "mpirun.openmpi"
    assert run.repeats[0].exit_code == 0 and run.repeats[0].totals
    assert tracing.run("report", "t", "--to", "page.html").returncode == 0
    assert "<h2>Traces</h2>" in (tracing.folder / "page.html").read_text()
    taken = tracing.run("trace", "--out", "t", "true")
    assert (taken.returncode, len(taken.stderr.splitlines())) == (125, 1)


@each_library
@pytest.mark.parametrize("end", ["kill", "exit", "abort"])
def test_a_job_that_ends_in_the_middle_leaves_a_whole_archive(
    tracing: Lull, mpi: MpiLibrary, built: Path, end: str
) -> None:
    without = mpi.run(4, built / f"every_message.{mpi.name}", "20", end)
    done = trace(tracing, mpi, built, "20", end)
    assert done.returncode != 0
    if (mpi.name, end) != ("mpich", "exit"):  # there it depends on which process is ended first
        assert done.returncode == without.returncode
    ours = [line for line in done.stderr.splitlines() if line.startswith("lull: ")]
    assert 2 <= len(ours) <= 3, done.stderr
    assert "rank" in ours[0]
    text = printed(tracing.folder / "t")
    assert text.count("MPI_ALLREDUCE") or text.count('"MPI_Allreduce"')


def test_ctrl_c_keeps_what_was_recorded(tracing: Lull, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    words = mpi.start(2, built / "every_message.openmpi", "100000000")
    running = tracing.start("trace", "-q", "--out", "t", *words)
    raw = tracing.folder / "t" / "raw"
    assert wait_until(lambda: len([path for path in raw.glob("*.records") if path.stat().st_size > 500_000]) == 2)
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 128 + signal.SIGINT
    assert "lull: the recordings so far are kept; lull archive convert t makes an archive of them" in said
    assert tracing.run("archive", "convert", "t").returncode == 0
    printed(tracing.folder / "t")


@each_library
def test_beyond_the_limit_the_program_goes_on(tracing: Lull, mpi: MpiLibrary, built: Path) -> None:
    small = replace(tracing, env={**ENVIRONMENT, "LULL_TRACE_LIMIT": "128K"})
    done = trace(small, mpi, built, "2000", ranks=2)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("LULL_TRACE_LIMIT is reached; later calls are only counted") == 2
    assert done.stderr.count("records not kept, because its disk was full or LULL_TRACE_LIMIT was reached") == 2
    printed(tracing.folder / "t")


# This many KiB are enough for the records, or not even for them; never also for the archive.
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
@pytest.mark.parametrize("room", [1000, 4000])
def test_on_a_full_disk_the_program_goes_on_and_what_was_recorded_stays(tracing: Lull, built: Path, room: int) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    words = mpi.start(2, built / f"every_message.{mpi.name}", "2000")
    small = f"mkdir disk && mount -t tmpfs -o size={room}K tmpfs disk"
    on_small_disk = small + ' && "$@"; code=$?; cp -r disk/t t; umount disk; exit $code'
    tracer = tracing.argv("trace", "-q", "--out", "disk/t", *words)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", on_small_disk, "sh", *tracer],
        cwd=tracing.folder, env=tracing.environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 125
    assert len(done.stdout.split()) == 3  # the program's own figures
    ours = [line for line in done.stderr.splitlines() if line.startswith("lull: ")]
    # If most of it has room, the disk fills up while events are written, or only with the definitions.
    last = "make room on that disk" in ours[0] if ours else False
    assert ours and ("No space left on device" in ours[0] or (room == 4000 and last))
    assert not (tracing.folder / "t" / "traces.otf2").exists()
    assert tracing.run("archive", "convert", "t").returncode == 0
    printed(tracing.folder / "t")


def test_a_job_that_spawns_others_is_traced_with_what_they_say_to_each_other(
    tracing: Lull, tmp_path_factory: pytest.TempPathFactory
) -> None:
    mpi = LIBRARIES[0]  # Debian's MPICH cannot spawn
    if mpi.missing:
        pytest.skip(mpi.missing)
    words = mpi.start(2, mpi.compiled("mpi/mpi_spawn.c", tmp_path_factory.mktemp("spawn")), "2")
    done = tracing.run("trace", "-q", "--out", "t", *words)
    assert (done.returncode, done.stdout) == (0, "3 together\n"), done.stderr
    [said] = [line for line in done.stderr.splitlines() if line.startswith("lull:")]
    assert said.startswith("lull: trace of 4 processes")
    content = json.loads(tracing.run("archive", "info", "--format", "json", "t").stdout)
    assert (content["messages"], all(value == 0 for value in content["faults"].values())) == (4, True)
    printed(tracing.folder / "t")


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_without_mpi_leaves_a_record_and_a_line(tracing: Lull, code: int) -> None:
    done = tracing.run("trace", "-q", "--out", "t", "sh", "-c", f"exit {code}")
    assert done.returncode == code
    assert done.stderr.splitlines()[-1].startswith(
        "lull: there is no trace of sh: none of its processes has called an MPI library that Lull supports"
    )
    assert record.read(tracing.folder / "t").repeats[0].exit_code == code


def test_a_command_that_is_not_there_leaves_nothing(tracing: Lull) -> None:
    done = tracing.run("trace", "--out", "t", "no-such-program")
    assert (done.returncode, done.stderr) == (127, "lull: run no-such-program: No such file or directory\n")
    assert not (tracing.folder / "t").exists()


def test_a_program_with_the_name_of_a_subcommand_is_traced(tracing: Lull) -> None:
    program = tracing.folder / "info"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    path = f"{tracing.folder}:{os.environ['PATH']}"
    done = replace(tracing, env={**ENVIRONMENT, "PATH": path}).run("trace", "-q", "--out", "t", "info")
    assert done.returncode == 3, done.stderr
    assert record.read(tracing.folder / "t").command == ["info"]


def test_a_rank_of_a_launcher_is_refused(tracing: Lull) -> None:
    rank = replace(tracing, env={"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"})
    done = rank.run("trace", "true")
    assert done.returncode == 125
    assert done.stderr == "lull: trace: Open MPI has started this as a rank; put lull trace before the launcher\n"


def test_jobs_one_after_another_are_told_apart(tracing: Lull, built: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    job = " ".join(mpi.start(2, built / "every_message.openmpi", "3"))
    done = tracing.run("trace", "-q", "--out", "t", "sh", "-c", f"{job} && {job}")
    assert done.returncode == 0, done.stderr
    names = [
        one["name"] for one in json.loads(tracing.run("archive", "info", "--format", "json", "t").stdout)["processes"]
    ]
    assert names == ["job 1 rank 0", "job 1 rank 1", "job 2 rank 0", "job 2 rank 1"]


@each_library
def test_regions_of_the_program_are_in_the_trace(tracing: Lull, mpi: MpiLibrary) -> None:
    source = tracing.folder / "regions.c"
    source.write_text(
        "#include <lull/meter.h>\n#include <mpi.h>\nint main(int n, char **w) {\n  MPI_Init(&n, &w);\n"
        '  for (int i = 0; i < 3; i++) {\n    lull_region_begin("solve");\n    MPI_Barrier(MPI_COMM_WORLD);\n'
        '    lull_region_end("solve");\n  }\n  return MPI_Finalize();\n}\n'
    )
    prefix = Path(sys.executable).parents[1]
    where = [f"-I{prefix}/include", f"-L{prefix}/lib", "-llull-meter", f"-Wl,-rpath,{prefix}/lib"]
    subprocess.run([f"mpicc.{mpi.name}", source, "-o", tracing.folder / "regions", *where], check=True)
    done = tracing.run("trace", "-q", "--out", "t", *mpi.start(2, tracing.folder / "regions"))
    assert done.returncode == 0, done.stderr
    assert "trace of 2 processes" in done.stderr
    content = json.loads(tracing.run("archive", "info", "--format", "json", "t").stdout)
    found = {one["name"]: (one["paradigm"], one["calls"]) for one in content["functions"]}
    assert found["solve"] == ("user", 6)
    assert found["MPI_Barrier"] == ("mpi", 6)
    lines = [line.split("Region: ")[1].split()[0] for line in printed(tracing.folder / "t").splitlines()
             if line.startswith("ENTER ") and line.split()[1] == "0"]  # fmt: skip
    assert lines[2:4] == ['"solve"', '"MPI_Barrier"']


@pytest.mark.skipif(shutil.which("lmp") is None, reason="needs lammps")
def test_lammps(tracing: Lull) -> None:
    (tracing.folder / "in.melt").write_text(
        "units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 8 0 8 0 8\ncreate_box 1 box\n"
        "create_atoms 1 box\nmass 1 1.0\nvelocity all create 3.0 87287 loop geom\npair_style lj/cut 2.5\n"
        "pair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\nfix 1 all nve\nthermo 50\nrun 50\n"
    )
    mpi = LIBRARIES[0]
    done = tracing.run("trace", "-q", "--out", "t", *mpi.start(8, "lmp", "-in", "in.melt", "-log", "none"))
    assert done.returncode == 0, done.stderr
    printed(tracing.folder / "t")
    content = json.loads(tracing.run("archive", "info", "--format", "json", "t").stdout)
    assert len(content["processes"]) == 8
    assert content["messages"] > 1000
    assert all(value == 0 for value in content["faults"].values())
