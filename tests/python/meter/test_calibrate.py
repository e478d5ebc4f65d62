"""`lull sources --calibrate`: the line through an idle and a loaded machine, on a tree that changes like a real one."""

import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Counter, Lull, processes_with
from lull import _core
from lull.base.errors import LullError
from lull.meter.calibration import choose_reference
from lull.meter.cpu_time import CpuTime, cpu_time, utilisation
from places import TESTS

WRITER = TESTS / "fixtures" / "make_sysfs_fixtures.py"
IDLE_W, FULL_W = 20.0, 60.0
IDLE_SHARE, FULL_SHARE = 0.1, 0.9


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run([sys.executable, str(WRITER), str(tmp_path / "trees")], check=True, capture_output=True)
    found = tmp_path / "trees" / "range_zero"
    (found / "proc").mkdir(exist_ok=True)
    (found / "proc" / "stat").write_text("cpu 0 0 0 0 0 0 0 0 0 0\n")
    return found


@pytest.fixture
def moving_tree(tree: Path) -> Iterator[Path]:
    """`tree`, whose counters follow the power and the utilisation of this machine: higher while the load runs."""
    counter = Counter(next((tree / "sys" / "class" / "powercap").glob("*/energy_uj")))
    end = threading.Event()

    def move() -> None:
        busy, idle = 0.0, 0.0
        before = time.monotonic()
        while not end.wait(0.03):
            loaded = bool(processes_with("lull.meter.full_load", str(tree.parents[1])))
            passed = time.monotonic() - before
            before += passed
            counter.add(round(passed * 1e6 * (FULL_W if loaded else IDLE_W)))
            share = FULL_SHARE if loaded else IDLE_SHARE
            busy, idle = busy + passed * 1000 * share, idle + passed * 1000 * (1 - share)
            (tree / "proc" / "stat.new").write_text(f"cpu {round(busy)} 0 0 {round(idle)} 0 0 0 0 0 0\n")
            (tree / "proc" / "stat.new").replace(tree / "proc" / "stat")

    mover = threading.Thread(target=move)
    mover.start()
    yield tree
    end.set()
    mover.join()


def test_a_calibration_is_the_line_through_idle_and_full_load(lull: Lull, moving_tree: Path) -> None:
    done = lull.run("sources", "--sysroot", str(moving_tree), "--calibrate", "3", "--to", "site.toml")
    assert done.returncode == 0, done.stderr
    assert "calibrating by powercap (powercap:package-0)" in done.stderr
    assert "that is not idle" in done.stderr
    table = tomllib.loads((lull.folder / "site.toml").read_text())["calibration"]
    slope = (FULL_W - IDLE_W) / (FULL_SHARE - IDLE_SHARE)
    assert table["idle_watts"] == pytest.approx(IDLE_W - slope * IDLE_SHARE, abs=5)
    assert table["full_watts"] == pytest.approx(FULL_W + slope * (1 - FULL_SHARE), abs=8)
    assert table["meter"] == "powercap"
    lull.env["LULL_SITE"] = str(lull.folder / "site.toml")
    lull.env["LULL_METER_SOURCES"] = "estimate"
    assert "estimate:package" in lull.run("sources").stdout  # the estimate reads the file


def test_without_out_the_table_is_printed(lull: Lull, moving_tree: Path) -> None:
    done = lull.run("sources", "--sysroot", str(moving_tree), "--calibrate", "2")
    assert done.returncode == 0, done.stderr
    assert "calibration" in tomllib.loads(done.stdout)


def test_without_any_meter_it_is_refused_and_says_what_was_looked_for(lull: Lull, tree: Path) -> None:
    done = lull.run("sources", "--sysroot", str(tree.parent / "vm_nothing"), "--calibrate", "1")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "shows the power of the node or its processors here" in line
    assert "powercap" in line


def test_a_counter_that_stands_still_makes_no_line(lull: Lull, tree: Path) -> None:
    done = lull.run("sources", "--sysroot", str(tree), "--calibrate", "1", "--to", "s.toml")
    assert done.returncode == 1
    assert "calibrate the estimate: " in done.stderr.splitlines()[-1]
    assert not (lull.folder / "s.toml").exists()


def test_a_site_file_that_is_there_is_not_overwritten(lull: Lull, tree: Path) -> None:
    (lull.folder / "site.toml").write_text("[nic]\nwatts = 3\n")
    done = lull.run("sources", "--sysroot", str(tree), "--calibrate", "1", "--to", "site.toml")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "watts" in (lull.folder / "site.toml").read_text()


@pytest.mark.parametrize("args", [["--calibrate", "1", "--format", "json"], ["--out", "x"], ["--calibrate", "0.1"]])
def test_wrong_usage_exits_2_with_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("sources", *args)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "source", "channels"),
    [
        ("intel_2s_server", "powercap", ("powercap:package-0", "powercap:package-1")),
        ("intel_client_psys_mmio", "powercap", ("powercap:package-0",)),
        ("cray_ex", "pm_counters", ("pm_counters:node",)),
        ("amd_2s", "hwmon", ("hwmon:power_meter",)),
        ("grace", "grace", ("grace:module-0",)),
    ],
)
def test_a_meter_of_the_node_is_preferred_to_one_of_processors(
    tree: Path, name: str, source: str, channels: tuple[str, ...]
) -> None:
    found = choose_reference(_core.sources(str(tree.parent / name)))
    assert (found.source, found.channels) == (source, channels)


def test_the_load_keeps_every_allowed_cpu_busy_and_ends_in_time() -> None:
    before, begin = cpu_time(), time.monotonic()
    subprocess.run([sys.executable, "-m", "lull.meter.full_load", "1.5"], check=True, timeout=TIMEOUT_S)
    assert 1.5 <= time.monotonic() - begin < TIMEOUT_S
    assert utilisation(before, cpu_time()) > 0.4


def test_stolen_time_is_not_busy() -> None:
    assert utilisation(CpuTime(10, 100), CpuTime(60, 200)) == pytest.approx(0.5)
    assert utilisation(CpuTime(10, 100), CpuTime(10, 100)) == 0


@pytest.mark.parametrize("text", ["", "cpu 1 2\n", "intr 1 2 3 4 5 6 7 8\n", "cpu a b c d e f g h\n"])
def test_a_stat_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "stat").write_text(text)
    with pytest.raises(LullError, match="does not begin with the time of all CPUs"):
        cpu_time(tmp_path)
