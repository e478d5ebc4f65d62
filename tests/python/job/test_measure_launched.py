"""`lull measure` under a launcher: one reader per node, one record per job, whichever process dies."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, catches, cpu_s, processes_with, wait_until
from lull import record
from lull.hosts.mpirun import distributed
from lull.job.launchers import JobRank
from lull.job.part import Report, _oversubscribed
from lull.job.siblings import Siblings, siblings_of
from lull.record import Domain, Repeat, Run
from lull.record.merging import ranges
from records import output

MPIRUN = ["mpirun", "--oversubscribe", "-n"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SLEEP = ("sh", "-c", "sleep 0.4")
SHORT = "20"  # seconds that a test waits for a rank that never reports; on a busy machine the others need some to start


def can_emulate_hosts() -> bool:
    done = subprocess.run(["unshare", "--uts", "--net", "true"], capture_output=True, check=False)
    return done.returncode == 0


needs_namespaces = pytest.mark.skipif(not can_emulate_hosts(), reason="namespaces need root")


@pytest.fixture
def job(lull: Lull) -> Lull:
    lull.env.update(AS_ROOT, LULL_NODE_TIMEOUT_S="60")
    return lull


def rank(
    of: Lull, number: int, size: int, *command: str, host: str = "", options: tuple[str, ...] = (), job: str = "7"
) -> subprocess.Popen[str]:
    """A rank as Slurm would start it, on an emulated host if one is named."""
    env = {
        **of.environment(),
        "SLURM_JOB_ID": job,
        "SLURM_STEP_ID": "0",
        "SLURM_PROCID": str(number),
        "SLURM_STEP_NUM_TASKS": str(size),
    }
    argv = of.argv("measure", "--out", "r", *options, "--", *(command or SLEEP))
    if host:
        script = f'hostname {host}; exec "$@"'
        argv = ["unshare", "--uts", "--net", "sh", "-c", script, "sh", *argv]
    return subprocess.Popen(
        argv,
        cwd=of.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(*ranks: subprocess.Popen[str], within_s: float = TIMEOUT_S) -> tuple[list[int], str]:
    """Exit codes, and everything printed on stderr."""
    said = [process.communicate(timeout=within_s)[1] for process in ranks]
    return [process.returncode for process in ranks], "".join(said)


def node_joules(repeat: Repeat) -> dict[str, float]:
    return {total.node: total.joules for total in repeat.totals if total.domain is Domain.NODE}


def recorded(of: Lull, name: str = "r") -> Run:
    return record.read(of.folder / name)


def only_the_record(of: Lull, *others: str) -> bool:
    return {path.name for path in of.folder.iterdir()} == {"r", *others}


def wait_until_running(of: Lull, count: int) -> None:
    """Wait until `count` ranks have left their mark."""
    assert wait_until(lambda: len(list(of.folder.glob("running-*"))) >= count)


def wait_for_the_reader(of: Lull) -> None:
    """Wait until a rank reads the meter; ranks that start later are members."""
    assert wait_until(lambda: list(of.folder.glob(".r.job-*/*.json")))


def marked(seconds: float) -> tuple[str, str, str]:
    return "sh", "-c", f"touch running-$SLURM_PROCID; exec sleep {seconds}"


def marked_until(file: str, then: str = "true") -> tuple[str, str, str]:
    return "sh", "-c", f"touch running-$SLURM_PROCID; until test -e {file}; do sleep 0.02; done; {then}"


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun")
def test_four_ranks_of_mpirun_make_one_record_with_the_energy_of_their_node_once(job: Lull) -> None:
    alone = job.run("measure", "--out", "alone", "--", *MPIRUN, "4", "sleep", "0.5")
    done = subprocess.run(
        [*MPIRUN, "4", *job.argv("measure", "--out", "r", "--", "sh", "-c", "sleep 0.5; echo $PMIX_RANK")],
        cwd=job.folder,
        env=job.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (alone.returncode, done.returncode) == (0, 0), done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "2", "3"]
    run = recorded(job)
    [repeat] = run.repeats
    assert [one.node for one in run.hosts] == [socket.gethostname()]
    assert len(node_joules(repeat)) == 1
    assert [(one.rank, one.exit_code) for one in repeat.ranks] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    assert len({(one.node, one.channel) for one in repeat.energy}) == len(repeat.energy)
    rows = record.read_samples(job.folder / "r").to_pylist()
    for one in repeat.energy:  # the count of one meter, not four times that
        counted = [row["joules"] for row in rows if row["channel"] == one.channel]
        assert one.joules <= max(counted) - min(counted) + 1e-9
    channels = [[channel.name for channel in of.channels] for of in (run, recorded(job, "alone"))]
    assert channels[0] == channels[1]
    assert only_the_record(job, "alone")


def test_ranks_of_lull_run_make_one_record(job: Lull) -> None:
    done = job.run("run", "-n", "4", *job.argv("measure", "--out", "r", "--", "sleep", "0.3"))
    assert done.returncode == 0, done.stderr
    [repeat] = recorded(job).repeats
    shares = distributed(sorted(os.sched_getaffinity(0)), 4)
    assert [one.cpus for one in repeat.ranks] == [ranges(sorted(share)).replace(" ", "") for share in shares]
    assert len(repeat.ranks) == 4
    assert done.stderr.count("record in") == 1


@pytest.mark.parametrize(
    ("bound", "threads", "warning"),
    [
        ([[0], [1]], 64, ""),
        ([[0, 1], [0, 1]], 64, ""),
        ([[0], [0]], 1, ""),  # there are no others
        ([[], []], 64, ""),  # the ranks could not be started
        ([[0, 1], [0, 1], [1]], 64, "3 ranks are bound to 2 hardware threads of 64"),
        ([[3], [3]], 64, "2 ranks are bound to 1 hardware thread of 64"),
    ],
)
def test_ranks_that_share_few_of_the_nodes_processors_are_told(
    bound: list[list[int]], threads: int, warning: str
) -> None:
    reports = [
        Report(rank=rank, started=datetime.now(UTC), exit_code=0, ending=None, cpus=cpus)
        for rank, cpus in enumerate(bound)
    ]
    found = _oversubscribed(reports, threads)
    assert found.startswith(warning) if warning else found == ""


def test_ranks_begin_together_however_late_one_comes(job: Lull) -> None:
    first = rank(job, 0, 2, "true")
    wait_for_the_reader(job)
    time.sleep(1)  # which no rank may count: longer than the rest takes, unless the machine is busy
    begin = time.monotonic()
    codes, said = end(first, rank(job, 1, 2, "true"))
    took_s = time.monotonic() - begin
    assert codes == [0, 0], said
    ranks = recorded(job).repeats[0].ranks
    assert [one.exit_code for one in ranks] == [0, 0]
    assert all(one.begin_s is not None and one.begin_s < took_s for one in ranks)


def test_a_rank_that_fails_ends_at_once_so_that_its_launcher_hears_of_it(job: Lull) -> None:
    long = rank(job, 1, 2, *marked(30))
    wait_for_the_reader(job)
    failing = rank(job, 0, 2, "sh", "-c", "exit 7")
    codes, _ = end(failing)
    assert codes == [7]
    long.send_signal(signal.SIGTERM)
    codes, said = end(long)
    assert codes == [143]
    [repeat] = recorded(job).repeats
    assert repeat.exit_code == 7, said
    assert [one.exit_code for one in repeat.ranks] == [7, 143]


def test_a_reader_that_fails_hands_over_and_ends_at_once(job: Lull) -> None:
    failing = rank(job, 0, 2, *marked_until("running-1", "exit 7"))
    wait_for_the_reader(job)
    other = rank(job, 1, 2, *marked_until("over"))
    codes, _ = end(failing)
    assert codes == [7]
    (job.folder / "over").touch()
    codes, said = end(other)
    assert codes == [0], said
    [repeat] = recorded(job).repeats
    assert [one.exit_code for one in repeat.ranks] == [7, 0]
    assert all(total.lower_bound for total in repeat.totals)
    assert "began after its ranks" in said


def test_when_all_ranks_are_stopped_there_is_no_record_and_nothing_is_left(job: Lull) -> None:
    ranks = [rank(job, number, 2, *marked(30)) for number in range(2)]
    wait_until_running(job, 2)
    for process in ranks:
        process.send_signal(signal.SIGTERM)
    codes, _ = end(*ranks)
    assert codes == [143, 143]
    assert {path.name for path in job.folder.iterdir()} == {"running-0", "running-1"}


def test_ranks_that_are_stopped_before_all_have_come_leave_nothing(job: Lull) -> None:
    job.env["LULL_NODE_TIMEOUT_S"] = "60"
    ranks = [rank(job, number, 3, *marked(30)) for number in range(2)]
    wait_for_the_reader(job)
    assert wait_until(lambda: all(catches(process.pid, signal.SIGTERM) for process in ranks))
    for process in ranks:
        process.send_signal(signal.SIGTERM)
    codes, _ = end(*ranks, within_s=TIMEOUT_S)
    assert codes == [143, 143]
    assert list(job.folder.iterdir()) == []


def test_a_reader_whose_members_have_ended_sleeps(job: Lull) -> None:
    long = rank(job, 0, 2, *marked_until("over"))
    wait_for_the_reader(job)
    failing = rank(job, 1, 2, "false")
    codes, _ = end(failing)
    before = cpu_s(long.pid)
    time.sleep(1)
    assert cpu_s(long.pid) - before < 0.2
    (job.folder / "over").touch()
    codes, said = end(long)
    assert codes == [0], said
    assert [one.exit_code for one in recorded(job).repeats[0].ranks] == [0, 1]


@pytest.mark.parametrize("victim", ["reader", "member"])
def test_a_wrapper_that_is_killed_is_named_and_the_others_are_recorded(job: Lull, victim: str) -> None:
    first = rank(job, 0, 3, *marked_until("over"))
    wait_for_the_reader(job)
    others = [rank(job, number, 3, *marked_until("over")) for number in (1, 2)]
    wait_until_running(job, 3)
    killed, left = (first, others) if victim == "reader" else (others[0], [first, others[1]])
    killed.send_signal(signal.SIGKILL)
    (job.folder / "over").touch()
    codes, said = end(*left)
    end(killed)
    number = 0 if victim == "reader" else 1
    assert f"rank {number} on {socket.gethostname()} ended without a report" in said
    assert sorted(codes) == [0, 125]
    [repeat] = recorded(job).repeats
    assert repeat.exit_code == 1
    assert [one.exit_code for one in repeat.ranks] == [None if one == number else 0 for one in range(3)]
    assert all(total.lower_bound == (victim == "reader") for total in repeat.totals if total.domain is Domain.NODE)
    assert only_the_record(job, "over", "running-0", "running-1", "running-2")


def test_a_reader_that_is_killed_after_its_members_have_ended_is_replaced(job: Lull) -> None:
    first = rank(job, 0, 3, *marked_until("over"))
    wait_for_the_reader(job)
    others = [rank(job, number, 3, *marked_until("running-0")) for number in (1, 2)]
    wait_until_running(job, 3)
    children = [Path(f"/proc/{one.pid}/task/{one.pid}/children") for one in others]
    assert wait_until(lambda: not any(path.read_text() for path in children))
    time.sleep(0.3)  # their reports may arrive before or after
    first.send_signal(signal.SIGKILL)
    (job.folder / "over").touch()
    codes, said = end(*others)
    end(first)
    assert sorted(codes) == [0, 125], said
    assert [one.exit_code for one in recorded(job).repeats[0].ranks] == [None, 0, 0]


def test_a_rank_that_never_starts_is_waited_for_no_longer_than_the_timeout(job: Lull) -> None:
    job.env["LULL_NODE_TIMEOUT_S"] = SHORT
    codes, said = end(rank(job, 0, 3), rank(job, 1, 3))
    assert sorted(codes) == [0, 125]
    assert "nothing arrived from rank 2" in said
    assert recorded(job).repeats[0].ranks[2].exit_code is None


@needs_namespaces
def test_two_hosts_on_one_kernel_are_two_nodes(job: Lull) -> None:
    ranks = [rank(job, number, 4, host="left" if number < 2 else "right") for number in range(4)]
    codes, said = end(*ranks)
    assert codes == [0, 0, 0, 0], said
    run = recorded(job)
    [repeat] = run.repeats
    assert sorted(one.node for one in run.hosts) == ["left", "right"]
    assert sorted(node_joules(repeat)) == ["left", "right"]
    assert [one.node for one in repeat.ranks] == ["left", "left", "right", "right"]
    assert {one.clock_error_s for one in run.hosts} == {0.0}
    samples = record.read_samples(job.folder / "r")
    assert set(samples.column("node").to_pylist()) == {"left", "right"}
    assert said.count("record in") == 1
    assert "on 2 nodes" in said
    assert only_the_record(job)


@needs_namespaces
def test_a_node_whose_part_never_arrives_is_said_and_not_waited_for_for_ever(job: Lull) -> None:
    job.env["LULL_NODE_TIMEOUT_S"] = SHORT
    here = rank(job, 0, 2, *marked(1), host="left")
    there = rank(job, 1, 2, *marked(60), host="right")
    wait_until_running(job, 2)
    there.send_signal(signal.SIGKILL)
    codes, said = end(here)
    end(there)
    assert codes == [125]
    assert "nothing arrived from rank 1" in said
    [repeat] = recorded(job).repeats
    assert list(node_joules(repeat)) == ["left"]
    assert repeat.exit_code == 1


@needs_namespaces
def test_when_the_node_that_should_merge_dies_another_does(job: Lull) -> None:
    job.env["LULL_NODE_TIMEOUT_S"] = SHORT
    first = rank(job, 0, 2, *marked(60), host="left")
    other = rank(job, 1, 2, *marked(1), host="right")
    wait_until_running(job, 2)
    first.send_signal(signal.SIGKILL)
    codes, said = end(other)
    end(first)
    assert codes == [125]
    assert "record in" in said
    assert list(node_joules(recorded(job).repeats[0])) == ["right"]


@needs_namespaces
def test_two_readers_of_one_node_count_its_energy_once(job: Lull) -> None:
    name = socket.gethostname()
    codes, said = end(rank(job, 0, 2, host=name), rank(job, 1, 2, host=name))
    assert codes == [0, 0], said
    [repeat] = recorded(job).repeats
    assert len(node_joules(repeat)) == 1
    assert [energy.channel for energy in repeat.energy] == list(dict.fromkeys(e.channel for e in repeat.energy))
    assert "counted once" in said


def test_several_runs_of_a_rank_are_refused_in_one_line(job: Lull) -> None:
    codes, said = end(rank(job, 0, 2, options=("--runs", "3")))
    assert codes == [125]
    assert len(said.splitlines()) == 1
    assert "--append" in said


@pytest.mark.parametrize("option", [("--idle", "5"), ("--until-ci", "2"), ("--publish",)])
def test_options_that_steer_a_whole_measurement_are_refused_to_a_rank(job: Lull, option: tuple[str, ...]) -> None:
    codes, said = end(rank(job, 0, 2, options=option))
    assert codes == [125]
    assert f"measure {option[0]}" in said


def test_a_rank_without_the_size_of_its_job_is_refused(job: Lull) -> None:
    job.env["PMIX_RANK"] = "0"
    done = job.run("measure", "--out", "r", "true")
    assert done.returncode == 125
    assert "number of ranks" in done.stderr


def test_jobs_of_ranks_can_be_appended(job: Lull) -> None:
    end(rank(job, 0, 2), rank(job, 1, 2))
    for number in ("8", "9"):
        more = []
        for one in range(2):
            env = {"SLURM_JOB_ID": number, "SLURM_STEP_ID": "0", "SLURM_PROCID": str(one), "SLURM_STEP_NUM_TASKS": "2"}
            argv = job.argv("measure", "--append", "r", "--", *SLEEP)
            more.append(
                subprocess.Popen(
                    argv, cwd=job.folder, env={**job.environment(), **env}, stderr=subprocess.PIPE, text=True
                )
            )
        codes, said = end(*more)
        assert codes == [0, 0], said
    assert [repeat.index for repeat in recorded(job).repeats] == [0, 1, 2]
    assert set(record.read_samples(job.folder / "r").column("repeat").to_pylist()) == {0, 1, 2}
    assert only_the_record(job)


def test_other_nodes_of_an_allocation_are_pointed_out_once(job: Lull, tmp_path: Path) -> None:
    job.env.update(SLURM_JOB_ID="7", SLURM_JOB_NUM_NODES="2", SLURM_JOB_END_TIME="4102444800")
    fake = tmp_path / "srun"
    fake.write_text("#!/bin/sh\nexit 0\n")
    fake.chmod(0o755)
    done = job.run("measure", "--runs", "3", "--out", "r", str(fake))
    assert done.returncode == 0
    assert done.stderr.count("the energy of those nodes is missing") == 1


def test_accounts_of_other_hosts_are_left_out_and_said_once(job: Lull) -> None:
    visit = {"name": "u", "begin_ns": 1, "end_ns": 2, "cpu_ns": 1}
    text = json.dumps({"schema": 2, "node": "elsewhere", "pid": 1, "pe": 1, "regions": [visit], "metrics": []})
    script = f"echo '{text}' > $LULL_RECORD/regions-1.json"
    done = job.run("measure", "--runs", "2", "--out", "r", "sh", "-c", script)
    assert done.stderr.count("PEs ran on elsewhere too") == 1
    assert recorded(job).repeats[0].regions == []


def test_what_output_cost_comes_from_the_rank_that_tells_it(job: Lull) -> None:
    cost = output()
    text = json.dumps({"schema": 1, **cost.model_dump(mode="json")})
    told = ("sh", "-c", f"echo '{text}' > $LULL_RECORD/output-n1-7.json")
    codes, said = end(rank(job, 0, 2), rank(job, 1, 2, *told))
    assert codes == [0, 0], said
    assert recorded(job).repeats[0].output == [cost]


def abstract_sockets() -> dict[str, str]:
    """Names of the abstract sockets, by inode."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return {words[6]: words[7] for words in lines if len(words) > 7 and words[7].startswith("@lull-")}


def names_of(job: Lull) -> set[str]:
    """The names of the abstract sockets that processes of the job have open."""
    open_files: set[str] = set()
    for pid in processes_with(str(job.folder)):
        with suppress(OSError):
            open_files |= {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
    return {name for inode, name in abstract_sockets().items() if f"socket:[{inode}]" in open_files}


def test_no_socket_is_left_on_the_node(job: Lull) -> None:
    first = rank(job, 0, 2)
    assert wait_until(lambda: names_of(job))
    mine = names_of(job)
    end(first, rank(job, 1, 2))
    assert not mine & set(abstract_sockets().values())


def test_one_rank_alone_waits_seconds_and_has_the_exit_code_of_its_command(job: Lull) -> None:
    job.env.update(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2", PMIX_NAMESPACE=str(job.folder))
    job.env["LULL_NODE_TIMEOUT_S"] = "3600"
    begin = time.monotonic()
    done = job.run("measure", "--out", "r", "sh", "-c", "exit 0")
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - begin < 600
    assert "rank 0 of 2 ranks alone is measured" in done.stderr
    [repeat] = recorded(job).repeats
    assert (repeat.exit_code, [one.rank for one in repeat.ranks]) == (0, [0])
    shutil.rmtree(job.folder / "r")
    assert job.run("measure", "--out", "r", "sh", "-c", "exit 9").returncode == 9


def test_one_rank_of_several_nodes_does_not_wait_for_ranks_that_run_without_lull(job: Lull) -> None:
    variables = {"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": str(job.folder)}
    job.env.update(variables, LULL_NODE_TIMEOUT_S="3600")
    unmeasured = subprocess.Popen(
        ["sleep", "600"], env={**job.environment(), "OMPI_COMM_WORLD_RANK": "1"}, stdin=subprocess.DEVNULL
    )
    try:
        job.env["OMPI_COMM_WORLD_RANK"] = "0"
        assert job.run("measure", "--out", "r", "true").returncode == 0
    finally:
        unmeasured.kill()
        unmeasured.wait()


def test_ranks_that_are_coming_are_told_from_those_that_are_not_measured(tmp_path: Path) -> None:
    def process(number: int, rank: int, *words: str, job: str = "a") -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        env = {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": 3, "PMIX_NAMESPACE": job}
        (folder / "environ").write_text("".join(f"{name}={value}\0" for name, value in env.items()))
        (folder / "cmdline").write_text("".join(f"{word}\0" for word in words))

    place = JobRank("Open MPI", "a", 0, 3)
    assert siblings_of(place, tmp_path) is Siblings.NONE
    process(1, 0, "lull", "measure", "app")
    process(2, 1, "lull", "measure", "app", job="another")
    assert siblings_of(place, tmp_path) is Siblings.NONE
    process(3, 1, "app")
    assert siblings_of(place, tmp_path) is Siblings.UNMEASURED
    process(4, 2, "python", "/opt/bin/lull", "measure", "app")
    assert siblings_of(place, tmp_path) is Siblings.COMING
