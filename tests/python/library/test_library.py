"""Lull from Python: the functions for scripts and notebooks, over records, simulations and traces."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import lull as api
import records
from bounds import TIMEOUT_S
from conftest import Lull
from lull import _core
from lull.base.errors import LullError, UsageError
from lull.library.compared_simulations import ComparedSimulations
from lull.library.recorded import Recorded
from lull.library.simulated import SimulationResult, load_simulation
from lull.library.traced import Traced
from lull.record import EnergyKind
from trace_records import leave, ring

NET = """
[topology]
name = "fat-tree"
radix = 4
[power]
mode = "hybrid"
[[jobs]]
processes = 8
messages = 20
"""


def recorded(path: str | Path) -> Recorded:
    found = api.load(path)
    assert isinstance(found, Recorded)
    return found


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    slow = records.write(tmp_path / "slow", records.run("slow"))
    fast = records.write(tmp_path / "fast", records.run("fast", records.faster(records.TIMES, 2.0)))
    return slow, fast


def test_a_record_is_loaded_with_units_and_kind(pair: tuple[Path, Path]) -> None:
    found = recorded(pair[0])
    assert found.label == "slow" and found.seconds == pytest.approx(10.025)
    assert found.watts == pytest.approx(200.0) and found.kind is EnergyKind.VENDOR_MODEL
    assert found.joules == pytest.approx(found.seconds * 200.0)


def test_a_record_shows_itself_in_a_notebook(pair: tuple[Path, Path]) -> None:
    shown = recorded(pair[0])._repr_html_()
    assert "<table>" in shown and "vendor-model" in shown and "median" in shown


def test_what_a_notebook_shows_is_text_not_markup(tmp_path: Path) -> None:
    folder = records.write(tmp_path / "a", records.run("<script>alert(1)</script>"))
    assert "<script>" not in api.load(folder)._repr_html_()


def test_a_record_becomes_the_table_that_export_writes(pair: tuple[Path, Path]) -> None:
    frame = recorded(str(pair[0])).to_pandas()
    totals = frame[frame.is_total]
    assert len(totals) == len(records.TIMES) and set(totals.unit) == {"J"}
    assert list(totals.time_s) == records.TIMES


def test_a_record_draws_itself_on_axes(pair: tuple[Path, Path]) -> None:
    found = recorded(pair[0])
    assert [axes.get_title(loc="left") for axes in found.plot()] == ["Time", "Energy, vendor-model"]
    assert "power" in found.plot(run=0)[0].get_ylabel()


def test_two_records_are_compared(pair: tuple[Path, Path]) -> None:
    found = api.compare(*pair)
    assert found.speedup.value == pytest.approx(2.0) and found.greenup.value == pytest.approx(2.0)
    assert "slow" in found._repr_html_() and found.plot()
    row = found.to_pandas().iloc[0]
    assert row.candidate == "fast" and row.speedup_low is not None and row.kind == "vendor-model"


def test_several_records_are_compared_with_one(pair: tuple[Path, Path], tmp_path: Path) -> None:
    third = records.write(tmp_path / "third", records.run("third", records.faster(records.TIMES, 4.0)))
    found = api.compare(recorded(pair[0]), pair[1], str(third))
    assert [round(one.speedup.value) for one in found.found] == [2, 4]
    assert len(found.to_pandas()) == 2 and "third" in found._repr_html_()


def test_one_record_alone_is_not_compared(pair: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="compared with nothing"):
        api.compare(pair[0])


def test_where_nothing_lies_the_line_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(LullError, match=r"no run\.json there"):
        api.load(tmp_path)


def test_a_command_is_measured_and_recorded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = api.measure([sys.executable, "-c", "pass"], runs=2, label="nothing", out=tmp_path / "out")
    assert found.label == "nothing" and len(found.run.repeats) == 2 and found.seconds > 0
    assert recorded(tmp_path / "out").label == "nothing"
    assert capfd.readouterr().err == ""


def test_a_command_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LullError, match="could not be started"):
        api.measure("no-such-program --at-all", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_block_is_measured(tmp_path: Path) -> None:
    with api.measuring("block", hz=100) as block:
        began = time.monotonic()
        while time.monotonic() - began < 0.05:
            pass
    assert block.seconds >= 0.05 and block.joules > 0 and block.watts > 0
    saved = block.recorded.save(tmp_path / "block")
    assert recorded(tmp_path / "block").label == saved.label == "block"


def test_a_program_ends_although_a_daemon_thread_measures() -> None:
    script = """
import threading, time
from lull.meter.meter import Meter

meter, turns = Meter("here", 100), threading.Semaphore(0)

def measure():
    while True:
        meter.start()
        meter.stop()
        turns.release()

threading.Thread(target=measure, daemon=True).start()
for _ in range(3):
    turns.acquire()
"""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_every_call_of_a_decorated_function_is_a_run() -> None:
    measured = api.measuring("step", hz=100)

    @measured
    def step(number: int) -> int:
        return number + 1

    assert [step(1), step(2)] == [2, 3]
    assert len(measured.recorded.run.repeats) == 2


def test_a_block_that_fails_is_a_failed_run_and_its_error_goes_on() -> None:
    measured = api.measuring("block", hz=100)
    with pytest.raises(KeyError), measured:
        raise KeyError
    assert measured.recorded.run.repeats[0].exit_code == 1 and measured.seconds > 0


def test_what_has_not_been_measured_says_so() -> None:
    with pytest.raises(ValueError, match="leave the block first"):
        _ = api.measuring("block").recorded


def test_a_simulation_is_loaded(lull: Lull, tmp_path: Path) -> None:
    (lull.folder / "net.toml").write_text(NET)
    assert lull.run("simulate", "net.toml", "--out", "out").returncode == 0
    found = api.load(lull.folder / "out")
    assert isinstance(found, SimulationResult)
    assert len(found.to_pandas()) == 1 and found.plot() and "simulated" in found._repr_html_()
    assert set(found.links()["kind"]) == {"injection", "ejection", "network"}


SMALL = {
    "topology": {"name": "fat-tree", "radix": 4},
    "power": {"mode": "hybrid", "link_watts": 2.5},
    "jobs": [{"processes": 8, "messages": 20}],
}


def test_a_simulation_answers_in_si_units_of_the_kind_simulated() -> None:
    found = api.simulate(SMALL)
    assert found.kind is EnergyKind.SIMULATED and found.joules is not None
    assert found.joules == pytest.approx(found.power.share * found.file.links * 2.5 * found.seconds)
    assert found.power.saved == pytest.approx(1 - found.power.share)
    assert found.packet_latency is not None and 0 < found.packet_latency.median_s < found.seconds
    assert found.result is not None and len(found.result.links) == len(found.links()) == found.file.links


def test_single_keys_of_a_simulation_are_changed() -> None:
    found = api.simulate(SMALL, changes={"power.mode": "active", "jobs.0.messages": 5})
    assert found.description["power"]["mode"] == "active" and found.jobs[0].messages == 40
    with pytest.raises(UsageError, match=r"jobs has no number 3"):
        api.simulate(SMALL, changes={"jobs.3.messages": 5})


def test_a_simulation_shows_and_draws_itself_beside_another() -> None:
    found = api.simulate(SMALL, label="<b>hybrid")
    shown = found._repr_html_()
    assert "&lt;b&gt;hybrid" in shown and "16 nodes" in shown and "simulated" in shown
    other = api.simulate(SMALL, changes={"power.mode": "deep-sleep"}, label="deep")
    labels = [text.get_text() for text in found.plot(other)[0].get_yticklabels()]
    assert "deep" in " ".join(labels)


def test_simulations_are_compared_in_memory_and_on_disk(tmp_path: Path) -> None:
    hybrid = api.simulate(SMALL)
    folder = api.simulate(SMALL, changes={"power.mode": "active"}).save(tmp_path / "active").folder
    assert folder is not None
    found = api.compare(folder, hybrid)
    assert isinstance(found, ComparedSimulations) and found.kind is EnergyKind.SIMULATED
    assert found.greenup is not None and found.greenup.value > 1 > found.speedup.value
    assert found.greenup.low is None, "of one seed there is no interval"
    shown = found._repr_html_()
    assert "power.mode: active → hybrid" in shown and found.verdict in shown
    frame = found.to_pandas().set_index("figure")
    assert frame.loc["run time", "of_baseline"] == pytest.approx(load_simulation(folder).jobs[0].run_time_s)
    assert [tick.get_text() for tick in found.plot()[0].get_yticklabels()] == ["active", "simulation"]


def test_simulations_of_one_name_are_told_apart() -> None:
    found = api.compare(api.simulate(SMALL), api.simulate(SMALL), api.simulate(SMALL))
    assert [one.candidate for one in found.found] == ["simulation-2", "simulation-3"]
    assert found.speedup.value == 1


def test_what_cannot_be_compared_is_refused_by_name(pair: tuple[Path, Path]) -> None:
    simulated = api.simulate(SMALL)
    with pytest.raises(UsageError, match=r"not of one kind \(a run, a simulation\)"):
        api.compare(pair[0], simulated)
    with pytest.raises(UsageError, match="no regions"):
        api.compare(str(simulated.save(pair[0].parent / "one").folder), simulated, region="solve")


def test_a_simulation_is_saved_as_the_record_that_the_command_writes(lull: Lull, tmp_path: Path) -> None:
    (lull.folder / "net.toml").write_text(NET)
    assert lull.run("simulate", "net.toml", "--out", "out").returncode == 0
    saved = api.simulate(lull.folder / "net.toml").save(tmp_path / "saved")
    loaded = api.load(lull.folder / "out")
    assert isinstance(loaded, SimulationResult)
    same = {"simulator_cpu_s": 0.0}
    assert saved.repeats[0].model_copy(update=same) == loaded.repeats[0].model_copy(update=same)
    assert saved.description == loaded.description and saved.links().equals(loaded.links())
    assert lull.run("compare", str(tmp_path / "saved"), "out").returncode == 0


def test_a_simulation_is_repeated_from_its_description() -> None:
    found = api.simulate(SMALL)
    assert api.simulate(found.description).seconds == found.seconds


@pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")
def test_a_trace_is_loaded(lull: Lull) -> None:
    leave(lull.folder / "t", ring(4))
    assert lull.run("archive", "convert", "t").returncode == 0
    found = api.load(lull.folder / "t")
    assert isinstance(found, Traced)
    assert list(found.to_pandas().sent_messages) == [50] * 4 and len(found.pairs()) == 4
    assert found.plot() and "late sender" in found._repr_html_()
