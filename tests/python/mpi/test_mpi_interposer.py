"""MPI programs with Lull between them and their library: they notice nothing, and their calls are recorded."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull
from lull.base import installed
from lull.mpi.preload import preloaded
from mpi_libraries import (
    ABI,
    ENVIRONMENT,
    LIBRARIES,
    OF_PYPI,
    MpiLibrary,
    each_interface,
    each_library,
    printing_to,
    second_without,
)
from places import PROGRAMS
from raw_records import RawProcess, read_raw

pytestmark = pytest.mark.in_turn(2)

SUBJECTS = [
    *("messages", "requests", "persistent", "probes", "collectives", "communicators"),
    *("topologies", "windows", "errors", "attributes", "files"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for compiled programs."""
    return tmp_path_factory.mktemp("programs")


def program(mpi: MpiLibrary, source: str, folder: Path, *arguments: str, name: str = "") -> Path:
    """Compiled once for all tests of this module."""
    here = folder / mpi.name
    here.mkdir(exist_ok=True)
    made = here / (name or Path(source).stem)
    return made if made.exists() else mpi.compiled(source, here, *arguments, name=made.name)


def traced(mpi: MpiLibrary, folder: Path, ranks: int, *command: str | Path, **more: dict[str, str]) -> list[RawProcess]:
    """The records of a run that succeeds."""
    done = mpi.run(ranks, *command, tools={"LULL_TRACE": str(folder / "trace")}, folder=folder, **more)
    assert (done.returncode, done.stderr) == (0, "")
    processes = read_raw(folder / "trace")
    assert [process.rank for process in processes] == list(range(ranks))
    return processes


@each_library
@pytest.mark.parametrize("tools", [[], ["LULL_TRACE"], ["LULL_WAIT"], ["LULL_TRACE", "LULL_WAIT"]], ids="+".join)
def test_a_program_sees_results_statuses_and_errors_as_without(
    mpi: MpiLibrary, built: Path, tmp_path: Path, tools: list[str]
) -> None:
    behaviours = program(mpi, "mpi/mpi_behaviours.c", built)
    values = {"LULL_TRACE": str(tmp_path / "trace"), "LULL_WAIT": "adaptive"}
    done = mpi.run(4, behaviours, tmp_path / "file", tools={tool: values[tool] for tool in tools})
    assert done.returncode == 0
    assert "LULL_WAIT" in tools or not done.stderr  # a library that keeps its own waiting is named there
    assert done.stdout.split() == SUBJECTS
    assert len(read_raw(tmp_path / "trace")) == (4 if "LULL_TRACE" in tools else 0)


@each_interface
def test_messages_have_their_peers_tags_and_bytes(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    behaviours = program(mpi, "mpi/mpi_behaviours.c", built)
    processes = traced(mpi, tmp_path, 4, behaviours, "file", "messages")
    for process in processes:
        right, left = (process.rank + 1) % 4, (process.rank + 3) % 4
        sends = process.of("send")
        exchanges = [(record.function, record.peer, record.tag, record.bytes) for record in sends][-3:]
        assert exchanges == [
            ("MPI_Sendrecv", right, 1, 8),
            ("MPI_Sendrecv_replace", right, 2, 16),
            ("MPI_Sendrecv", right, 3, 8),
        ]
        assert [(one.peer, one.bytes) for one in process.of("also_received")] == [(left, 8), (left, 16), (left, 8)]
        if process.rank % 2 == 0:
            assert [one.function for one in sends[:-3]] == ["MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"]
            assert {(one.peer, one.tag, one.bytes) for one in sends[:-3]} == {(right, 7, 16)}
        else:
            assert [(one.peer, one.tag, one.bytes) for one in process.of("receive")] == [(left, 7, 16)] * 3
        # No message goes to or comes from MPI_PROC_NULL.
        assert [one.what for one in process.calls("MPI_Recv")].count("call") == 1


@each_interface
def test_every_request_completes_once(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "requests"):
        left = (process.rank + 3) % 4
        posted, under_way = 0, Counter[int]()
        received = Counter[tuple[int, int, int]]()
        for record in process.records:
            if record.what in {"posted_send", "posted_receive"}:
                under_way[record.begin] += 1
                posted += record.what == "posted_receive"
            if record.what == "completed":
                under_way[record.begin] -= 1
                assert under_way[record.begin] >= 0
                received[record.peer, record.tag, record.bytes] += 1
        assert not +under_way
        assert posted == 7 * 20
        assert all(received[left, tag, 4] >= 7 for tag in range(20))


@each_interface
def test_asking_in_vain_again_and_again_is_one_record(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    asks = program(mpi, "mpi/mpi_asks.c", built)
    done = mpi.run(2, asks, "20000", tools={"LULL_TRACE": str(tmp_path / "trace")})
    assert (done.returncode, done.stderr) == (0, "")
    asking = read_raw(tmp_path / "trace")[0]
    for function, times in zip(("MPI_Test", "MPI_Iprobe"), map(int, done.stdout.split()), strict=True):
        calls = asking.calls(function)
        assert sum(1 + call.bytes for call in calls) == times
        assert len(calls) < times / 5  # how many are merged depends on other load on the machine
    [received] = asking.of("completed")
    assert received.bytes == 4


@each_interface
def test_persistent_requests_are_prepared_once_and_started_often(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "persistent"):
        [receive], [send] = process.of("prepared_receive"), process.of("prepared_send")
        assert (receive.peer, send.peer) == ((process.rank + 3) % 4, (process.rank + 1) % 4)
        started = Counter(record.begin for record in process.of("started"))
        assert started == {receive.begin: 5, send.begin: 5}
        assert Counter(record.begin for record in process.of("freed")) == {receive.begin: 1, send.begin: 1}


@each_interface
def test_matched_messages_and_cancelled_requests_are_told_apart(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "probes"):
        left = (process.rank + 3) % 4
        [matched] = process.calls("MPI_Mrecv")
        assert (matched.what, matched.peer, matched.tag, matched.bytes) == ("receive", left, 11, 12)
        posted = process.of("posted_receive")
        assert [(one.peer, one.tag) for one in posted] == [(left, 12), (left, 999)]
        assert [one.begin for one in process.of("cancelled")] == [posted[1].begin]


@each_interface
def test_collectives_count_the_bytes_of_their_own_buffers(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "collectives"):
        rank = process.rank
        records = process.records
        seen: dict[str, list[tuple[int, int, int]]] = {}
        for record, after in zip(records, [*records[1:], records[-1]], strict=True):
            if record.what == "collective":
                got = after.bytes if after.what == "more_received" else record.bytes
                seen.setdefault(record.function, []).append((record.peer, record.bytes, got))
        mine = 8 * (1 + rank % 2)  # for MPI_Gatherv and similar calls
        assert seen["MPI_Bcast"] == [(1, 8, 0) if rank == 1 else (1, 0, 8)]
        assert seen["MPI_Allreduce"][0] == (-1, 8, 8)
        assert seen["MPI_Allreduce"][1] == (-1, 8, 8)  # in place
        assert seen["MPI_Reduce"] == [(0, 8, 8 if rank == 0 else 0)]
        assert seen["MPI_Gather"] == [(0, 8, 32 if rank == 0 else 0)]
        assert seen["MPI_Gatherv"] == [(0, mine, 48 if rank == 0 else 0)]
        assert seen["MPI_Scatter"] == [(0, 64 if rank == 0 else 0, 16)]
        assert seen["MPI_Scatterv"] == [(0, 48 if rank == 0 else 0, mine)]
        assert seen["MPI_Allgather"] == [(-1, 8, 32)]
        assert seen["MPI_Allgatherv"] == [(-1, mine, 48)]
        for name in ("MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw"):
            assert seen[name] == [(-1, 32, 32)]
        for name in ("MPI_Reduce_scatter_block", "MPI_Reduce_scatter"):
            assert seen[name] == [(-1, 32, 8)]
        assert len(process.of("posted_collective")) + len(seen.get("MPI_Ialltoallv", [])) == 5
        # Calls of the program's own reduction operation inside a call are not calls of the program.
        assert not process.calls("MPI_Type_size")


@each_interface
def test_communicators_are_defined_with_their_members(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "communicators"):
        rank = process.rank
        defined = process.defined("communicator")
        assert defined[0]["number"] == 0
        assert members(defined[0]) == [0, 1, 2, 3]
        assert members(defined[1]) == [rank % 2, rank % 2 + 2]
        [named] = process.defined("communicator name")
        assert (named["number"], named["name"]) == (defined[1]["number"], "half")
        [inter] = [one for one in defined if one.get("remote")]
        assert members(inter) == [rank % 2, rank % 2 + 2]
        assert members(inter, "remote") == [1 - rank % 2, 3 - rank % 2]
        across = [one for one in process.calls("MPI_Sendrecv") if one.comm == inter["number"]]
        assert [one.peer for one in across] == [rank // 2]


def members(definition: dict[str, list[list[int]]], which: str = "members") -> list[int]:
    """The ranks of a communicator, which are stored as runs."""
    return [first + i for first, count in definition[which] for i in range(count)]


@each_interface
def test_one_sided_calls_name_window_target_and_bytes(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "windows"):
        right = (process.rank + 1) % 4
        [window] = process.defined("window")
        assert {one.comm for one in process.of("put", "get", "atomic", "locked")} == {window["number"]}
        assert [(one.peer, one.bytes) for one in process.of("put")] == [(right, 8)] * 3
        atomics = [(one.function, one.peer) for one in process.of("atomic")]
        assert atomics == [("MPI_Accumulate", 0), ("MPI_Fetch_and_op", 0), ("MPI_Compare_and_swap", right)]
        assert [(one.peer, one.tag) for one in process.of("locked")] == [(0, 1), (-1, 0), (0, 0)]
        fences = [one.function for one in process.of("window_collective")]
        assert fences == ["MPI_Win_fence", "MPI_Win_fence", "MPI_Win_free"]


@each_interface
def test_what_a_library_of_files_does_inside_is_not_recorded(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    for process in traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), "file", "files"):
        functions = Counter(record.function for record in process.records if record.function)
        assert functions["MPI_File_open"] == 2  # one that fails is a call, too
        assert functions["MPI_File_write_at_all"] == 1
        assert functions["MPI_Barrier"] == 1


@each_library
def test_calls_of_a_thread_follow_each_other(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    processes = traced(mpi, tmp_path, 4, program(mpi, "mpi/mpi_behaviours.c", built), tmp_path / "file")
    for process in processes:
        ended = 0
        for record in process.records:
            if record.function:
                assert record.begin >= ended
                ended = record.begin + record.duration
        assert process.records[0].function == "MPI_Init"
        assert process.records[-1].function == "MPI_Finalize"


@each_interface
def test_threads_record_each_for_itself(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    threads = program(mpi, "mpi/mpi_threads.c", built, "-pthread")
    processes = traced(mpi, tmp_path, 2, threads, "4", "10")
    for process in processes:
        busy = [thread for thread in process.threads if any(one.function == "MPI_Irecv" for one in thread)]
        assert len(busy) == 4
        for thread in busy:
            functions = Counter(record.function for record in thread if record.function)
            assert functions["MPI_Sendrecv_replace"] == functions["MPI_Comm_dup"] == functions["MPI_Comm_free"] == 10
            exchanged = [record.bytes for record in thread if record.function == "MPI_Sendrecv_replace"]
            assert exchanged == [4 * (1 + round % 5) for round in range(10)]  # types whose handles are used again


@each_library
@pytest.mark.parametrize("way", ["MPIF", "MPI", "MPI_F08"])
def test_fortran_is_recorded_as_c(mpi: MpiLibrary, built: Path, tmp_path: Path, way: str) -> None:
    if shutil.which(f"mpifort.{mpi.name}") is None or shutil.which("gfortran") is None:
        pytest.skip("needs gfortran")
    ring = program(mpi, "mpi/mpi_fortran.F90", built, f"-DWITH_{way}", name=f"fortran_{way}")
    for process in traced(mpi, tmp_path, 3, ring):
        functions = Counter(record.function for record in process.records if record.function)
        assert functions == {
            **{"MPI_Init": 1, "MPI_Send": 1, "MPI_Recv": 1, "MPI_Allreduce": 1, "MPI_Irecv": 1, "MPI_Isend": 1},
            **{"MPI_Waitall": 1, "MPI_Finalize": 1},
        }
        [send] = process.calls("MPI_Send")
        assert (send.peer, send.tag, send.bytes) == ((process.rank + 1) % 3, 1, 4)


@each_library
def test_a_library_loaded_late_for_its_own_eyes_is_found(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    part = program(mpi, "mpi/mpi_late_part.c", built, "-shared", "-fPIC", name="libpart.so")
    late = tmp_path / "late"
    subprocess.run(["cc", "-o", late, PROGRAMS / "mpi/mpi_late.c", "-ldl"], check=True)
    for process in traced(mpi, tmp_path, 2, late, part):
        assert len(process.calls("MPI_Allreduce")) == 1


@each_library
@pytest.mark.parametrize("place", ["in front", "behind", "linked"])
def test_another_tool_by_mpis_own_interface_counts_the_same(
    mpi: MpiLibrary, built: Path, tmp_path: Path, place: str
) -> None:
    tool = program(mpi, "mpi/mpi_count.c", built, "-shared", "-fPIC", name="libcount.so")
    counts = {"MPI_COUNT": str(tmp_path / "count")}
    if place == "linked":
        traffic = program(mpi, "mpi/mpi_traffic.c", built, *linked_with(tool), name="traffic_counted")
    else:
        traffic = program(mpi, "mpi/mpi_traffic.c", built)
    tools = {"LULL_TRACE": str(tmp_path / "trace")}
    environment = {**os.environ, **ENVIRONMENT, **counts}
    if place == "in front":
        environment["LD_PRELOAD"] = str(tool)
    ours = preloaded(environment, tools=tools)
    if place == "behind":
        ours["LD_PRELOAD"] += f":{tool}"
    subprocess.run(mpi.start(4, traffic, "40"), env=ours, check=True, cwd=tmp_path)
    for process in read_raw(tmp_path / "trace"):
        assert told(process) == [int(word) for word in (tmp_path / f"count.{process.rank}").read_text().split()]


def linked_with(tool: Path) -> list[str]:
    """Options that link a program with a library in front of MPI's."""
    return ["-Wl,--no-as-needed", str(tool), f"-Wl,-rpath,{tool.parent}"]


def told(process: RawProcess) -> list[int]:
    """Messages sent and received, their bytes, and collectives, from the records of a process."""
    sends = process.of("send", "posted_send")
    receives = process.of("receive", "also_received")
    expected = Counter[int]()
    for record in process.records:
        if record.what == "posted_receive":
            expected[record.begin] += 1
        elif record.what == "completed" and expected[record.begin] > 0:
            expected[record.begin] -= 1
            receives.append(record)
    collectives = [one for one in process.of("collective") if one.function not in {"MPI_Comm_split", "MPI_Comm_free"}]
    return [
        *(len(sends), len(receives), sum(one.bytes for one in sends), sum(one.bytes for one in receives)),
        len(collectives),
    ]


@each_interface
def test_lull_trace_info_says_what_an_independent_tool_counts(mpi: MpiLibrary, built: Path, lull: Lull) -> None:
    tool = program(mpi, "mpi/mpi_count.c", built, "-shared", "-fPIC", name="libcount.so")
    traffic = program(mpi, "mpi/mpi_traffic.c", built, *linked_with(tool), name="traffic_counted")
    counting = replace(lull, env={**ENVIRONMENT, "MPI_COUNT": str(lull.folder / "count")})
    done = counting.run("trace", "--out", "run", "--", *mpi.start(4, traffic, "40"))
    assert done.returncode == 0, done.stderr
    said = json.loads(lull.run("archive", "info", "run", "--format", "json").stdout)
    counts = [
        dict(zip(COUNTED, map(int, (lull.folder / f"count.{rank}").read_text().split()), strict=True))
        for rank in range(4)
    ]
    assert [{name: one[name] for name in COUNTED[:4]} for one in said["processes"]] == [
        {name: one[name] for name in COUNTED[:4]} for one in counts
    ]
    assert said["messages"] == sum(one["sent_messages"] for one in counts)
    assert said["message_bytes"] == sum(one["sent_bytes"] for one in counts)


# In the order in which mpi_count.c prints them.
COUNTED = ("sent_messages", "received_messages", "sent_bytes", "received_bytes", "collectives")


@each_library
def test_the_shell_and_the_launcher_leave_no_trace(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    traffic = program(mpi, "mpi/mpi_traffic.c", built)
    environment = preloaded(
        {**os.environ, **ENVIRONMENT},
        tools={"LULL_TRACE": str(tmp_path / "trace")},
    )
    line = " ".join(mpi.start(2, traffic, "3"))
    subprocess.run(["sh", "-c", f"ls > /dev/null; {line}"], env=environment, check=True, cwd=tmp_path)
    assert len(list((tmp_path / "trace" / "raw").glob("*.definitions"))) == 2


@each_library
def test_a_library_that_nobody_wrapped_is_named_and_the_program_runs(
    mpi: MpiLibrary, built: Path, tmp_path: Path
) -> None:
    traffic = program(mpi, "mpi/mpi_traffic.c", built)
    front = installed.package_folder().parents[2] / "liblull-mpi.so"
    alone = tmp_path / "lib" / "liblull-mpi.so"
    alone.parent.mkdir()
    shutil.copy(front, alone)
    environment = {
        **os.environ,
        **ENVIRONMENT,
        **{"LD_PRELOAD": str(alone), "LULL_TRACE": str(tmp_path / "trace")},
    }
    done = subprocess.run(mpi.start(2, traffic, "3"), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: attach to the program's MPI:")
    assert f"liblull-mpi-{mpi.flavour}.so" in line


@each_library
@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_finds_the_names_that_its_library_has(
    mpi: MpiLibrary, built: Path, tmp_path: Path, binding: str
) -> None:
    names = program(mpi, "mpi/mpi_names.c", built, f"-Wl,-z,{binding}", "-ldl", name=f"names_{binding}")
    plainly = mpi.run(1, names, mpi.soname)
    assert plainly.returncode == 0
    for tools in ({}, {"LULL_TRACE": str(tmp_path / "trace")}):
        done = mpi.run(1, names, mpi.soname, tools=tools)
        assert (done.returncode, done.stdout, done.stderr) == (0, plainly.stdout, "")


@each_library
def test_before_a_library_is_loaded_there_are_no_names(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    part = program(mpi, "mpi/mpi_late_part.c", built, "-shared", "-fPIC", name="libpart.so")
    before = tmp_path / "before"
    subprocess.run(["cc", "-o", before, PROGRAMS / "mpi/mpi_before.c", "-ldl"], check=True)
    plainly = mpi.run(2, before, part, mpi.soname)
    assert plainly.returncode == 0, plainly.stderr
    done = mpi.run(2, before, part, mpi.soname, tools={"LULL_TRACE": str(tmp_path / "trace")})
    assert (done.returncode, sorted(done.stdout.split()), done.stderr) == (0, sorted(plainly.stdout.split()), "")
    assert [len(process.calls("MPI_Allreduce")) for process in read_raw(tmp_path / "trace")] == [1, 1]


@each_interface
def test_calls_by_addresses_are_recorded_as_those_by_names(mpi: MpiLibrary, built: Path, tmp_path: Path) -> None:
    by_address = program(mpi, "mpi/mpi_by_address.c", built, "-ldl")
    done = mpi.run(2, by_address, mpi.soname, tools={"LULL_TRACE": str(tmp_path / "trace")})
    assert (done.returncode, done.stderr) == (0, "")
    for process in read_raw(tmp_path / "trace"):
        assert len(process.calls("MPI_Send")) == len(process.calls("MPI_Recv")) == 10


@each_interface
def test_calls_by_addresses_see_the_same_world_when_ranks_are_set_aside(mpi: MpiLibrary, built: Path) -> None:
    by_address = program(mpi, "mpi/mpi_by_address.c", built, "-ldl")
    done = mpi.run(3, by_address, mpi.soname, tools={"LULL_STAGE": "dedicated-cores=1"})
    assert sorted(done.stdout.splitlines()) == [
        "rank 0 of 2, by address 2, heard of 1",
        "rank 1 of 2, by address 2, heard of 0",
    ], done.stderr


@each_interface
def test_a_rank_that_ends_long_after_those_set_aside_is_left_alone(mpi: MpiLibrary, built: Path) -> None:
    slow = program(mpi, "mpi/mpi_misfortune.c", built)
    done = mpi.run(3, slow, "slow", tools={"LULL_STAGE": "dedicated-cores=1"})
    assert (done.returncode, done.stdout) == (0, "sum 1\n"), done.stderr


@each_interface
def test_a_job_of_which_one_rank_is_without_lull_ends_with_a_line_when_ranks_are_to_be_set_aside(
    mpi: MpiLibrary, built: Path, tmp_path: Path
) -> None:
    by_address = program(mpi, "mpi/mpi_by_address.c", built, "-ldl")
    printed = tmp_path / "printed"
    words = mpi.start(2, *printing_to(printed), *second_without("LD_PRELOAD"), by_address, mpi.soname)
    tools = {"LULL_STAGE": "dedicated-cores=1", "LULL_NODE_TIMEOUT_S": "1"}
    environment = preloaded({**os.environ, **ENVIRONMENT}, tools=tools)
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode != 0, done.stderr
    [line] = [line for line in printed.read_text().splitlines() if line.startswith("lull:")]
    assert line.endswith("start every rank under Lull, or none")


def test_a_python_that_asks_which_library_there_is_gets_an_answer(tmp_path: Path) -> None:
    mpi = LIBRARIES[0]
    if mpi.missing:
        pytest.skip(mpi.missing)
    script = tmp_path / "asks.py"
    script.write_text(
        "import ctypes\n"
        "has = [hasattr(ctypes.CDLL(None), name) for name in ('MPI_Get_version', 'PMPI_Init', 'opal_progress')]\n"
        f"lib = ctypes.CDLL({mpi.soname!r})\n"
        "has += [hasattr(lib, name) for name in ('MPI_Get_version', 'ompi_mpi_comm_self', 'MPI_Abi_get_version')]\n"
        "lib.MPI_Init(None, None)\n"
        "lib.MPI_Finalize()\n"
        "print(*map(int, has))\n"
    )
    done = mpi.run(1, sys.executable, script, tools={"LULL_TRACE": str(tmp_path / "trace")})
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 0 1 1 0\n", "")
    [process] = read_raw(tmp_path / "trace")
    assert [record.function for record in process.records] == ["MPI_Init", "MPI_Finalize"]


@pytest.mark.skipif(bool(LIBRARIES[0].missing), reason=LIBRARIES[0].missing)
@pytest.mark.parametrize("sanitizer", ["address", "thread"])
def test_a_program_with_a_sanitizer_is_recorded(built: Path, tmp_path: Path, sanitizer: str) -> None:
    mpi = LIBRARIES[0]
    traffic = program(mpi, "mpi/mpi_traffic.c", built, f"-fsanitize={sanitizer}", name=f"traffic_{sanitizer}")
    options = {"ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "exitcode=0"}  # of what is Open MPI's own
    options |= {"PMIX_MCA_gds": "hash"}  # a sanitizer takes the addresses of PMIx 5's shared memory
    processes = traced(mpi, tmp_path, 2, traffic, "3", env=options)
    assert all(process.calls("MPI_Finalize") for process in processes)


STUB = """
int MPI_Init(int* c, char*** v) { return 0; }
int MPI_Comm_size(int comm, int* size) { *size = 1; return 0; }
int MPI_Finalize(void) { return 0; }
"""
USER_OF_STUB = """
#include <stdio.h>
int MPI_Init(int*, char***);
int MPI_Comm_size(int, int*);
int MPI_Finalize(void);
int main(int argc, char** argv) {
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(0, &size);
  MPI_Finalize();
  return 2 + size;
}
"""


@pytest.mark.parametrize("tool", ["LULL_TRACE", "LULL_WAIT", "LULL_STAGE"])
def test_a_stub_of_mpi_gets_its_calls(tmp_path: Path, tool: str) -> None:
    (tmp_path / "stub.c").write_text(STUB)
    (tmp_path / "user.c").write_text(USER_OF_STUB)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libstub.so", tmp_path / "stub.c"], check=True)
    subprocess.run(["cc", "-o", tmp_path / "user", tmp_path / "user.c", tmp_path / "libstub.so"], check=True)
    value = {"LULL_TRACE": str(tmp_path / "trace"), "LULL_WAIT": "adaptive", "LULL_STAGE": "dedicated-cores=1"}[tool]
    environment = preloaded(dict(os.environ), tools={tool: value})
    done = subprocess.run([tmp_path / "user"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert line.startswith(
        f"lull: attach to the program's MPI: {tmp_path / 'libstub.so'}; it is a stub without the PMPI_ functions"
    )


def test_an_mpi_library_of_another_kind_gets_its_calls(tmp_path: Path) -> None:
    library = tmp_path / "libmpi_abi.so.2"
    second_name = 'int PMPI_Init(int*, char***) __attribute__((alias("MPI_Init")));\n'
    (tmp_path / "other.c").write_text(STUB + second_name)
    (tmp_path / "user.c").write_text(USER_OF_STUB)
    subprocess.run(
        ["cc", "-shared", "-fPIC", f"-Wl,-soname,{library.name}", "-o", library, tmp_path / "other.c"], check=True
    )
    subprocess.run(["cc", "-o", tmp_path / "user", tmp_path / "user.c", library, f"-Wl,-rpath,{tmp_path}"], check=True)
    environment = preloaded(dict(os.environ), tools={"LULL_TRACE": str(tmp_path / "trace")})
    done = subprocess.run([tmp_path / "user"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert line.startswith(f"lull: attach to the program's MPI: {library}; it is neither Open MPI")


@pytest.mark.skipif(bool(LIBRARIES[1].missing), reason=LIBRARIES[1].missing)
def test_a_vendor_may_insert_a_word_in_the_name_of_mpich(tmp_path: Path) -> None:
    mpi = LIBRARIES[1]
    program = mpi.compiled("mpi/mpi_results.c", tmp_path)
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    [path] = re.findall(r"libmpich\.so\.12 => (\S+)", said)
    name = b"libmpi_x.so.12"
    (tmp_path / name.decode()).write_bytes(Path(path).read_bytes().replace(b"libmpich.so.12\0", name + b"\0"))
    program.write_bytes(program.read_bytes().replace(b"libmpich.so.12\0", name + b"\0"))
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    plain = mpi.run(2, program, "20", env=env)
    waits = mpi.run(2, program, "20", env=env, tools={"LULL_WAIT": "interrupt", "LULL_STATS": "1"})
    assert plain.returncode == waits.returncode == 0, plain.stderr + waits.stderr
    assert sorted(plain.stdout.splitlines()) == sorted(waits.stdout.splitlines())
    assert "lull: waiting of 2 ranks" in waits.stderr


@pytest.mark.skipif(bool(LIBRARIES[0].missing), reason=LIBRARIES[0].missing)
def test_a_function_that_this_library_lacks_is_missing_as_without(tmp_path: Path) -> None:
    (tmp_path / "part.c").write_text("int MPI_Send_c(void);\nint part(void) { return MPI_Send_c(); }\n")
    (tmp_path / "program.c").write_text(
        "#include <mpi.h>\nint part(void);\n"
        "int main(int argc, char** argv) {\n  MPI_Init(&argc, &argv);\n  return part();\n}\n"
    )
    part = tmp_path / "libpart.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", part, tmp_path / "part.c"], check=True)
    words = ["mpicc.openmpi", "-o", "program", "program.c", "-Wl,--allow-shlib-undefined", str(part)]
    subprocess.run(words, check=True, cwd=tmp_path)
    done = LIBRARIES[0].run(1, tmp_path / "program", tools={"LULL_TRACE": str(tmp_path / "trace")})
    assert done.returncode == 127
    assert "undefined symbol: MPI_Send_c" in done.stderr


def test_a_function_of_mpi_that_is_needed_where_there_is_no_mpi_ends_the_program_with_the_loaders_code(
    tmp_path: Path,
) -> None:
    (tmp_path / "part.c").write_text("int MPI_Init(void*, void*);\nint part(void) { return MPI_Init(0, 0); }\n")
    (tmp_path / "program.c").write_text("int part(void);\nint main(void) { return part(); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-z,lazy", "-o", "libpart.so", "part.c"], check=True, cwd=tmp_path)
    words = ["cc", "-o", "program", "program.c", "-Wl,--allow-shlib-undefined", str(tmp_path / "libpart.so")]
    subprocess.run(words, check=True, cwd=tmp_path)
    environment = preloaded(dict(os.environ), tools={"LULL_TRACE": str(tmp_path / "trace")})
    plainly = subprocess.run([tmp_path / "program"], capture_output=True, check=False)
    done = subprocess.run([tmp_path / "program"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == plainly.returncode == 127
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: find the program's MPI library: none is loaded")


@pytest.mark.skipif(bool(LIBRARIES[0].missing), reason=LIBRARIES[0].missing)
def test_a_library_that_is_called_unseen_is_named(tmp_path: Path) -> None:
    (tmp_path / "program.c").write_text(CALLS_UNSEEN)
    subprocess.run(["mpicc.openmpi", "-o", tmp_path / "program", tmp_path / "program.c", "-ldl"], check=True)
    done = LIBRARIES[0].run(2, tmp_path / "program", tools={"LULL_WAIT": "interrupt", "LULL_STATS": "1"})
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "lull: attach to the program's MPI: the program has called its MPI library by addresses, not by names; "
        "none of its calls were recorded"
    ]


# Looks up a name in the symbol table of a library, like tools with their own loader.
CALLS_UNSEEN = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <string.h>
static void* in_table(struct link_map* of, const char* name) {
  const ElfW(Sym)* symbols = 0;
  const char* names = 0;
  for (const ElfW(Dyn)* d = of->l_ld; d->d_tag; ++d) {
    if (d->d_tag == DT_SYMTAB) symbols = (const void*)d->d_un.d_ptr;
    if (d->d_tag == DT_STRTAB) names = (const void*)d->d_un.d_ptr;
  }
  for (const ElfW(Sym)* s = symbols; (const char*)s < names; ++s)
    if (s->st_value && !strcmp(names + s->st_name, name)) return (void*)(of->l_addr + s->st_value);
  return 0;
}
int main(int argc, char** argv) {
  struct link_map* of = dlopen("libmpi.so.40", RTLD_NOW);
  ((int (*)(int*, char***))in_table(of, "MPI_Init"))(&argc, &argv);
  return ((int (*)(void))in_table(of, "MPI_Finalize"))();
}
"""


WITH_SESSIONS = [one for one in (*OF_PYPI, *ABI) if one.name.startswith("mpich")]  # in others they fail without Lull


@pytest.mark.parametrize("mpi", WITH_SESSIONS, ids=lambda one: one.name)
@pytest.mark.parametrize("tool", ["LULL_TRACE", "LULL_WAIT", "LULL_STAGE"])
def test_a_program_with_sessions_alone_runs_as_without(mpi: MpiLibrary, built: Path, tmp_path: Path, tool: str) -> None:
    if mpi.missing:
        pytest.skip(mpi.missing)
    sessions = program(mpi, "mpi/mpi_sessions.c", built)
    value = {"LULL_TRACE": str(tmp_path / "trace"), "LULL_WAIT": "adaptive", "LULL_STAGE": "time-partitioning"}[tool]
    count = 1 if mpi.name.startswith("mpich-5") else 2  # its second session fails now and then, without Lull, too
    done = mpi.run(2, sessions, str(count), tools={tool: value})
    expected = [f"session {number}: rank {rank} of 2" for number in range(count) for rank in range(2)]
    assert (done.returncode, sorted(done.stdout.splitlines()), done.stderr) == (0, expected, "")
