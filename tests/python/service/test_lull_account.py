"""lull-account, which prologs and epilogs call: what it sends, and that it never fails a job because of the service."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from lull.base.installed import executable
from node_service import ALICE, NodeService, node_service


@pytest.fixture
def service() -> Iterator[NodeService]:
    with node_service() as made:
        yield made


def call(service: NodeService, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [executable("lull-account"), *words, "--socket", str(service.sockets / "accounts")],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_prolog_and_an_epilog_of_slurm_need_no_options(service: NodeService) -> None:
    service.start()
    slurm = {
        "SLURM_JOB_ID": "7",
        "SLURM_JOB_UID": str(ALICE),
        "SLURM_CLUSTER_NAME": "blue",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_JOB_ACCOUNT": 'a "quoted"\\\tproject',
        "SLURM_JOB_RESTART_COUNT": "1",
    }
    assert json.loads(call(service, "open", **slurm).stdout) == {"v": 1, "ok": True}
    assert json.loads(call(service, "figures", **slurm).stdout)["key"] == "slurm.7"
    assert json.loads(call(service, "close", **slurm).stdout)["uid"] == ALICE
    [row] = service.rows()
    assert (row["cluster"], row["job"], row["restart"], row["nodes"]) == ("blue", "7", 1, 2)
    assert row["project"] == 'a "quoted"\\\tproject'


def test_those_of_flux_add_the_path_of_the_jobs_group(service: NodeService) -> None:
    service.start()
    flux = {"FLUX_JOB_ID": "f2Xs9", "FLUX_JOB_USERID": str(ALICE)}
    service.set_cpu_time("/jobs", 0)
    service.set_cpu_time("/jobs/f2Xs9", 1000)
    options = ("--cgroup=/jobs/f2Xs9", "--cpus=2", "--memory-mib=512", "--project=ocean")
    assert call(service, "open", *options, **flux).returncode == 0
    assert call(service, "used", "--usage-us=5000", **flux).returncode == 0
    answer = json.loads(call(service, "close", **flux).stdout)
    assert (answer["key"], answer["cpu_us"], answer["cpus"]) == ("flux.f2Xs9", 4000, 2)
    [row] = service.rows()
    assert (row["job"], row["project"], row["memory_mib"]) == ("f2Xs9", "ocean", 512)


def test_a_service_that_does_not_run_is_a_line_and_no_failure(service: NodeService) -> None:
    done = call(service, "open", "--job=1", "--uid=1")
    assert done.returncode == 0
    assert "No such file or directory; see systemctl status lull-meterd" in done.stderr


def test_a_service_that_stands_still_gets_the_message_later(service: NodeService) -> None:
    service.start()
    assert service.process
    service.process.send_signal(signal.SIGSTOP)
    done = call(service, "open", "--job=1", f"--uid={ALICE}")
    assert done.returncode == 0
    assert "no answer in 0.2 s" in done.stderr
    service.process.send_signal(signal.SIGCONT)
    assert json.loads(call(service, "close", "--key=slurm.1").stdout)["uid"] == ALICE


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ([], "there is not one of open, used, close, figures"),
        (["begin", "--job=1"], "there is not one of open, used, close, figures"),
        (["open", "--uid=1"], "it has no id; give --job"),
        (["open", "--job=1"], "it has no user; give --uid"),
        (["open", "--job=1", "--uid=alice"], "not a whole number: alice"),
        (["used", "--job=1"], "its CPU time is unknown; give --cgroup or --usage-us"),
        (["open", "--jobs=1"], "unknown option or no value: --jobs=1"),
    ],
)
def test_a_mistake_in_the_call_is_one_line(service: NodeService, words: list[str], found: str) -> None:
    done = call(service, *words)
    assert done.returncode == 2
    assert found in done.stderr
    assert done.stderr.count("\n") == 1
