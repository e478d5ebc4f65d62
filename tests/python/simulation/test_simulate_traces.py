"""Traces on the network simulator: archives of recorded processes and of real programs, and what is rejected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import lull as library
from conftest import Lull, compiled
from lull import _core
from lull.base.errors import LullError, UsageError
from lull.mpi.preload import preloaded
from lull.simulation.account import read_simulation
from lull.simulation.result import Result
from lull.trace.convert import convert
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library
from trace_records import CALL, FUNCTIONS, RECEIVE, RECEIVES, SECOND, SEND, SENDS, Process, leave, ring

pytestmark = pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")

NETWORK = {"topology": {"name": "fat-tree", "radix": 8}}  # 128 nodes


def traced(folder: Path, processes: list[Process]) -> Path:
    """An archive of the processes' records."""
    convert(leave(folder, processes), keep_raw=False)
    return folder


def replayed(**job: object) -> Result:
    return simulated([job])


def simulated(jobs: list[dict[str, object]]) -> Result:
    result = library.simulate({**NETWORK, "jobs": jobs}).result
    assert result is not None
    return result


def test_a_trace_is_replayed_with_as_many_processes_as_it_has(tmp_path: Path) -> None:
    result = replayed(trace=str(traced(tmp_path / "t", ring(4))), barrier="dissemination")
    (job,) = result.jobs
    assert (job.processes, job.remarks) == (4, ())
    assert job.messages == 4 * 50 * (1 + 2), "a message of each process, and two of its barrier, each round"
    assert result.description["jobs"][0]["pattern"] == "trace"
    assert result.description["jobs"][0]["processes"] == 4
    # Rank 0 computes for nine tenths of each round, and the others wait for it, as in the trace.
    assert job.run_time_s == pytest.approx(46 / 52, rel=0.02)
    assert job.time is not None
    shares = job.time.computing_s / job.run_time_s, job.time.waiting_s / job.run_time_s
    assert sum(shares) == pytest.approx(1, rel=0.05)


def test_computing_can_be_scaled_and_iterations_be_repeated(tmp_path: Path) -> None:
    trace = str(traced(tmp_path / "t", ring(3, rounds=5)))
    one = replayed(trace=trace).jobs[0]
    half = replayed(trace=trace, compute_scale=0.5, repeats=2).jobs[0]
    assert half.run_time_s == pytest.approx(one.run_time_s, rel=0.01)
    assert (len(half.iteration_ends_s), half.messages) == (2, 2 * one.messages)


def test_a_relative_path_begins_at_the_file_that_names_it(lull: Lull) -> None:
    traced(lull.folder / "inner" / "t", ring(2))
    (lull.folder / "inner" / "net.toml").write_text(
        '[topology]\nname = "fat-tree"\nradix = 4\n[[jobs]]\nname = "ring"\ntrace = "t/traces.otf2"\n'
    )
    done = lull.run("simulate", "inner/net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    file = read_simulation(lull.folder / "out")
    assert file.description["jobs"][0]["trace"] == str(lull.folder / "inner" / "t" / "traces.otf2")
    again = lull.run("simulate", "out/simulation.json", "--out", "again")
    assert again.returncode == 0, again.stderr
    assert read_simulation(lull.folder / "again").repeats[0].simulated_s == file.repeats[0].simulated_s


def test_a_sweep_finds_traces_beside_its_own_file(lull: Lull) -> None:
    for name, rounds in (("a", 2), ("b", 4)):
        traced(lull.folder / "inner" / name, ring(2, rounds=rounds))
    (lull.folder / "inner" / "sweep.toml").write_text(
        '[base]\ntopology = { name = "fat-tree", radix = 4 }\njobs = [{ trace = "a" }]\n'
        '[matrix]\n"jobs.0.trace" = ["a", "b"]\n'
    )
    done = lull.run("simulate", "--sweep", "inner/sweep.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    found = [json.loads(path.read_text()) for path in sorted((lull.folder / "out").rglob("simulation.json"))]
    assert {Path(one["description"]["jobs"][0]["trace"]).name for one in found} == {"a", "b"}


def test_what_is_not_replayed_is_on_the_screen_and_in_the_record(lull: Lull) -> None:
    processes = [Process(rank, 2) for rank in range(2)]
    for process in processes:
        process.did(CALL, FUNCTIONS.index("MPI_Comm_spawn"), 1000, 2000)
        process.did(CALL, FUNCTIONS.index("MPI_Barrier"), 3000, 4000)
    traced(lull.folder / "t", processes)
    (lull.folder / "net.toml").write_text(
        '[topology]\nname = "fat-tree"\nradix = 4\n[[jobs]]\nname = "j"\ntrace = "t"\n'
    )
    done = lull.run("simulate", "net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    line = "not replayed: MPI_Comm_spawn, 2 times (its time is left out)"
    assert f"note: j: {line}" in done.stdout
    remarks = read_simulation(lull.folder / "out").repeats[0].jobs[0].remarks
    assert list(remarks) == ["not replayed: MPI_Barrier, 2 times (its time is left out)", line]


def test_a_program_on_more_processes_than_were_traced(tmp_path: Path) -> None:
    smaller, larger = (str(traced(tmp_path / str(size), ring(size, rounds=5))) for size in (4, 8))
    job = replayed(trace=larger, trace_smaller=smaller, processes=32, barrier="dissemination").jobs[0]
    assert job.processes == 32
    assert job.messages == 32 * 5 * (1 + 5)
    assert job.remarks[-1] == "more processes than were traced: a grid of 32 extrapolates those of 4 and 8"
    # Rank 0 computed longest in the traces; the mean of all ranks is less, and falls with their number.
    assert 0.4 < job.run_time_s / replayed(trace=larger).jobs[0].run_time_s < 0.8


def test_mistakes_are_one_line_each(tmp_path: Path) -> None:
    trace = str(traced(tmp_path / "t", ring(4, rounds=2)))
    other = str(traced(tmp_path / "o", ring(2, rounds=3)))
    with pytest.raises(
        UsageError, match=r"jobs\.0\.processes is 2, but the trace has 4; a trace cannot be replayed by"
    ):
        replayed(trace=trace, processes=2)
    with pytest.raises(
        UsageError, match=r"jobs\.0\.processes is 8, but the trace has 4; for more processes, set trace_smaller"
    ):
        replayed(trace=trace, processes=8)
    with pytest.raises(UsageError, match=r"jobs\.0\.trace_smaller is set, but the trace has all 4 processes"):
        replayed(trace=trace, trace_smaller=other)
    with pytest.raises(LullError, match=r"with 8 processes: operation \d+ of rank \d+ of the smaller program"):
        replayed(trace=trace, trace_smaller=other, processes=8)
    with pytest.raises(UsageError, match=r"jobs\.0\.trace is missing"):
        replayed(pattern="trace", processes=4)
    with pytest.raises(UsageError, match=r"jobs\.0\.trace does not apply with pattern uniform"):
        replayed(trace=trace, pattern="uniform")
    with pytest.raises(
        LullError, match=r"read the trace .*/none: No such file or directory; name the folder of a trace"
    ):
        replayed(trace=str(tmp_path / "none"))
    with pytest.raises(LullError, match="it has no region 'step'"):
        replayed(trace=trace, trace_iteration="step")


def test_damaged_traces_are_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    events = traced(tmp_path / "events", ring(2, rounds=400))
    victim = max((events / "traces").glob("*.evt"), key=lambda path: path.stat().st_size)
    victim.write_bytes(victim.read_bytes()[: victim.stat().st_size // 2])
    with pytest.raises(LullError, match=r"is complete|never"):
        replayed(trace=str(events))
    text = tmp_path / "text.otf2"
    text.write_text("no archive at all")
    with pytest.raises(LullError, match=r"read .*text\.otf2"):
        replayed(trace=str(text))
    definitions = traced(tmp_path / "definitions", ring(2))
    (definitions / "traces.def").write_bytes(b"")
    with pytest.raises(LullError, match=r"complete|communicates"):
        replayed(trace=str(definitions))
    sender, receiver = Process(0, 2), Process(1, 2)
    sender.did(SEND, SENDS, 5000, 6000, 1, 8, tag=3)
    receiver.did(RECEIVE, RECEIVES, 1000, 2000, 0, 8, tag=4)
    lonely = traced(tmp_path / "lonely", [sender, receiver])
    with pytest.raises(LullError, match="rank 0 sends 1 message to rank 1 with tag 3 that is never received, and 1"):
        replayed(trace=str(lonely))


def test_messages_that_are_received_before_they_are_sent_are_counted(tmp_path: Path) -> None:
    sender, receiver = Process(0, 2), Process(1, 2)
    sender.did(SEND, SENDS, 5000, 6000, 1, 8)
    receiver.did(RECEIVE, RECEIVES, 1000, 2000, 0, 8)
    (job,) = replayed(trace=str(traced(tmp_path / "t", [sender, receiver]))).jobs
    assert job.remarks == (
        "according to the clocks of the trace, 1 message is received before it was sent, by up to 3 us; "
        "in the replay none is",
    )


def test_a_trace_beside_other_jobs(tmp_path: Path) -> None:
    trace = str(traced(tmp_path / "t", ring(8, rounds=3)))
    jobs = [{"name": "ring", "trace": trace, "mapping": "random"}, {"name": "rest", "messages": 5}]
    first, second = simulated(jobs).jobs
    assert (first.processes, second.processes) == (8, 120)


@each_library
def test_a_real_program_is_replayed(lull: Lull, mpi: MpiLibrary) -> None:
    program = mpi.compiled("every_message.c", lull.folder)
    tracing = replace(lull, env=ENVIRONMENT)
    done = tracing.run("trace", "-q", "--out", "t", *mpi.start(4, program, "20"))
    assert done.returncode == 0, done.stderr
    messages = int(done.stdout.split()[0])
    result = replayed(trace=str(lull.folder / "t"), eager="4 MiB", barrier="dissemination")
    (job,) = result.jobs
    assert job.processes == 4
    assert job.remarks == ()
    assert job.messages > messages
    assert job.run_time_s < 60
    asking = replayed(trace=str(lull.folder / "t"), barrier="dissemination").jobs[0]
    assert asking.messages == job.messages + 2 * 4 * 6, "messages of 16 KiB and more ask, and are answered"


def test_an_openshmem_program_is_replayed(lull: Lull) -> None:
    program = compiled("shmem_traffic.c", lull.folder)
    env = preloaded({}, tools={"LULL_TRACE": str(lull.folder / "t")})
    done = replace(lull, env=env).run("run", "-n", "4", str(program))
    assert done.returncode == 0, done.stderr
    convert(lull.folder / "t", keep_raw=False)
    (job,) = replayed(trace=str(lull.folder / "t")).jobs
    assert job.processes == 4
    named = {line.split(",")[0] for line in job.remarks}
    assert named <= {"not replayed: shmem_team_split_strided", "not replayed: shmem_team_destroy"}


def test_the_time_of_the_trace_itself_does_not_matter(tmp_path: Path) -> None:
    late = ring(2, rounds=3)
    for process in late:
        process.end = 2 * SECOND
    early, later = (
        replayed(trace=str(traced(tmp_path / name, one))) for name, one in (("a", ring(2, rounds=3)), ("b", late))
    )
    assert early.simulated_s == later.simulated_s
