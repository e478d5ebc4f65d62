"""Jobs on two nodes of a real Slurm, each with a service of its own, and what each user sees of them afterwards."""

import shutil
from collections.abc import Iterator

import pytest

from conftest import wait_until
from job_collector import CAROL, DAVE, site, spool_file
from metered_slurm import MeteredSlurm, metered_slurm, reason_for_none
from node_service import ALICE, BOB, Answer

pytestmark = [
    pytest.mark.xdist_group("slurm"),
    pytest.mark.skipif(bool(reason_for_none()), reason=reason_for_none()),
]

BUSY = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\n"


@pytest.fixture(scope="module")
def slurm() -> Iterator[MeteredSlurm]:
    with metered_slurm(2) as made:
        yield made


def joules(row: Answer) -> float:
    parts = ("active_uj", "held_uj", "overhead_uj")
    return round(sum(one[part] for one in row["energy"].values() for part in parts) / 1e6, 2)


def nodes_of(slurm: MeteredSlurm) -> list[str]:
    """Their names in Slurm, in the order of the services."""
    found = slurm.run("sinfo", "--noheader", "--Node", "--format=%N").stdout.split()
    assert len(found) == 2
    return sorted(found)


def test_a_job_alone_on_both_nodes_has_the_energy_of_both(slurm: MeteredSlurm) -> None:
    job = slurm.submit(f"srun sh -c '{BUSY}'\nreach both\nawait both-go\n", "--nodes=2", "--account=physics")
    slurm.reached("both")
    slurm.consume(100, 40)
    slurm.let("both-go")
    first, second = slurm.rows_of(job, 2)
    assert (first["node"], joules(first)) == ("n1", 100)
    assert (second["node"], joules(second)) == ("n2", 40)
    for row in (first, second):
        assert (row["nodes"], row["uid"], row["project"], row["flags"]) == (2, ALICE, "physics", [])
        assert row["energy"]["package"]["kind"] == "vendor-model"
        assert row["cpu_us"] > 10_000


def test_jobs_share_one_node_and_the_other_keeps_its_kind(slurm: MeteredSlurm) -> None:
    first, _ = nodes_of(slurm)
    alice = slurm.submit("reach wide\nawait wide-go\n" + BUSY + "reach wide-busy\nawait wide-end\n", "--nodes=2")
    slurm.reached("wide")
    bob = slurm.submit("reach narrow\nawait narrow-end\n", f"--nodelist={first}", "--account=ocean", uid=BOB)
    slurm.reached("narrow", BOB)
    slurm.let("wide-go")
    slurm.reached("wide-busy")
    slurm.consume(60, 30)
    slurm.let("wide-end")
    here, there = slurm.rows_of(alice, 2)
    slurm.let("narrow-end", BOB)
    [other] = slurm.rows_of(bob)
    assert (here["flags"], other["flags"], there["flags"]) == (["shared"], ["shared"], [])
    assert here["energy"]["package"]["kind"] == other["energy"]["package"]["kind"] == "derived"
    assert there["energy"]["package"]["kind"] == "vendor-model"
    assert joules(there) == 30
    assert joules(here) + joules(other) <= 60.01
    assert here["cpu_us"] > other["cpu_us"]
    assert [service.unattributed_uj() for service in slurm.services] == [0, 0]


def test_a_job_between_two_readings_has_its_cpu_time_on_both_nodes(slurm: MeteredSlurm) -> None:
    readings = [service.node()["readings"] for service in slurm.services]
    job = slurm.submit(f"srun sh -c '{BUSY}'", "--nodes=2")
    rows = slurm.rows_of(job, 2)
    assert [row["cpu_us"] > 10_000 for row in rows] == [True, True]
    assert ["unsure" in row["flags"] for row in rows] == [False, False]
    # Its beginning and end are read; the service's own readings are ten seconds apart.
    assert all(s.node()["readings"] > before for s, before in zip(slurm.services, readings, strict=True))


def test_a_service_of_one_node_that_is_killed_loses_nothing(slurm: MeteredSlurm) -> None:
    job = slurm.submit("reach killed\nawait killed-go\n", "--nodes=2")
    slurm.reached("killed")
    slurm.consume(10, 10)
    slurm.services[1].kill()
    slurm.consume(20, 20)
    slurm.services[1].start()
    slurm.consume(30, 30)
    slurm.let("killed-go")
    assert [joules(row) for row in slurm.rows_of(job, 2)] == [60, 60]
    assert [service.node()["lost"] for service in slurm.services] == [0, 0]


def test_a_job_that_is_started_again_has_a_row_for_each_start_and_node(slurm: MeteredSlurm) -> None:
    job = slurm.submit("reach again-${SLURM_RESTART_COUNT:-0}\nawait again-go\n", "--nodes=2", "--requeue")
    slurm.reached("again-0")
    assert slurm.run("scontrol", "requeue", job).returncode == 0
    slurm.rows_of(job, 2)
    slurm.start_again(job)
    slurm.reached("again-1")
    slurm.let("again-go")
    rows = slurm.rows_of(job, 4)
    assert sorted((row["node"], row["restart"]) for row in rows) == [("n1", 0), ("n1", 1), ("n2", 0), ("n2", 1)]


def test_tasks_of_an_array_have_a_row_where_they_ran_and_steps_have_none(slurm: MeteredSlurm) -> None:
    first, second = nodes_of(slurm)
    jobs = []
    for node in (first, second):
        steps = "srun --overlap true & srun --overlap true & wait; reach task-$SLURM_JOB_ID-$SLURMD_NODENAME"
        slurm.submit(steps, "--array=1-2", f"--nodelist={node}")
    assert wait_until(lambda: len(list(slurm.homes[ALICE].glob("task-*"))) == 4), slurm.cluster.logs()
    for path in slurm.homes[ALICE].glob("task-*"):
        _, job, node = path.name.split("-")
        [row] = slurm.rows_of(job)
        assert row["node"] == {first: "n1", second: "n2"}[node]
        jobs.append(job)
    assert len(set(jobs)) == 4


def test_overlapping_steps_on_both_nodes_are_one_row_for_each(slurm: MeteredSlurm) -> None:
    job = slurm.submit("srun --overlap true & srun --overlap -N1 true & wait; reach steps", "--nodes=2")
    slurm.reached("steps")
    assert wait_until(lambda: slurm.run("squeue", "--noheader").stdout == "")
    assert [row["node"] for row in slurm.rows_of(job, 2)] == ["n1", "n2"]


@pytest.mark.skipif(shutil.which("munged") is None, reason="munged not found; packages/test.txt names the package")
def test_what_each_user_sees_of_jobs_on_two_nodes(slurm: MeteredSlurm) -> None:
    of_alice = slurm.submit("reach seen\nawait seen-go\n", "--nodes=2", "--account=physics")
    slurm.reached("seen")
    slurm.consume(50, 25)
    slurm.let("seen-go")
    slurm.rows_of(of_alice, 2)
    of_bob = slurm.submit("true", "--account=ocean", uid=BOB)
    slurm.rows_of(of_bob)
    rows = [row for row in slurm.rows() if row["job"] in (of_alice, of_bob)]
    with site() as collecting:
        collecting.describe(f"[heads]\nphysics = [{CAROL}]\n")
        collecting.start(listen="")
        spool_file(collecting.spool, 1, rows)
        code, _, errors = collecting.lull(0, "ship", "--spool", collecting.spool, "--collector", collecting.socket)
        assert (code, errors) == (0, "lull: 3 rows stored\n")
        words = ("--collector", str(collecting.socket))
        seen = {uid: collecting.names(uid, *words) for uid in (ALICE, BOB, CAROL, DAVE, 0)}
        assert seen == {ALICE: [of_alice], BOB: [of_bob], CAROL: [of_alice], DAVE: [], 0: sorted([of_alice, of_bob])}
        [job] = collecting.jobs(ALICE, *words)
        assert (job["nodes"], job["rows"], round(job["joules"])) == (2, 2, 75)
        code, _, errors = collecting.lull(BOB, "jobs", of_alice, *words)
        assert (code, "there is none that you may see" in errors) == (1, True)
