"""GOAL: files that `lull simulate` runs, and recorded programs that `lull archive convert` writes as GOAL."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import pytest

import lull as library
from conftest import Lull
from lull import _core
from lull.base.errors import LullError, UsageError
from lull.simulation.account import read_simulation
from lull.simulation.result import JobResult
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library
from trace_records import leave, ring

needs_otf2 = pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")
NETWORK = {"topology": {"name": "fat-tree", "radix": 8}}  # 128 nodes
TEXT = """num_ranks 2
rank 0 {
l1: calc 1000000
l2: send 4096b to 1 tag 3
l2 requires l1
}
rank 1 {
recv 4096b from 0 tag 3
}
"""


def simulated(**job: object) -> JobResult:
    result = library.simulate({**NETWORK, "jobs": [job]}).result
    assert result is not None
    return result.jobs[0]


def binary(ranks: list[list[tuple[int, int, int, int]]]) -> bytes:
    """Ranks as txt2bin writes them: operations (kind, peer, size, tag), each requiring the one before."""
    head = 4 + 2 + 16 * len(ranks)
    jumps, parts = b"", b""
    for operations in ranks:
        last = len(operations) - 1
        part = struct.pack("<III", len(operations), 1, 0)
        for i, (kind, peer, size, tag) in enumerate(operations):
            part += struct.pack("<IBIQIBB", min(i, 1), kind, peer, size, tag, 0, 0)
            part += struct.pack("<IIII", int(i < last), min(i, last), 0, min(i + 1, last))
        part += b"".join(struct.pack("<I", i + 1) for i in range(last))
        begin = head + len(parts)
        jumps += struct.pack("<QQ", begin, begin + len(part))
        parts += part
    return struct.pack("<QIBB", 4223, len(ranks), 0, 0) + jumps + parts


def test_a_text_and_its_binary_form_are_recognised_by_their_content(lull: Lull) -> None:
    (lull.folder / "a.txt").write_text(TEXT)
    (lull.folder / "b").write_bytes(binary([[(3, 0, 1_000_000, 0), (1, 1, 4096, 3)], [(2, 0, 4096, 3)]]))
    found = []
    for name, label in (("a.txt", "a"), ("b", "b")):
        network = ("--set", "topology.name=fat-tree", "--set", "topology.radix=4")
        done = lull.run("simulate", name, *network, "--set", "power.mode=hybrid", "--out", f"out-{label}")
        assert done.returncode == 0, done.stderr
        found.append(read_simulation(lull.folder / f"out-{label}"))
        job = found[-1].description["jobs"][0]
        assert (job["name"], job["pattern"], job["processes"]) == (label, "goal", 2)
        assert job["goal"] == str(lull.folder / name)
    assert found[0].repeats[0].simulated_s == found[1].repeats[0].simulated_s > 1e-3
    again = lull.run("simulate", "out-a/simulation.json", "--out", "again")
    assert again.returncode == 0, again.stderr
    assert read_simulation(lull.folder / "again").repeats[0].simulated_s == found[0].repeats[0].simulated_s


def test_a_job_names_a_file_beside_its_description(lull: Lull) -> None:
    (lull.folder / "inner").mkdir()
    (lull.folder / "inner" / "x.goal").write_text(TEXT)
    (lull.folder / "inner" / "net.toml").write_text(
        '[topology]\nname = "fat-tree"\nradix = 4\n[[jobs]]\ngoal = "x.goal"\ncompute_scale = 2\nrepeats = 3\n'
    )
    done = lull.run("simulate", "inner/net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    (job,) = read_simulation(lull.folder / "out").repeats[0].jobs
    assert job.run_time_s == pytest.approx(3 * 2e-3, rel=0.01)


def test_mistakes_name_the_file_and_its_line(tmp_path: Path, lull: Lull) -> None:
    file = tmp_path / "x.goal"

    def with_line(line: str) -> str:
        file.write_text(TEXT.replace("l2 requires l1", line))
        return str(file)

    with pytest.raises(LullError, match=r"read .*x\.goal:5: the label l9 is not defined so far; write 'l9: OPERATION'"):
        simulated(goal=with_line("l2 requires l9"))
    with pytest.raises(LullError, match=r"x\.goal:5: there is no rank 7; ranks are 0 to 1"):
        simulated(goal=with_line("send 8b to 7"))
    with pytest.raises(LullError, match=r"2 operations of rank 0 wait for each other: .*x\.goal:3, then .*x\.goal:4"):
        simulated(goal=with_line("l2 requires l1\nl1 irequires l2"))
    with pytest.raises(LullError, match=r"rank 1 waits for .*x\.goal:8: recv from rank 0 \(tag 3\), which has ended"):
        file.write_text(TEXT.replace("to 1 tag 3", "to 1 tag 4"))
        simulated(goal=str(file))
    with pytest.raises(UsageError, match=r"jobs\.0\.processes is 4, but the file has 2 ranks; leave it out"):
        simulated(goal=with_line("l2 requires l1"), processes=4)
    with pytest.raises(UsageError, match=r"jobs\.0\.goal is missing; name a GOAL file"):
        simulated(pattern="goal", processes=4)
    with pytest.raises(UsageError, match=r"jobs\.0\.allreduce does not apply with pattern goal"):
        simulated(goal=str(file), allreduce="ring")
    with pytest.raises(LullError, match=r"read .*none\.goal: No such file or directory; name a GOAL file"):
        simulated(goal=str(tmp_path / "none.goal"))
    done = lull.run("simulate", str(file))
    assert done.returncode == 2
    assert "topology is missing; set a preset or a topology" in done.stderr


def as_goal(lull: Lull, archive: str) -> str:
    """The path of the archive's program as GOAL."""
    target = f"{archive}.goal"
    done = lull.run("archive", "convert", archive, "--goal", target)
    assert done.returncode == 0, done.stderr
    assert "GOAL of" in done.stderr
    return str(lull.folder / target)


def same_time(trace: str, goal: str, **job: object) -> None:
    """The trace and its program as GOAL take the same time within 1 %, with as many messages."""
    one, other = simulated(trace=trace, **job), simulated(goal=goal, **job)
    assert other.run_time_s == pytest.approx(one.run_time_s, rel=0.01), job
    assert (other.messages, other.remarks) == (one.messages, ())


@needs_otf2
def test_recordings_become_an_archive_and_goal_by_one_command(lull: Lull) -> None:
    leave(lull.folder / "t", ring(4))
    goal = as_goal(lull, "t")
    assert (lull.folder / "t" / "traces.otf2").is_file()
    for job in ({}, {"per_node": 2}, {"compute_scale": 0}, {"compute_scale": 0, "repeats": 3}):
        same_time(str(lull.folder / "t"), goal, **job)
    text = (lull.folder / "t.goal").read_text()
    taken = lull.run("archive", "convert", "t", "--goal", "t.goal")
    assert taken.returncode != 0
    assert "t.goal exists already; name another file" in taken.stderr
    assert (lull.folder / "t.goal").read_text() == text


@needs_otf2
@each_library
def test_recorded_programs_take_as_long_as_goal(lull: Lull, mpi: MpiLibrary) -> None:
    tracing = replace(lull, env=ENVIRONMENT)
    for source, options in (
        ("mpi/mpi_traffic.c", ()),
        ("mpi/mpi_requests.c", ()),
        ("mpi/mpi_requests.c", ("--folded",)),
    ):
        name = Path(source).stem + "".join(options)
        program = mpi.compiled(source, lull.folder, name=f"program-{name}")
        done = tracing.run("trace", "-q", *options, "--out", name, *mpi.start(4, program, "20"))
        assert done.returncode == 0, done.stderr
        goal = as_goal(lull, name)
        for job in ({}, {"compute_scale": 0}, {"per_node": 2, "compute_scale": 0.1}):
            same_time(str(lull.folder / name), goal, **job)


@needs_otf2
@each_library
def test_one_sided_programs_are_refused_and_nothing_is_written(lull: Lull, mpi: MpiLibrary) -> None:
    program = mpi.compiled("every_message.c", lull.folder)
    done = replace(lull, env=ENVIRONMENT).run("trace", "-q", "--out", "t", *mpi.start(2, program, "2"))
    assert done.returncode == 0, done.stderr
    refused = lull.run("archive", "convert", "t", "--goal", "t.goal")
    assert refused.returncode != 0
    assert "puts, gets or changes data of other processes; GOAL has only messages" in refused.stderr
    assert not list(lull.folder.glob("t.goal*"))


def test_goal_beside_other_jobs(tmp_path: Path) -> None:
    (tmp_path / "x.goal").write_text(TEXT)
    jobs = [{"name": "x", "goal": str(tmp_path / "x.goal"), "mapping": "random"}, {"name": "rest", "messages": 5}]
    result = library.simulate({**NETWORK, "jobs": jobs}).result
    assert result is not None
    assert [job.processes for job in result.jobs] == [2, 126]
    assert json.dumps(result.description["jobs"][0]["goal"]).endswith('x.goal"')
