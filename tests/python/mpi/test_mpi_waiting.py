"""MPI programs that wait by a policy compute the same results, sleep while they wait, and end as usual."""

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, processes_with, wait_until
from lull.mpi.waiting import policies, waiting_by
from mpi_libraries import ENVIRONMENT, HAS_OPEN_MPI_5, second_without
from own_segments import shared_segments
from places import PROGRAMS

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
MPIRUN, MPICC = (shutil.which(name) or "" for name in ("mpirun.openmpi", "mpicc.openmpi"))
TCP = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "lo"}

pytestmark = [pytest.mark.in_turn(2), pytest.mark.skipif(not MPIRUN or not MPICC, reason="needs Open MPI")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mpi")
    for name in ("mpi_results", "mpi_waits"):
        source = PROGRAMS / "mpi" / f"{name}.c"
        subprocess.run([MPICC, "-O1", "-pthread", "-o", folder / name, source], check=True)
    return folder


@pytest.fixture
def job(lull: Lull) -> Iterator[Lull]:
    lull.env = {"TMPDIR": str(lull.folder), **AS_ROOT}
    before = shared_segments()
    yield lull
    assert gone(str(lull.folder)), "processes remain"
    assert wait_until(lambda: shared_segments() <= before), "shared segments remain"


def mpirun(ranks: int, *command: object) -> list[str]:
    return [MPIRUN, "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *map(str, command)]


def attached(job: Lull, policy: str | None, words: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    """The result of the command under `lull wait`, or without Lull."""
    return subprocess.run(
        words if policy is None else job.argv("wait", policy, "--", *words),
        cwd=job.folder,
        env={**job.environment(), **env},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def run(job: Lull, policy: str | None, ranks: int, *command: object, **env: str) -> subprocess.CompletedProcess[str]:
    """The result of so many ranks of the command under `lull wait`, or without Lull."""
    return attached(job, policy, mpirun(ranks, *command), **env)


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.replace("\0", "").splitlines())  # PRRTE, now and then, sends one more byte, a zero


@pytest.mark.parametrize("ranks", [2, 3, 4, 8])
def test_results_statuses_and_errors_are_those_of_the_library(job: Lull, programs: Path, ranks: int) -> None:
    expected = lines(run(job, None, ranks, programs / "mpi_results"))
    assert len(expected) == ranks
    for policy in ("poll", "interrupt", "adaptive"):
        done = run(job, policy, ranks, programs / "mpi_results")
        assert lines(done) == expected, policy
        assert not done.stderr, policy


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_over_tcp_too(job: Lull, programs: Path, policy: str, ranks: int) -> None:
    expected = lines(run(job, None, ranks, programs / "mpi_results", "60", **TCP))
    assert lines(run(job, policy, ranks, programs / "mpi_results", "60", **TCP)) == expected


def test_ways_of_waiting_may_take_turns(job: Lull, programs: Path) -> None:
    expected = lines(run(job, None, 3, programs / "mpi_results"))

    def both_have_turns(epoch_ms: int) -> bool:
        record = job.folder / f"epochs of {epoch_ms} ms"
        record.mkdir()
        environment = {"LULL_MPI_COMPARE": str(epoch_ms), "LULL_RECORD": str(record)}
        assert lines(run(job, "adaptive", 3, programs / "mpi_results", **environment)) == expected
        found = [json.loads(path.read_text()) for path in record.glob("comparison-*.json")]
        assert sorted(of["rank"] for of in found) == [0, 1, 2]
        assert all(of["missed"] == 0 for of in found), found
        return all(of[way]["epochs"] > 0 for of in found for way in ("with", "without"))

    # An epoch counts only if a call begins in the next one too: on a busy machine this needs longer epochs.
    assert any(both_have_turns(epoch_ms) for epoch_ms in (5, 20, 80, 320))


def rows_of(folder: Path) -> list[dict[str, object]]:
    """The statistics of all ranks; each node of the job has a file."""
    paths = list(folder.glob("waiting-*.json"))
    assert paths
    return [row for path in paths for row in json.loads(path.read_text())["rows"]]


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_no_wake_up_is_missed_and_all_is_counted(job: Lull, programs: Path, policy: str, ranks: int) -> None:
    done = run(job, policy, ranks, programs / "mpi_results", "300", LULL_STATS="pe", LULL_RECORD=str(job.folder))
    rows = rows_of(job.folder)
    assert sum(int(str(row["missed"])) for row in rows) == 0
    assert sum(int(str(row["sleeps"])) for row in rows) > 0
    assert {"MPI_Recv", "MPI_Allreduce", "MPI_Waitall"} <= {str(row["operation"]) for row in rows}
    assert all("+0x" in str(row["site"]) for row in rows)
    assert f"lull: waiting of {ranks} ranks on " in done.stderr
    assert len(re.findall(r"^rank \d+: ", done.stderr, re.MULTILINE)) == ranks


@pytest.mark.parametrize("policy", ["poll", "adaptive"])
def test_where_a_program_asks_again_and_again_is_in_the_statistics(job: Lull, policy: str) -> None:
    source = PROGRAMS / "mpi/mpi_asks.c"
    subprocess.run([MPICC, "-O1", "-o", job.folder / "asks", source], check=True)
    done = run(job, policy, 2, "./asks", "20000", LULL_STATS="1", LULL_RECORD=str(job.folder))
    tests, probes = map(int, done.stdout.split())
    asking = [row for row in rows_of(job.folder) if str(row["operation"]) in {"MPI_Test", "MPI_Iprobe"}]
    assert all("asks+0x" in str(row["site"]) and row["waits"] == 0 for row in asking)
    for operation, times in (("MPI_Test", tests), ("MPI_Iprobe", probes)):
        of_it = [row for row in asking if row["operation"] == operation]
        assert sum(int(str(row["count"])) for row in of_it) == times
        assert sum(float(str(row["waited_s"])) for row in of_it) > 0
    assert re.search(r"^MPI_Iprobe +asks\+0x", done.stderr, re.MULTILINE)
    head = "lull: the program polls in loops of its own, to which no policy applies:"
    place = r"  MPI_Iprobe in asks\+0x[0-9a-f]+: 20000 calls, [0-9.]+ s, [0-9]+ % of the ranks' CPU time"
    assert re.search(f"^{head}$.*^{place}$", done.stderr, re.MULTILINE | re.DOTALL)


def test_what_it_cost_is_in_the_record_of_a_measurement(job: Lull, programs: Path) -> None:
    command = ["lull", "wait", "adaptive", "--stats", "--", *mpirun(2, programs / "mpi_results")]
    command[:1] = job.argv()
    done = job.run("measure", "--runs", "1", "--warmup", "0", "--out", "rec", "--", *command)
    assert done.returncode == 0, done.stderr
    assert "waiting with policy adaptive took" in done.stderr + done.stdout
    [repeat] = json.loads((job.folder / "rec" / "run.json").read_text())["repeats"]
    [of_node] = repeat["waiting"]
    assert (of_node["policy"], of_node["pes"]) == ("adaptive", 2)
    assert any(row["operation"] == "MPI_Barrier" and row["site"] for row in of_node["rows"])


@pytest.mark.parametrize("how", [{}, TCP], ids=["shared memory", "tcp"])
@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_who_waits_long_sleeps(job: Lull, programs: Path, policy: str, how: dict[str, str]) -> None:
    said = lines(run(job, policy, 2, programs / "mpi_waits", "long", 2, **how))
    cpu_s = [float(line.rpartition(" ")[2]) for line in said]
    assert max(cpu_s) < 1, "half of what looking again and again would take"


def test_who_waits_long_for_a_window_to_be_made_sleeps(job: Lull, programs: Path) -> None:
    said = lines(run(job, "interrupt", 2, programs / "mpi_waits", "window", 2, **ENVIRONMENT))
    cpu_s = [float(line.rpartition(" ")[2]) for line in said]
    assert max(cpu_s) < 1, "half of what looking again and again would take"


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
@pytest.mark.parametrize("ranks", [1, 2])
def test_threads_wake_each_other(job: Lull, programs: Path, policy: str, ranks: int) -> None:
    count = 400
    said = lines(run(job, policy, ranks, programs / "mpi_waits", "threads", count))
    level = 1
    assert said == [f"rank {rank}: {5 * count * (count - 1) // 2} at level {level}" for rank in range(ranks)]


def waiting_ranks(job: Lull, programs: Path, policy: str, how: str, **env: str) -> subprocess.Popen[str]:
    """A job whose ranks sleep, except the last."""
    started = subprocess.Popen(
        job.argv("wait", policy, "--", *mpirun(3, programs / "mpi_waits", how)),
        cwd=job.folder,
        env={**job.environment(), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert wait_until(lambda: len(list(job.folder.glob("waits.*"))) == 3)
    return started


@pytest.mark.parametrize(("how", "code"), [("abort", 5), ("exit", 7), ("fall", 137)])
def test_a_job_ends_as_without_lull(job: Lull, programs: Path, how: str, code: int) -> None:
    started = waiting_ranks(job, programs, "adaptive", how)
    _, said = started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == code, said
    assert "lull:" not in said


@pytest.mark.parametrize("policy", ["interrupt", "adaptive"])
def test_a_signal_ends_a_job_that_sleeps(job: Lull, programs: Path, policy: str) -> None:
    started = waiting_ranks(job, programs, policy, "ever")
    os.kill(started.pid, signal.SIGINT)
    started.communicate(timeout=TIMEOUT_S)
    assert started.returncode != 0


def test_a_killed_sleeper_ends_the_job(job: Lull, programs: Path) -> None:
    started = waiting_ranks(job, programs, "adaptive", "ever")
    sleeper = processes_with(str(job.folder), name="mpi_waits")[0]
    assert wait_until(lambda: Path(f"/proc/{sleeper}/stat").read_text().rpartition(")")[2].split()[0] == "S")
    os.kill(sleeper, signal.SIGKILL)
    started.communicate(timeout=TIMEOUT_S)
    assert started.returncode == 137


def test_a_rank_without_lull_is_no_danger(job: Lull, programs: Path) -> None:
    environment = waiting_by("adaptive", {**job.environment(), **AS_ROOT})
    done = subprocess.run(
        mpirun(2, *second_without("LULL_WAIT"), programs / "mpi_waits", "long", "1"),
        cwd=job.folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2


@pytest.mark.skipif(HAS_OPEN_MPI_5, reason="Open MPI 5 tells of messages in any pml")
def test_where_nothing_tells_of_messages_the_library_waits_and_a_line_says_so(job: Lull, programs: Path) -> None:
    done = run(job, "adaptive", 2, programs / "mpi_waits", "long", "0.1", OMPI_MCA_pml_monitoring_enable="1")
    assert len(lines(done)) == 2
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: wait by LULL_WAIT=adaptive: ")
    assert line.endswith("use pml ob1; the program continues with the library's own waiting")


def test_without_shared_memory_the_library_waits_and_a_line_says_so(job: Lull, programs: Path) -> None:
    words = job.argv("wait", "interrupt", "--stats", "--", *mpirun(2, programs / "mpi_waits", "long", "0.1"))
    full = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64K tmpfs /dev/shm && "$@"', "sh"]
    done = subprocess.run(
        [*full, *words],
        cwd=job.folder,
        env={**job.environment(), "OMPI_MCA_btl_vader_backing_directory": str(job.folder)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert len(lines(done)) == 2
    assert done.stderr.splitlines() == [
        "lull: wait by LULL_WAIT=interrupt: shared memory for wake-ups: No space left on device; "
        "the program continues with the library's own waiting"
    ]


def test_a_policy_that_is_none_is_refused(lull: Lull) -> None:
    done = lull.run("wait", "sleepy", "--", "true")
    assert done.returncode == 125
    assert all(policy in done.stderr for policy in policies())


def test_a_command_that_is_not_there_has_the_code_of_a_shell(lull: Lull) -> None:
    done = lull.run("wait", "adaptive", "--", "no-such-command")
    assert done.returncode == 127


def test_the_command_takes_the_place_of_lull(lull: Lull) -> None:
    done = lull.cold.run("wait", "interrupt", "--", "sh", "-c", "echo $LULL_WAIT $LULL_STATS; exit 9")
    assert done.returncode == 9
    assert done.stdout.split() == ["interrupt"]


@pytest.mark.parametrize("words", [["poll", "--stats", "--"], ["--stats", "poll", "--"], ["--stats", "poll"]])
def test_options_precede_or_follow_the_policy(lull: Lull, words: list[str]) -> None:
    done = lull.cold.run("wait", *words, "sh", "-c", "echo $LULL_WAIT $LULL_STATS $1", "sh", "--stats")
    assert done.stdout == "poll 1 --stats\n"
