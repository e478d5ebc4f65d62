"""What a job says about its waiting, and that it leaves no core slower than it found it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE_S, Lull, compiled, kill_all, processes_with, wait_until

FIXTURES = Path(__file__).parents[1] / "fixtures" / "make_sysfs_fixtures.py"
PROGRAM = ["histogram", "--updates", "20000", "--min-time"]
two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="with PEs sharing a core nothing is lowered")


def tree(folder: Path, name: str) -> Path:
    """A copy of /sys with the cpufreq files of a machine."""
    subprocess.run([sys.executable, str(FIXTURES), str(folder), name], check=True, stdout=subprocess.DEVNULL)
    return folder / name


def frequencies(root: Path) -> list[str]:
    """What is set on each core."""
    files = sorted(root.glob("sys/devices/system/cpu/cpu*/cpufreq/scaling_setspeed"))
    return [file.read_text().split("\n")[0] for file in files]


def test_statistics_are_one_table_for_the_job(lull: Lull) -> None:
    lull.env = {"LULL_STATS": "pe"}
    done = lull.run("run", "-n", "2", "--nodes", "2", *PROGRAM, "0.2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("lull: waiting of 2 PEs on 2 nodes") == 1
    [row] = [line for line in done.stderr.splitlines() if line.startswith("barrier ")]
    assert int(row.split()[3]) > 0, "waits"
    assert re.search(r"energy of 1 host as a whole: .*J \((measured|vendor_model|derived|estimated)\)", done.stderr)
    assert [line.split(":")[0] for line in done.stderr.splitlines() if line.startswith("PE ")] == ["PE 0", "PE 1"]


def energies_of(lull: Lull, moves: dict[Path, str], root: Path) -> str:
    """What the table says of energy after a PE during which files of the machine `root` changed."""
    program = compiled("moving_counters.c", lull.folder)
    lull.sources = ""
    lull.env |= {"LULL_STATS": "1", "LULL_SYSROOT": str(root)}
    done = lull.run("run", "-n", "1", str(program), *(str(word) for move in moves.items() for word in move))
    assert done.returncode == 0, done.stderr
    return next(line for line in done.stderr.splitlines() if line.startswith("energy"))


def test_energy_that_two_sources_count_is_counted_once(lull: Lull) -> None:
    root = tree(lull.folder, "cray_ex")
    moves: dict[Path, str] = {}
    for name, joules in {"energy": 4_709_000_100, "cpu_energy": 376_000_060, "memory_energy": 388_000_010}.items():
        file = root / "sys/cray/pm_counters" / name
        stamp = int(file.read_text().split()[2])
        moves[file] = f"{joules} J {stamp + 1_000_000} us"
    for zone, name in {"intel-rapl:0": "package-0", "intel-rapl:0:0": "dram"}.items():
        folder = root / "sys/class/powercap" / zone
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "energy_uj").write_text(f"{5_000_000:020d}\n")
        (folder / "max_energy_range_uj").write_text("262143328850\n")
        moves[folder / "energy_uj"] = f"{5_100_000:020d}"
    said = energies_of(lull, moves, root)
    assert "node 100 J (measured), package 60 J (measured), dram 10 J (measured)" in said
    of_node, beside = said.split("; in no total: ")
    assert "nic" not in of_node and "wire" not in of_node
    assert re.fullmatch(r"nic \S+ J \(estimated\), wire 0 J \(derived\)", beside)


def test_a_pe_starts_no_program_for_its_meter(lull: Lull) -> None:
    asked = lull.folder / "asked"
    lull.env = {"LULL_IPMI_COMMAND": f"touch {asked}; echo no", "LULL_SNMP_COMMAND": f"touch {asked}; echo 400"}
    assert "estimated" in energies_of(lull, {}, tree(lull.folder, "vm_nothing"))
    assert not asked.exists()


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
    assert done.returncode == 0 and "going on without" not in done.stderr
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
    running.communicate(timeout=PATIENCE_S)
    assert wait_until(lambda: frequencies(root) == ["2600000", "2600000"])


def test_missing_permission_is_said_once_and_the_job_goes_on(lull: Lull) -> None:
    lull.env = {"LULL_WAIT": "poll+dvfs", "LULL_SYSROOT": str(lull.folder)}
    done = lull.run("run", "-n", "2", *PROGRAM, "0.1")
    assert done.returncode == 0
    assert done.stderr.count("lull: lower the frequency while waiting: ") == 1
    assert "going on without" in done.stderr
