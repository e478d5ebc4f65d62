"""`lull calibrate` as a user calls it: a whole calibration, interrupted once, and the readers of its file."""

import json
import signal
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull import _core
from lull.model.machine import read_machine


@pytest.fixture
def at_home(lull: Lull) -> Lull:
    lull.env |= {"XDG_CACHE_HOME": str(lull.folder / "cache"), "XDG_CONFIG_HOME": str(lull.folder / "config")}
    return lull


def kept_parts(folder: Path) -> dict[str, object]:
    found = folder.glob("cache/lull/calibration/*/.state/*/000.json")
    return {path.parent.name: json.loads(path.read_text())["observed"] for path in found}


def test_a_calibration_goes_on_after_an_interrupt_and_its_file_is_found(at_home: Lull) -> None:
    by_hand = Path(at_home.env["XDG_CONFIG_HOME"]) / "lull" / "machines" / Path(_core.machine_file_of_this_host()).name
    by_hand.parent.mkdir(parents=True)
    by_hand.write_text("[constants]\naggregation.smallest_buffer_bytes = {value = 12345, source = 'by hand'}\n")
    started = at_home.start("calibrate", "--quick")
    assert wait_until(lambda: "memory" in kept_parts(at_home.folder))
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=TIMEOUT_S)[1]
    assert started.returncode == 130
    assert "the same command continues from there" in said.splitlines()[-1] and "Traceback" not in said
    before = kept_parts(at_home.folder)

    done = at_home.run("calibrate", "--quick")
    assert done.returncode == 0, done.stderr
    assert " memory:" not in done.stderr  # it was already known
    (path,) = at_home.folder.glob("config/lull/machines/*.toml")
    assert f"machine file in {path}" in done.stderr and not kept_parts(at_home.folder)
    machine = read_machine(str(path))
    assert machine.memory.copy_warm_bytes_per_s is not None and before["memory"]
    assert machine.constants["aggregation"]["smallest_buffer_bytes"].value == 12345
    assert "kept from the file before: constants" in done.stdout
    for name in ("shared-memory", "network"):
        piece = machine.transports[name].pieces[0]
        assert piece.latency_ns is not None and piece.gap_ns is not None and piece.gap_ns.value > 0
    network = machine.transports["network"].pieces[0]
    assert network.receive_ns is not None and network.receive_ns.value > 0
    assert {"poll", "interrupt", "adaptive"} <= set(machine.wake_ups.policies)
    assert machine.storage.by_writers
    assert machine.recording.ns_per_event is not None and 0 < machine.recording.ns_per_event.value < 1e4
    assert not list(at_home.folder.glob("lull-*"))
    if machine.watts.idle_node is None:  # other load kept the machine busy
        assert machine.measured is not None and any(one.startswith("no power") for one in machine.measured.remarks)
    else:
        assert machine.watts.idle_node.kind == "estimated" and "poll" in machine.watts.waiting

    shown = at_home.run("calibrate", "--show")
    assert shown.returncode == 0 and "shared-memory" in shown.stdout
    assert json.loads(at_home.run("calibrate", "--show", "--format", "json").stdout)["form"] == 1
    refused = at_home.run("predict", "--on", "here", "--", "true")
    assert refused.returncode == 2 and "does not describe the machine's network" in refused.stderr
    assert at_home.run("run", "-n", "2", "shift", "--max", "64").returncode == 0


def test_choosers_refuse_a_machine_file_that_is_wrong(lull: Lull) -> None:
    (lull.folder / "machine.toml").write_text("form = 1\n[memory]\ncopy_warm_bytes_per_s = 3\n")
    lull.env["LULL_MACHINE"] = "machine.toml"
    done = lull.run("run", "-n", "2", "shift")
    assert done.returncode != 0
    assert "read the machine file machine.toml, line 3: a figure is not a table with a value" in done.stderr
    assert "LULL_MACHINE=builtin" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--", "./app"), "./app is not a known launcher"),
        (("--storage", "nowhere"), "nowhere is not a folder"),
        (("--show", "--quick"), "nothing is measured"),
        (("--show",), "this host has not been calibrated"),
    ],
)
def test_mistakes_are_refused_before_anything_is_measured(at_home: Lull, words: tuple[str, ...], says: str) -> None:
    done = at_home.run("calibrate", *words)
    assert done.returncode == 2 and says in done.stderr and not kept_parts(at_home.folder)


def test_each_rank_of_a_launcher_is_refused(at_home: Lull) -> None:
    at_home.env |= {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}
    done = at_home.run("calibrate")
    assert done.returncode == 2 and "name the launcher: lull calibrate -- mpirun -n 2" in done.stderr


def test_a_launcher_that_fails_is_said_in_a_line(at_home: Lull) -> None:
    done = at_home.run("calibrate", "--quick", "--", "mpirun", "--no-such-option")
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "calibrate, network: " in done.stderr.splitlines()[-1]
