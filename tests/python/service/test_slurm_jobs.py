"""Jobs of a real Slurm with the plugin: each has its row, and nothing that the service does can harm a job."""

import json
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from conftest import wait_until
from metered_slurm import MeteredSlurm, metered_slurm, reason_for_none
from node_service import ALICE, BOB, Answer

pytestmark = [
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(bool(reason_for_none()), reason=reason_for_none()),
]

BUSY = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\n"  # some 0.2 s of CPU time
MEASURE = "import sys; sys.argv[0] = 'lull'; from lull.cli import main; main()"


@pytest.fixture(scope="module")
def slurm() -> Iterator[MeteredSlurm]:
    with metered_slurm() as made:
        yield made


def joules(row: Answer) -> float:
    parts = ("active_uj", "held_uj", "overhead_uj")
    return round(sum(one[part] for one in row["energy"].values() for part in parts) / 1e6, 2)


def test_a_job_alone_has_the_energy_of_the_node_and_a_line_in_its_own_output(slurm: MeteredSlurm) -> None:
    job = slurm.submit(BUSY + "reach alone\nawait alone-go\n", "--account=physics")
    slurm.reached("alone")
    slurm.consume(100)
    slurm.let("alone-go")
    [row] = slurm.rows_of(job)
    assert joules(row) == 100
    assert row["energy"]["package"]["kind"] == "vendor-model"
    assert "shared" not in row["flags"]
    assert (row["cluster"], row["uid"], row["project"], row["nodes"]) == ("lull", ALICE, "physics", 1)
    assert row["cpus"] == 1
    assert row["cpu_us"] > 10_000
    assert wait_until(lambda: "lull: job" in slurm.text(job, "err"))
    assert f"lull: job {job} used 100.0 J here" in slurm.text(job, "err")
    assert "vendor-model)" in slurm.text(job, "err")
    assert "lull jobs" not in slurm.text(job, "err")  # nothing collects rows here


def test_the_line_names_lull_jobs_where_the_site_collects_rows(slurm: MeteredSlurm) -> None:
    site = slurm.service.folder / "jobs.toml"
    site.touch()
    job = slurm.submit("true\n")
    slurm.rows_of(job)
    assert wait_until(lambda: f"; all nodes: lull jobs {job}\n" in slurm.text(job, "err"))
    site.unlink()


def test_two_jobs_share_the_node_by_what_they_did_and_nothing_is_lost(slurm: MeteredSlurm) -> None:
    jobs = [
        slurm.submit(f"reach both\nawait both-go\n{busy}reach busy\nawait both-end\n", "--lull=quiet", uid=uid)
        for uid, busy in ((ALICE, BUSY + BUSY + BUSY), (BOB, ""))
    ]
    for uid in (ALICE, BOB):
        slurm.reached("both", uid)
        slurm.let("both-go", uid)
        slurm.reached("busy", uid)
    slurm.consume(60)
    for uid in (ALICE, BOB):
        slurm.let("both-end", uid)
    [alice], [bob] = (slurm.rows_of(job) for job in jobs)
    assert (alice["uid"], bob["uid"]) == (ALICE, BOB)
    assert "shared" in alice["flags"]
    assert "shared" in bob["flags"]
    assert alice["energy"]["package"]["kind"] == bob["energy"]["package"]["kind"] == "derived"
    assert alice["cpu_us"] > bob["cpu_us"]
    assert joules(alice) + joules(bob) <= 60.01
    assert slurm.service.unattributed_uj() == 0
    assert "lull" not in slurm.text(jobs[0], "err")


def test_a_job_between_two_readings_has_all_its_cpu_time(slurm: MeteredSlurm) -> None:
    group = "/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup | sed 's,/step_.*,,')"
    job = slurm.submit(f"sed -n 's/usage_usec //p' {group}/cpu.stat")
    [row] = slurm.rows_of(job)
    assert row["cpu_us"] >= int(slurm.text(job, "out")) > 0
    assert "unsure" not in row["flags"]


def test_a_service_that_is_killed_loses_nothing_of_a_job(slurm: MeteredSlurm) -> None:
    job = slurm.submit("reach killed\nawait killed-go\n")
    slurm.reached("killed")
    slurm.consume(10)
    slurm.service.kill()
    slurm.consume(20)
    slurm.service.start()
    slurm.consume(30)
    slurm.let("killed-go")
    [row] = slurm.rows_of(job)
    assert joules(row) == 60
    assert slurm.service.node()["lost"] == 0
    assert slurm.service.unattributed_uj() == 0


def test_a_job_that_begins_and_ends_without_the_service_has_its_row_afterwards(slurm: MeteredSlurm) -> None:
    slurm.service.kill()
    try:
        job = slurm.submit("reach without\n")
        slurm.reached("without")
        assert wait_until(lambda: slurm.run("squeue", "--noheader").stdout == "")
    finally:
        slurm.service.start()
    [row] = slurm.rows_of(job)
    assert row["uid"] == ALICE
    assert row["end_us"] >= row["begin_us"]


def test_a_job_goes_on_while_the_service_stands_still(slurm: MeteredSlurm) -> None:
    assert slurm.service.process
    slurm.service.process.send_signal(signal.SIGSTOP)
    try:
        job = slurm.submit("srun true; srun true; reach still\n")
        slurm.reached("still")
        assert wait_until(lambda: slurm.run("squeue", "--noheader").stdout == "")
    finally:
        slurm.service.process.send_signal(signal.SIGCONT)
    assert len(slurm.rows_of(job)) == 1


def test_each_task_of_an_array_has_a_row_and_steps_have_none(slurm: MeteredSlurm) -> None:
    first = slurm.submit("srun --overlap true & srun --overlap true & wait; reach array-$SLURM_JOB_ID", "--array=1-2")
    assert wait_until(lambda: len(list(slurm.homes[ALICE].glob("array-*"))) == 2), slurm.cluster.logs()
    jobs = sorted(path.name.removeprefix("array-") for path in slurm.homes[ALICE].glob("array-*"))
    assert first in jobs
    for job in jobs:
        assert len(slurm.rows_of(job)) == 1


def test_a_job_that_is_started_again_has_a_row_for_each_start(slurm: MeteredSlurm) -> None:
    job = slurm.submit("reach again-${SLURM_RESTART_COUNT:-0}\nawait again-go\n", "--requeue")
    slurm.reached("again-0")
    assert slurm.run("scontrol", "requeue", job).returncode == 0
    slurm.rows_of(job)
    slurm.start_again(job)
    slurm.reached("again-1")
    slurm.let("again-go")
    assert [row["restart"] for row in slurm.rows_of(job, 2)] == [0, 1]


def test_output_that_is_not_read_delays_no_job(slurm: MeteredSlurm) -> None:
    pipe = slurm.homes[ALICE] / "full"
    os.mkfifo(pipe)
    os.chown(pipe, ALICE, ALICE)
    full = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        job = slurm.submit("reach full-there\nawait full-go\n", f"--error={pipe}")
        slurm.reached("full-there")
        while True:
            try:
                os.write(full, b"x" * 4096)
            except BlockingIOError:
                break
        slurm.let("full-go")
        slurm.rows_of(job)
        assert wait_until(lambda: slurm.run("squeue", "--noheader").stdout == "")
    finally:
        os.close(full)


def test_an_ordinary_user_measures_joules_of_the_meters_in_a_job(slurm: MeteredSlurm) -> None:
    socket = slurm.service.sockets / "meter"
    command = "sh -c 'touch $HERE/measuring; while [ ! -e $HERE/measured ]; do sleep 0.05; done; sleep 0.3'"
    job = slurm.submit(
        f"export HERE LULL_SERVICE_SOCKET={socket} HOME=$HERE XDG_CONFIG_HOME=$HERE\n"
        f'{sys.executable} -B -c "{MEASURE}" measure --out $HERE/record -- {command}\n'
    )
    slurm.reached("measuring")
    slurm.consume(50)
    slurm.service.next_publication()
    slurm.let("measured")
    slurm.rows_of(job)
    run = json.loads((slurm.homes[ALICE] / "record" / "run.json").read_text())
    energies = [one for one in run["repeats"][0]["energy"] if one["channel"].startswith("served:")]
    assert {one["kind"] for one in energies} == {"vendor-model"}
    # The counters' ticks come on top; the ends cut off what belongs to the time before and after, however long it was.
    assert 0 < sum(one["joules"] for one in energies) <= 51


def test_an_option_that_does_not_exist_is_refused_in_one_line(slurm: MeteredSlurm) -> None:
    refused = slurm.run("srun", "--lull=loud", "true", uid=ALICE)
    assert refused.returncode != 0
    assert "there is only --lull=quiet" in refused.stderr
