"""Virtual hosts for several jobs, and what the meter reads at their switch."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from conftest import Lull
from lull.base.errors import LullError
from lull.hosts.virtual import Link, as_environment, hosts_there, virtual_hosts

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LULL = [sys.executable, "-m", "lull"]
HISTOGRAM = ["histogram", "--updates", "20000", "--table", "1000", "--min-time", "0.4"]


def obstacle() -> str:
    """The reason why jobs cannot run on such hosts here; empty if they can."""
    if shutil.which("mpirun") is None:
        return "needs mpirun"
    try:
        with virtual_hosts(2, Link("1gbit"), switch=True):
            return ""
    except LullError as error:
        return str(error)


pytestmark = pytest.mark.skipif(bool(found := obstacle()), reason=found)


@pytest.fixture(autouse=True)
def as_root(lull: Lull) -> None:
    lull.env = {**lull.env, **AS_ROOT}


def test_a_job_is_measured_with_what_it_sends_over_the_links(lull: Lull) -> None:
    job = [*LULL, "measure", "--out", "r", "--", *LULL, "run", "--hosts", "3", "-n", "4", *HISTOGRAM]
    done = lull.run("hosts", "-n", "3", "--rate", "1gbit", "--", *job)
    assert done.returncode == 0, done.stderr
    assert "PEs ran on" not in done.stderr
    content = json.loads((lull.folder / "r" / "run.json").read_text())
    [repeat] = content["repeats"]
    assert "updates" in {region["name"] for region in repeat["regions"]}
    assert len(content["hosts"]) == 1
    wires = [one for one in repeat["energy"] if one["domain"] == "wire"]
    assert [one["channel"] for one in wires] == ["net:host0", "net:host1", "net:host2"]
    assert all(one["bytes"] > 0 for one in wires)


def test_several_jobs_use_the_same_hosts_and_fewer_of_them(lull: Lull) -> None:
    first = " ".join([*LULL, "run", "--hosts", "2", "-n", "2", "hostname"])
    both = f"{first} && {first.replace('--hosts 2', '--hosts 1')} && echo $LULL_WIRE_INTERFACES"
    done = lull.run("hosts", "-n", "2", "--", "sh", "-c", both)
    assert done.returncode == 0, done.stderr
    *names, wires = done.stdout.split()
    assert sorted(names[:2]) == ["host0", "host1"] and names[2:] == ["host0", "host0"]
    assert [wire.partition("=")[2] for wire in wires.split(",")] == ["host0", "host1"]


def test_wires_the_user_names_stay_and_those_of_outer_hosts_do_not(lull: Lull) -> None:
    say = ["sh", "-c", "echo $LULL_WIRE_INTERFACES; echo $LULL_HOSTS"]
    inner = lull.run("hosts", "-n", "2", "--", *LULL, "hosts", "-n", "3", "--", *say)
    wires, hosts = inner.stdout.splitlines()
    assert len(wires.split(",")) == len(json.loads(hosts)) == 3
    lull.env = {**lull.env, "LULL_WIRE_INTERFACES": "lo"}
    assert lull.run("hosts", "-n", "2", "--", *say).stdout.splitlines()[0] == "lo"


def test_the_exit_code_is_the_commands_and_nothing_remains(lull: Lull) -> None:
    done = lull.run("hosts", "-n", "2", "--", "sh", "-c", "echo $LULL_HOSTS; exit 7")
    assert done.returncode == 7
    for host in json.loads(done.stdout):
        assert not Path(f"/proc/{host['anchor']}/ns/net").exists()
    assert lull.run("hosts", "-n", "2", "--", "not-there").returncode == 127


def test_more_hosts_than_there_are_and_a_rate_of_their_own_are_refused(lull: Lull) -> None:
    for options, says in (
        (["--hosts", "3"], "there are 2"),
        (["--hosts", "2", "--rate", "1gbit"], "have a rate already"),
    ):
        done = lull.run("hosts", "-n", "2", "--", *LULL, "run", *options, "-n", "4", "hostname")
        assert done.returncode == 125
        [line] = done.stderr.splitlines()
        assert says in line


def test_hosts_that_have_gone_are_noticed(lull: Lull, monkeypatch: pytest.MonkeyPatch) -> None:
    with virtual_hosts(1) as made:
        for name, value in as_environment(made).items():
            monkeypatch.setenv(name, value)
        assert hosts_there() == made
    with pytest.raises(LullError, match="host0 has gone"):
        hosts_there()
    monkeypatch.setenv("LULL_HOSTS", "[1]")
    with pytest.raises(LullError, match="does not describe hosts"):
        hosts_there()
    lull.env = {**lull.env, "LULL_HOSTS": os.environ["LULL_HOSTS"]}
    assert lull.run("run", "--hosts", "1", "-n", "1", "true").returncode == 125
