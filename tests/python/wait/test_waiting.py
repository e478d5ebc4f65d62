"""What a job reports about its waiting, and that it leaves no core slower than before."""

import ctypes
import os
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, kill_all, processes_with, wait_until
from lull import record
from lull.base.installed import applications
from places import TESTS

FIXTURES = TESTS / "fixtures" / "make_sysfs_fixtures.py"
HISTOGRAM = str(applications()["histogram"])
PROGRAM = ["histogram", "--updates", "20000", "--min-time"]
IN_OPEN = 0x20  # of <sys/inotify.h>
two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="with PEs sharing a core nothing is lowered")


def tree(folder: Path, name: str) -> Path:
    """A copy of /sys with the cpufreq files of a machine."""
    subprocess.run([sys.executable, str(FIXTURES), str(folder), name], check=True, stdout=subprocess.DEVNULL)
    return folder / name


def frequencies(root: Path) -> list[str]:
    """The current setting of each core."""
    files = sorted(root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_setspeed"))
    return [file.read_text().split("\n")[0] for file in files]


def test_statistics_are_one_table_for_the_job(lull: Lull) -> None:
    lull.env = {"LULL_STATS": "pe"}
    done = lull.run("run", "-n", "2", "--nodes", "2", *PROGRAM, "0.2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("lull: waiting of 2 PEs on 2 nodes") == 1
    [row] = [line for line in done.stderr.splitlines() if line.startswith("barrier ")]
    assert int(row.split()[3]) > 0, "waits"
    assert [line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("PE ")] == ["PE 0", "PE 1"]


@contextmanager
def opened_files(folder: Path) -> Iterator[set[str]]:
    """The names of files below `folder` that any process opens in the block; filled in at the end."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    names: set[str] = set()
    try:
        for below in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            assert libc.inotify_add_watch(watch, bytes(below), IN_OPEN) >= 0, os.strerror(ctypes.get_errno())
        yield names
        with suppress(BlockingIOError):
            while events := os.read(watch, 65536):
                while events:
                    length = struct.unpack_from("iIII", events)[3]
                    names.add(events[16 : 16 + length].rstrip(b"\0").decode())
                    events = events[16 + length :]
    finally:
        os.close(watch)


def test_a_pe_reads_no_energy_source(lull: Lull) -> None:
    root = tree(lull.folder, "intel_2s_server")
    asked = lull.folder / "asked"
    lull.sources = ""
    lull.env = {"LULL_STATS": "1", "LULL_SYSROOT": str(root), "LULL_IPMI_COMMAND": f"touch {asked}; echo no"}
    with opened_files(root) as by_pes:
        done = lull.run("run", "-n", "2", *PROGRAM, "0.1")
    assert done.returncode == 0, done.stderr
    assert "lull: waiting of 2 PEs" in done.stderr
    assert " J " not in done.stderr and "energy" not in done.stderr
    assert not asked.exists() and "energy_uj" not in by_pes
    with opened_files(root) as by_the_meter:
        assert lull.run("sources", "--sysroot", str(root)).returncode == 0
    assert asked.exists() and "energy_uj" in by_the_meter


def test_under_measure_the_table_is_in_the_record_and_in_the_report(lull: Lull) -> None:
    lull.env = {"LULL_STATS": "1", "LULL_WAIT": "poll"}
    done = lull.run("measure", "--out", "r", "--", "lull", "run", "-n", "2", "--nodes", "2", *PROGRAM, "0.2")
    assert done.returncode == 0, done.stderr
    assert re.search(
        r"lull: waiting with policy poll took .* % of the CPU time of 2 PEs and .*J \(estimated\)", done.stderr
    )
    [repeat] = record.read(lull.folder / "r").repeats
    [job] = repeat.waiting
    assert (job.policy, job.pes, job.nodes) == ("poll", 2, 2)
    assert 0 < job.wall_s <= repeat.wall_s
    [printed] = [line.split() for line in done.stderr.splitlines() if line.startswith("all ")]
    assert sum(row.count for row in job.rows) == int(printed[1])
    assert sum(row.waits for row in job.rows) == int(printed[3])
    assert lull.run("report", "r", "--to", "r.html").returncode == 0
    assert "<h2>Cost of waiting</h2>" in (lull.folder / "r.html").read_text()


def test_ranks_that_are_measured_one_by_one_leave_one_table(lull: Lull) -> None:
    lull.env = {"LULL_STATS": "1"}
    done = lull.run("run", "-n", "2", "lull", "measure", "--out", "r", "--", HISTOGRAM, *PROGRAM[1:], "0.1")
    assert done.returncode == 0, done.stderr
    assert "lull: waiting with policy interrupt took" in done.stderr
    [job] = record.read(lull.folder / "r").repeats[0].waiting
    assert job.pes == 2


def test_without_being_asked_the_record_holds_no_table(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "--", "lull", "run", "-n", "2", *PROGRAM, "0.1")
    assert done.returncode == 0 and "waiting" not in done.stderr
    assert record.read(lull.folder / "r").repeats[0].waiting == []


def test_every_operation_is_counted_with_its_bytes(lull: Lull) -> None:
    lull.env = {"LULL_STATS": "1"}
    done = lull.run("run", "-n", "2", "histogram", "--updates", "1000", "--mode", "direct")
    assert done.returncode == 0, done.stderr
    [row] = [line.split() for line in done.stderr.splitlines() if line.startswith("atomic ")]
    assert row[1:3] == ["8", "B"]
    assert int(row[3]) >= 2 * 1000
    assert int(row[4]) == 8 * int(row[3])


def test_without_being_asked_nothing_is_printed(lull: Lull) -> None:
    done = lull.run("run", "-n", "2", *PROGRAM, "0.1")
    assert done.returncode == 0 and "waiting" not in done.stderr


@two_cores
def test_the_frequency_is_lowered_and_restored(lull: Lull) -> None:
    root = tree(lull.folder, "cpufreq_userspace")
    lull.env = {"LULL_WAIT": "interrupt+dvfs", "LULL_SYSROOT": str(root), "LULL_STATS": "1"}
    done = lull.run("run", "-n", "2", *PROGRAM, "0.3")
    assert done.returncode == 0 and "continuing without" not in done.stderr
    changes = re.search(r"frequency: (\d+) changes of [0-9.]+ us", done.stderr)
    assert changes and int(changes.group(1)) > 0, done.stderr
    assert frequencies(root) == ["2600000", "2600000"]


@two_cores
def test_no_core_stays_slow_after_kill_9_of_a_pe(lull: Lull) -> None:
    root = tree(lull.folder, "cpufreq_userspace")
    lull.env = {"LULL_WAIT": "interrupt+dvfs", "LULL_SYSROOT": str(root)}
    running = lull.start("run", "-n", "2", *PROGRAM, "600")
    assert wait_until(lambda: "800000" in frequencies(root), every_s=0.001), "nobody waited"
    kill_all(processes_with(str(lull.folder), name="histogram"))
    running.communicate(timeout=TIMEOUT_S)
    assert wait_until(lambda: frequencies(root) == ["2600000", "2600000"])


def test_missing_permission_is_said_once_and_the_job_goes_on(lull: Lull) -> None:
    lull.env = {"LULL_WAIT": "poll+dvfs", "LULL_SYSROOT": str(lull.folder)}
    done = lull.run("run", "-n", "2", *PROGRAM, "0.1")
    assert done.returncode == 0
    assert done.stderr.count("lull: lower the frequency while waiting: ") == 1
    assert "continuing without" in done.stderr
