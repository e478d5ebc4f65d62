"""Virtual hosts: what a program sees there, and that nothing of them remains."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import wait_until
from lull.base.errors import LullError, UsageError
from lull.hosts.virtual import INTERFACE, Host, Link, virtual_hosts


def permitted() -> bool:
    try:
        with virtual_hosts(2):
            return True
    except LullError:
        return False


needs_namespaces = pytest.mark.skipif(not permitted(), reason="namespaces of one's own are not permitted here")
REACHES = "import socket,sys; socket.create_connection((sys.argv[1], 7007), 2).close()"


def on(host: Host, *words: str) -> str:
    return subprocess.run(host.command(words), capture_output=True, text=True, check=True).stdout


@needs_namespaces
@pytest.mark.parametrize("count", [2, 3])
def test_each_host_has_a_name_an_interface_and_reaches_the_others(count: int) -> None:
    with virtual_hosts(count) as hosts:
        names = [on(host, "hostname").strip() for host in hosts]
        assert names == [host.name for host in hosts]
        assert len(set(names)) == count
        assert on(hosts[0], "ls", "/sys/class/net").split() == ["lo", INTERFACE]
        serve = hosts[0].command([sys.executable, "-m", "http.server", "7007"])
        reach = hosts[-1].command([sys.executable, "-c", REACHES, hosts[0].address])
        with subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
            assert wait_until(lambda: subprocess.run(reach, capture_output=True, check=False).returncode == 0)
            server.terminate()


@needs_namespaces
def test_a_program_keeps_the_folder_it_was_called_from(tmp_path: Path) -> None:
    with virtual_hosts(1) as hosts:
        told = subprocess.run(hosts[0].command(["pwd"]), capture_output=True, text=True, check=True, cwd=tmp_path)
    assert told.stdout.strip() == str(tmp_path)


@needs_namespaces
def test_a_link_has_the_rate_asked_for() -> None:
    with virtual_hosts(2, Link("50mbit", "32kb")) as hosts:
        for host in hosts:
            assert "rate 50Mbit burst 32" in on(host, "tc", "qdisc", "show", "dev", INTERFACE)


@needs_namespaces
def test_programs_left_on_a_host_are_killed() -> None:
    with virtual_hosts(2) as hosts:
        left = subprocess.Popen(hosts[1].command(["sleep", "100"]))
        with pytest.raises(subprocess.TimeoutExpired):
            left.wait(0.3)
    assert left.wait(TIMEOUT_S) == -signal.SIGKILL


@needs_namespaces
def test_hosts_end_with_the_process_that_made_them() -> None:
    program = (
        "from lull.hosts.virtual import *; import time\n"
        "with virtual_hosts(2) as h: print(h[0].anchor, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        anchor = int(owner.stdout.readline())
        assert Path(f"/proc/{anchor}").exists()
        owner.kill()
    assert wait_until(lambda: not Path(f"/proc/{anchor}/ns/net").exists())


@needs_namespaces
def test_a_rate_that_is_none_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match="rate"), virtual_hosts(2, Link("fast")):
        pass


def test_a_count_out_of_range_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(UsageError, match="1 to"), virtual_hosts(0):
        pass
