"""How the PEs of a job find each other: many on one host, and such that do not see each other's processes."""

import subprocess

import pytest

from conftest import Lull, compiled
from places import EXAMPLES

pytestmark = pytest.mark.in_turn(2)

OWN_PIDS = ("unshare", "--pid", "--fork", "--mount-proc")
can_unshare = subprocess.run([*OWN_PIDS, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def ring(lull: Lull) -> Lull:
    compiled(str(EXAMPLES / "ring.c"), lull.folder)
    return lull


def received(printed: str) -> set[str]:
    return set(printed.splitlines())


def test_many_pes_on_one_host_find_each_other(ring: Lull) -> None:
    """The first of them looks up the data of all (src/job/published.hpp)."""
    pes = 64
    expected = {f"PE {pe} of {pes} got {100 + (pe + pes - 1) % pes}" for pe in range(pes)}
    done = ring.run("run", "-n", str(pes), "ring")
    assert (done.returncode, done.stderr) == (0, "")
    assert received(done.stdout) == expected


def test_a_pe_inherits_no_descriptor_of_the_others(lull: Lull) -> None:
    """Those that the launcher opens for PMIx grow with the number of PEs."""
    done = lull.run("run", "-n", "8", "--", "sh", "-c", "ls /proc/self/fd | wc -l")
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {done.stdout.split()[0]}


@pytest.mark.skipif(not can_unshare, reason="may not make PID namespaces")
def test_pes_that_cannot_read_the_table_of_their_host_look_up_the_data(ring: Lull) -> None:
    printed = ring.run("run", "-n", "3", "--nodes", "3", "--", *OWN_PIDS, str(ring.folder / "ring")).stdout
    assert received(printed) == {f"PE {pe} of 3 got {100 + (pe + 2) % 3}" for pe in range(3)}


@pytest.mark.skipif(not can_unshare, reason="may not make PID namespaces")
def test_pes_of_a_node_that_cannot_share_memory_end_with_a_line(ring: Lull) -> None:
    done = ring.run("run", "-n", "2", "--", *OWN_PIDS, str(ring.folder / "ring"))
    assert done.returncode != 0
    assert "map the heap of the PE" in done.stderr
    assert "set LULL_NODES" in done.stderr
