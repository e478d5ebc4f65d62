"""From the observations of a calibration's parts to the machine: on figures of machines with known constants."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lull.base.errors import LullError, UsageError
from lull.calibration.assembly import Circumstances, figure_of, machine_of
from lull.calibration.bench import _line_of
from lull.calibration.calibrate import written_by_hand
from lull.calibration.parts import Observed, frequency_steps
from lull.calibration.state import CalibrationState
from lull.job.launchers import starts_ranks
from lull.model.machine import Machine
from lull.model.machine_text import machine_text
from lull.record import EnergyKind, Host

SIZES = [8 << n for n in range(20)]
SMALL = {"latency": 5000, "send": 800, "receive": 1200, "gap": 1500, "G": 0.5, "alone": 0.9, "os": 0.1, "or": 0.2}
LARGE = {"latency": 60000, "send": 4000, "receive": 9000, "gap": 20000, "G": 0.25, "alone": 0.4, "os": 0, "or": 0.05}


def truth(size: int) -> dict[str, float]:
    return SMALL if size < 65536 else LARGE


def times(size: int) -> dict[str, float]:
    t = truth(size)
    return {
        "bytes": size,
        "one_way_ns": t["send"] + t["latency"] + t["receive"] + size * t["alone"],
        "send_ns": t["send"] + size * t["os"],
        "receive_ns": 0,
        "gap_ns": t["gap"] + size * t["G"],
    }


def receiver(size: int) -> dict[str, float]:
    return {"bytes": size, "receive_ns": truth(size)["receive"] + size * truth(size)["or"]}


def length(ns: float, late: float) -> dict[str, Any]:
    return {"length_ns": ns, "late_ns": [late] * 5, "cpu_ns": [ns, ns], "waker_ns": [30.0]}


def drawn(watts: float) -> dict[str, Any]:
    return {"watts": watts, "low": watts / 2, "high": 2 * watts, "kind": "estimated", "of": "package + dram"}


def observed() -> dict[str, Observed]:
    timers = [float(late) for late in range(101)]
    return {
        "memory": {"copy_warm": [9e9, 10e9, 12e9], "copy_cold": [5e9], "copy_cold_all_cores": [6e9]},
        "frequency": {},
        "wake-ups poll": {"lengths": [length(2e4, 100), length(2e5, 120)], "timer_ns": timers},
        "network": {
            "rounds": [[times(size) for size in SIZES] for _ in range(3)],
            "nodes": 2,
            "fetching_ns": [40.0, 50.0, 60.0],
            "non_fetching_ns": [4.0],
        },
        "network receiver": {"rounds": [[receiver(size) for size in SIZES] for _ in range(2)]},
        # 1 / rate = (1 + writers / 4) / 1e9
        "recording": {"ns_per_event": [10, 11, 14]},
        "storage": {"rounds": [[{"writers": w, "bytes_per_s": 1e9 / (1 + w / 4)} for w in (1, 2, 4)]]},
        "power 1": {"idle_node": drawn(10), "one_core": drawn(15), "busy_node": drawn(20), "waiting.poll": drawn(19)},
        "power 2": {"idle_node": drawn(12), "one_core": drawn(15), "busy_node": drawn(22), "waiting.poll": drawn(21)},
    }


def machine(seen: dict[str, Observed], launcher: str = "") -> Machine:
    host = Host(node="a", boot_id="b", processor="P", cores=2, memory_bytes=1, kernel="Linux")
    return machine_of(seen, Circumstances(host, datetime.now(UTC), 3.0, launcher, "/data"))


def test_terms_come_out_to_the_last_digit_of_the_file() -> None:
    small, large = machine(observed()).transports["network"].pieces
    for piece, t in ((small, SMALL), (large, LARGE)):
        found = [
            *(piece.latency_ns, piece.send_ns, piece.receive_ns, piece.gap_ns),
            *(piece.ns_per_byte, piece.alone_ns_per_byte, piece.send_ns_per_byte, piece.receive_ns_per_byte),
        ]
        for figure, true in zip(found, t.values(), strict=True):
            assert figure is not None
            assert float(f"{figure.value:.9g}") == pytest.approx(true, rel=1e-9, abs=1e-9)
    assert (small.from_bytes, large.from_bytes) == (0, 65536)


def test_figures_are_medians_with_quartiles() -> None:
    found = machine(observed())
    assert found.memory.copy_warm_bytes_per_s == figure_of([9e9, 10e9, 12e9])
    assert found.memory.copy_warm_bytes_per_s is not None
    assert found.memory.copy_warm_bytes_per_s.band == (9.5e9, 10e9, 11e9)
    assert found.wake_ups.timer_ns is not None and found.wake_ups.timer_ns.band == (25, 50, 90)
    assert [one.late_ns.value for one in found.wake_ups.policies["poll"]] == [100, 120]


def test_recording_is_the_median_of_its_rounds() -> None:
    recording = machine(observed()).recording.ns_per_event
    assert recording is not None and recording.value == 11


def test_storage_is_learnt_from_all_numbers_of_writers() -> None:
    storage = machine(observed()).storage
    assert storage.bytes_per_s is not None and storage.bytes_per_s.value == pytest.approx(1e9)
    assert storage.writers_at_half_speed is not None and storage.writers_at_half_speed.value == pytest.approx(4)
    assert list(storage.by_writers) == [1, 2, 4]


def test_power_has_its_kind_and_the_band_of_its_source() -> None:
    found = machine(observed())
    assert found.watts.idle_node is not None and found.watts.idle_node.band == (5.5, 11, 22)
    assert found.watts.idle_node.kind is EnergyKind.ESTIMATED
    assert found.watts.waiting["poll"].value == 20
    assert found.measured is not None and any("estimated from CPU time" in one for one in found.measured.remarks)


def test_what_was_not_found_is_left_out_and_said() -> None:
    seen = observed()
    seen["network"] = {"rounds": [], "nodes": 1}
    seen["power 1"] = seen["power 2"] = {}
    found = machine(seen, "mpirun -n 2")
    assert "network" not in found.transports and found.watts.idle_node is None
    assert found.measured is not None
    assert "no network: all processes of mpirun -n 2 were on one node" in found.measured.remarks
    assert any(one.startswith("no power: the power of the node is unknown") for one in found.measured.remarks)
    assert any(one.startswith("no frequency steps") for one in found.measured.remarks)
    assert "[transports" not in machine_text(found)


def test_power_of_a_machine_that_was_not_idle_is_left_out() -> None:
    seen = observed()
    seen["power 1"]["idle_node"] = seen["power 2"]["idle_node"] = drawn(90)
    found = machine(seen)
    assert found.watts.idle_node is None and found.measured is not None
    assert any("the idle machine drew more than the loaded one" in one for one in found.measured.remarks)


def test_frequency_steps_are_those_of_cpufreq(tmp_path: Path) -> None:
    assert frequency_steps(tmp_path) == {}
    (tmp_path / "cpuinfo_min_freq").write_text("800000\n")
    (tmp_path / "cpuinfo_max_freq").write_text("3000000\n")
    (tmp_path / "scaling_driver").write_text("intel_pstate\n")
    (tmp_path / "cpuinfo_transition_latency").write_text("4294967295\n")  # not known
    assert frequency_steps(tmp_path) == {"steps_khz": [800000, 3000000], "driver": "intel_pstate"}
    (tmp_path / "scaling_available_frequencies").write_text("3000000 2000000 800000\n")
    (tmp_path / "cpuinfo_transition_latency").write_text("10000\n")
    assert frequency_steps(tmp_path)["steps_khz"] == [800000, 2000000, 3000000]
    assert frequency_steps(tmp_path)["transition_ns"] == 10000


def test_launchers_are_known() -> None:
    assert starts_ranks(["/usr/bin/mpirun", "-n", "2"]) and starts_ranks(["lull", "run", "-n", "2"])
    assert not starts_ranks(["lull", "measure"]) and not starts_ranks(["./app"]) and not starts_ranks([])


def test_what_a_launcher_said_is_told_in_a_line() -> None:
    assert _line_of("------\n  There are not enough slots\nfor 4\n------\n") == "There are not enough slots"
    assert _line_of("warning of mpirun\nlull: calibrate: too few\n---\n") == "calibrate: too few"
    assert _line_of("----\n") == ""


# The kept parts of an interrupted calibration


CONDITIONS = {"Lull": "1", "boot": "b", "quick": "False"}


def kept(folder: Path, *, fresh: bool = False, **changed: str) -> dict[str, Any]:
    with CalibrationState({**CONDITIONS, **changed}, fresh=fresh, environment={"XDG_CACHE_HOME": str(folder)}) as state:
        return {**state.parts, "seconds": state.seconds} if state.parts else {}


def keep(folder: Path) -> None:
    with CalibrationState(CONDITIONS, fresh=False, environment={"XDG_CACHE_HOME": str(folder)}) as state:
        state.keep("memory", {"a": 1}, 2.5)


@pytest.mark.parametrize("other", [{"quick": "True"}, {"boot": "c"}, {"fresh": True}])
def test_parts_are_continued_only_where_all_is_as_it_was(tmp_path: Path, other: dict[str, Any]) -> None:
    keep(tmp_path)
    assert kept(tmp_path) == {"memory": {"a": 1}, "seconds": 2.5}
    assert kept(tmp_path, **other) == {}
    assert kept(tmp_path) == {}, "they were removed"


def test_finished_calibrations_leave_nothing(tmp_path: Path) -> None:
    keep(tmp_path)
    with CalibrationState(CONDITIONS, fresh=False, environment={"XDG_CACHE_HOME": str(tmp_path)}) as state:
        state.done()
    assert not list((tmp_path / "lull" / "calibration").iterdir())


def test_parts_of_yesterday_and_damaged_ones_are_forgotten(tmp_path: Path) -> None:
    keep(tmp_path)
    (conditions,) = tmp_path.glob("lull/calibration/*/.state/conditions.json")
    (part,) = conditions.parent.glob("*/000.json")
    part.write_text("{")
    assert kept(tmp_path) == {}
    keep(tmp_path)
    day = 25 * 3600
    os.utime(conditions, (time.time() - day, time.time() - day))
    assert kept(tmp_path) == {}
    keep(tmp_path)
    conditions.write_text("{")
    assert kept(tmp_path) == {}
    with CalibrationState(CONDITIONS, fresh=False, environment={}) as state:
        state.keep("memory", {}, 1)
        assert state.parts == {"memory": {}}


def test_two_calibrations_of_a_host_do_not_disturb_each_other(tmp_path: Path) -> None:
    with (
        CalibrationState(CONDITIONS, fresh=False, environment={"XDG_CACHE_HOME": str(tmp_path)}),
        pytest.raises(LullError, match="another process works on a calibration there"),
    ):
        kept(tmp_path)


def test_what_nobody_can_measure_is_kept_of_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "machine"
    assert written_by_hand(path) == ({}, [])
    path.write_text(
        "[topology]\npreset = 'fat-tree-4608'\n[memory]\ncopy_warm_bytes_per_s = {value = 3, source = 'x'}\n"
    )
    kept, remarks = written_by_hand(path)
    assert kept == {"topology": {"preset": "fat-tree-4608"}}
    assert remarks == ["not measured, but kept from the file before: topology"]
    path.write_text("[constants]\nno.such = {value = 3}\n")
    with pytest.raises(UsageError, match=r"there is no constant no\.such; the nearest are .*move it away"):
        written_by_hand(path)
