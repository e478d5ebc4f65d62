"""`lull predict` and `lull.predict`: programs and traces on another machine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import lull as library
import records
from conftest import Lull
from lull import _core
from lull.base.errors import LullError, UsageError
from lull.library.predicted import PredictionResult
from lull.model.machine import Machine, known_machines, read_machine
from lull.prediction.account import Energies, Joules, ModeAccount
from lull.prediction.launch import processes_of, with_processes
from lull.prediction.modes import modes_named
from lull.prediction.predict import choose
from lull.simulation.account import TimeAccount, read_simulation
from lull.trace.convert import convert
from mpi_libraries import ENVIRONMENT, MpiLibrary, each_library
from trace_records import leave, ring

pytestmark = pytest.mark.in_turn(2)

needs_otf2 = pytest.mark.skipif(not _core.HAS_OTF2, reason="built without OTF2")

MACHINE = """
title = "a small machine"
[topology]
name = "fat-tree"
radix = 8
[job]
barrier = "dissemination"
[node]
cores = 4
waiting_use = 0.5
[watts.link]
value = 2
source = "made up"
[watts.switch]
value = 10
source = "made up"
[watts.nic]
value = 5
low = 4
high = 7
source = "made up"
[watts.idle_node]
value = 100
low = 80
high = 120
source = "made up"
[watts.busy_node]
value = 180
low = 140
high = 220
source = "made up"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    path = tmp_path / "machine.toml"
    path.write_text(MACHINE)
    return path


def traced(folder: Path, size: int, rounds: int = 5) -> Path:
    convert(leave(folder, ring(size, rounds=rounds)), keep_raw=False)
    return folder


def mode(name: str, slowdown: float, joules: float | None, link_power: float = 1.0) -> ModeAccount:
    energy = None if joules is None else Joules(joules=joules, low=joules, high=joules)
    return ModeAccount(
        name=name,
        folder=name,
        run_time_s=1 + slowdown,
        slowdown=slowdown,
        link_power=link_power,
        network_link_power=link_power,
        wakes=0,
        time=TimeAccount(computing_s=1, sending_s=0, waiting_s=slowdown),
        energy=Energies(links=energy, switches=None, nics=None, nodes=None),
    )


# Machines


@pytest.mark.parametrize("name", known_machines())
def test_machines_that_come_along_say_where_their_figures_are_from(name: str) -> None:
    machine = read_machine(name)
    assert machine.title and machine.measured is None  # each figure of such a machine has a source


def test_a_preset_of_a_network_is_a_machine_without_watts() -> None:
    machine = read_machine("fat-tree-4608")
    assert machine.topology == {"preset": "fat-tree-4608"}
    assert machine.watts == Machine(topology={}).watts


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[topology]\nradix = 4\n[watts.link]\nvalue = 3", "watts.link.source: it is missing"),
        ("[topology]\nradix = 4\n[power]\nmode = 'active'", "power.mode: every prediction chooses it"),
        (
            "[topology]\nradix = 4\n[watts.idle_node]\nvalue = 3\nsource = 'x'",
            "idle_node and busy_node belong together",
        ),
        ("[topology]\nradix = 4\n[watts.link]\nvalue = 3\nlow = 4\nsource = 'x'", "which are not ascending"),
        ("[topology]\nradix = 4\n[node]\nsockets = 3", "node.sockets: there is no such key"),
        ("form = 2", "form: it is 2; this version of Lull reads 1"),
        ("[topology", "it is not TOML"),
    ],
)
def test_a_wrong_machine_is_refused_in_one_line(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_machine(str(path))
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_an_unknown_machine_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"there is none of that name; name here, .*slingshot-4608, .*fat-tree-4608"):
        read_machine("nowhere")


# Modes of links, and the chosen one


def test_all_modes_are_those_of_the_published_grid_and_longer_ones_with_active_first() -> None:
    names = [one.name for one in modes_named(["all"])]
    assert names[0] == "active" and len(names) == 12 + 2
    assert names[-1] == "hybrid, hold 1 Ts, 1 ms in fast wake"
    (_, longer) = modes_named(["hybrid:2 Ts:50 us"])
    assert longer.keys == {"mode": "hybrid", "hold": "2 Ts", "hybrid_hold": "50 us"}
    assert longer.folder == "hybrid-2Ts-50usinfastwake"
    assert [one.name for one in modes_named(["deep-sleep:2 Ts", "active"])] == ["active", "deep-sleep, hold 2 Ts"]
    assert len({one.folder for one in modes_named(["all", "adaptive-rate"])}) == 12 + 2 + 1


@pytest.mark.parametrize("word", ["asleep", "active:1Ts", "deep-sleep:", "deep-sleep:1Ts:1ms", "hybrid::1ms"])
def test_an_unknown_mode_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="there is no such mode; name all, active"):
        modes_named([word])


def test_the_mode_of_least_energy_within_the_slowdown_is_chosen() -> None:
    modes = [mode("active", 0, 100), mode("light", 0.005, 60), mode("deep", 0.05, 20)]
    assert choose(modes, 0.01)[0] == "light"
    assert choose(modes, 0.1)[0] == "deep"
    assert choose(modes, 0)[0] == "active"


def test_without_watts_the_mode_of_least_link_power_and_time_is_chosen() -> None:
    modes = [mode("active", 0, None), mode("light", 0.005, None, 0.6), mode("slow", 0.005, None, 0.7)]
    assert choose(modes, 0.01) == ("light", "energy of links, of which only ratios are known")


# Launchers


@pytest.mark.parametrize(
    ("command", "four"),
    [
        ("mpirun -n 8 ./app -n 3", "mpirun -n 4 ./app -n 3"),
        ("/opt/bin/mpirun.openmpi --bind-to core -np 8 ./app", "/opt/bin/mpirun.openmpi --bind-to core -np 4 ./app"),
        ("srun --ntasks=8 ./app", "srun --ntasks=4 ./app"),
        ("lull run -n 8 histogram", "lull run -n 4 histogram"),
        ("flux run -n 8 ./app", "flux run -n 4 ./app"),
        ("aprun -n 8 ./app -n 3", "aprun -n 4 ./app -n 3"),
        ("mpiexec.hydra -n 8 ./app", "mpiexec.hydra -n 4 ./app"),
        ("prun --np 8 ./app", "prun --np 4 ./app"),
    ],
)
def test_the_number_of_processes_is_rewritten_where_the_launcher_has_it(command: str, four: str) -> None:
    assert with_processes(command.split(), 4) == four.split()
    assert processes_of(command.split()) == 8


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("./app -n 8", "is not a known launcher"),
        ("jsrun -n 8 ./app", "is not a known launcher"),
        ("flux submit -n 8 ./app", "is not a known launcher"),
        ("mpirun sh -n 8", "there is no -n or -np before the program"),
        ("mpirun -n 4 a : -n 4 b", "several programs"),
        ("mpirun --npernode 4 -n 8 a", "--npernode places processes"),
        ("mpirun -n all a", "there is no number after -n"),
    ],
)
def test_where_it_cannot_be_told_safely_two_traces_are_asked_for(command: str, why: str) -> None:
    assert processes_of(command.split()) is None
    with pytest.raises(UsageError, match=rf"{why}.*; trace both sizes with lull trace"):
        with_processes(command.split(), 4)


# Predictions


@needs_otf2
def test_energy_is_watts_times_simulated_times(tmp_path: Path, machine: Path) -> None:
    trace = traced(tmp_path / "t", 4)
    found = library.predict(
        trace, on=machine, power="deep-sleep:1Ts", per_node=2, placements=0, out=tmp_path / "out"
    ).found
    active, deep = found.modes
    assert (found.processes, found.nodes, found.network_nodes, found.traced) == (4, 2, 128, [4])
    seconds = active.run_time_s
    energy = active.energy
    assert energy.links is not None and energy.nodes is not None and energy.switches is not None
    assert energy.nics is not None and energy.total is not None and energy.network is not None
    assert energy.links.joules == pytest.approx(2 * found.network_links * seconds)
    assert energy.switches.joules == pytest.approx(10 * 80 * seconds)
    assert (energy.nics.low, energy.nics.joules, energy.nics.high) == pytest.approx(
        [w * 2 * seconds for w in (4, 5, 7)]
    )
    busy = active.time.computing_s + 0.5 * (active.time.sending_s + active.time.waiting_s)
    assert energy.nodes.joules == pytest.approx(100 * 2 * seconds + 80 * 4 * busy / 4)
    assert energy.total.joules == pytest.approx(energy.network.joules + energy.nodes.joules)
    assert deep.energy.links is not None and deep.energy.links.joules < 0.3 * energy.links.joules
    assert found.chosen == "deep-sleep, hold 1Ts"
    kept = read_simulation(tmp_path / "out" / deep.folder)
    assert kept.repeats[0].jobs[0].slowdown == deep.slowdown
    assert kept.repeats[0].joules == pytest.approx(deep.energy.links.joules)


@needs_otf2
def test_the_range_is_what_was_simulated_and_what_recording_cost(tmp_path: Path, machine: Path) -> None:
    trace = traced(tmp_path / "t", 4)
    found = library.predict(trace, on=machine, power="active", placements=3, out=tmp_path / "out").found
    assert [one.what for one in found.uncertainty] == ["placement", "recording"]
    for one in found.uncertainty:
        assert one.low_s <= found.active.run_time_s <= one.high_s
    assert found.low_s <= found.active.run_time_s <= found.high_s
    assert any("processors of the machine" in line for line in found.not_modelled)


@needs_otf2
def test_two_traces_predict_more_processes(lull: Lull, machine: Path) -> None:
    for size in (4, 8):
        traced(lull.folder / str(size), size)
    arguments = ("--on", str(machine), "--power", "active", "--placements", "0", "--out", "out")
    done = lull.run("predict", "--on", "slingshot-4608", "--processes", "32", *arguments, "4", "8")
    assert done.returncode == 0, done.stderr
    assert "8, 32 processes on a small machine" in done.stdout
    assert "from traces of 8 and 4 processes" in done.stdout
    assert "note: more processes than were traced: a grid of 32 extrapolates those of 4 and 8" in done.stdout
    assert "where they" not in done.stderr
    file = json.loads((lull.folder / "out" / "prediction.json").read_text())
    assert file["traced"] == [8, 4] and file["kind"] == "simulated"
    assert (lull.folder / "out" / "report.html").is_file()
    report = lull.run("compare", "out/active", "out/active")
    assert report.returncode == 0, report.stderr
    loaded = library.load(lull.folder / "out")
    assert isinstance(loaded, PredictionResult) and loaded.found.processes == 32
    assert "<table>" in loaded._repr_html_() and len(loaded.to_pandas()) == 1


@needs_otf2
@pytest.mark.parametrize(("mode", "remarks"), [("per-pe", 1), ("direct", 0)])
def test_a_trace_of_an_aggregated_application_says_what_it_lacks(
    tmp_path: Path, machine: Path, mode: str, remarks: int
) -> None:
    command = ["lull", "run", "-n", "4", "histogram", "--mode", mode]
    folder = records.write(tmp_path / "t", records.run("hist").model_copy(update={"command": command}))
    traced(folder, 4)
    found = library.predict(folder, on=machine, power="active", placements=0, out=tmp_path / "out").found
    assert len([line for line in found.remarks if "aggregator" in line]) == remarks


@needs_otf2
def test_mistakes_are_one_line_each(tmp_path: Path, machine: Path) -> None:
    small, large = traced(tmp_path / "4", 4), traced(tmp_path / "8", 8)
    odd = traced(tmp_path / "odd", 4, rounds=3)

    def refused(what: object, says: str, **more: object) -> None:
        with pytest.raises(LullError, match=says) as caught:
            library.predict(what, on=machine, power="active", placements=0, out=tmp_path / "out", **more)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "out" / "prediction.json").exists()

    refused(small, "has 4; name a second trace", processes=8)
    refused(large, r"has 8; a trace cannot be replayed by fewer", processes=4)
    refused([large, odd], r"with 32 processes: operation \d+ of rank \d+ of the smaller program", processes=32)
    refused([large, small], "is 512, with 128 of 128 nodes free", processes=512)
    refused([large, small], "jobs.0.nonsense is not a key", processes=32, settings=["jobs.0.nonsense=1"])
    refused(tmp_path / "4" / "traces", "it is neither a trace nor a record")
    refused(small, "--runs is for commands", runs=2)
    with pytest.raises(LullError, match="it exists already"):
        library.predict(small, on="slingshot-4608", out=tmp_path / "4")


def test_an_application_of_ours_is_predicted_from_its_record(tmp_path: Path, machine: Path) -> None:
    options = "--keys 500 --mode per-node --key-bytes 16 --min-time 2"
    of = ["lull", "run", "-n", "4", "/opt/apps/radix_sort", *options.split()]
    run = records.run("sort").model_copy(update={"command": of})
    folder = records.write(tmp_path / "sort", run)
    found = library.predict(
        folder, on=machine, power="active", processes=8, per_node=2, placements=0, out=tmp_path / "o"
    )
    described = read_simulation(tmp_path / "o" / "active").description["jobs"][0]
    assert [described[key] for key in ("pattern", "items", "mode", "key_bytes")] == ["radix-sort", 500, "per-node", 16]
    assert found.found.traced == [] and found.found.processes == 8
    assert "one pass is predicted, by the skeleton of the application" in found.found.remarks


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("./other -n 4", "it is a record of other, without a trace"),
        ("lull run -n 4 index_gather --cache", "--cache, which the skeleton of index_gather has not"),
        ("lull run -n 4 histogram --items many", "its command is not understood"),
        ("histogram --items 5", "does not give the number of processes"),
    ],
)
def test_a_record_without_a_skeleton_is_refused(tmp_path: Path, command: str, says: str) -> None:
    run = records.run("one").model_copy(update={"command": command.split()})
    folder = records.write(tmp_path / "one", run)
    with pytest.raises(LullError, match=says):
        library.predict(folder, on="slingshot-4608", out=tmp_path / "out")


@needs_otf2
@each_library
def test_a_command_is_traced_and_predicted(lull: Lull, mpi: MpiLibrary, machine: Path) -> None:
    program = mpi.compiled("every_message.c", lull.folder)
    calling = replace(lull, env=ENVIRONMENT)
    options = ("--on", str(machine), "--power", "active", "--placements", "1", "--format", "json", "--out", "out")
    done = calling.run("predict", *options, "--", *mpi.start(4, program, "20"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["processes"], found["traced"], found["program"]) == (4, [4], "every_message")
    assert (lull.folder / "out" / "traces" / "run1" / "traces.otf2").is_file()
    assert {one["what"] for one in found["uncertainty"]} >= {"placement", "recording"}


@pytest.mark.parametrize(
    ("power", "says"),
    [
        ("hybrid:1Ts:soon", "power.hybrid_hold is 'soon'; it must be a time"),
        ("deep-sleep:-1us", "power.hold is '-1us'; it must be 0 or more"),
    ],
)
def test_wrong_links_are_refused_before_anything_runs(lull: Lull, power: str, says: str) -> None:
    refused = lull.run("predict", "--on", "slingshot-4608", "--power", power, "--out", "out", "--", "touch", "it_ran")
    assert refused.returncode == 2
    assert says in refused.stderr and refused.stderr.count("\n") == 1
    assert not (lull.folder / "it_ran").exists() and not (lull.folder / "out").exists()


@needs_otf2
def test_a_command_that_fails_or_has_no_mpi_is_a_line(lull: Lull) -> None:
    failed = lull.run("predict", "--on", "slingshot-4608", "--out", "failed", "--", "false")
    assert failed.returncode == 1
    assert "lull: trace false: it left no trace" in failed.stderr or "exit code 1" in failed.stderr
    silent = lull.run("predict", "--on", "slingshot-4608", "--out", "silent", "--", "true")
    assert silent.returncode == 1
    assert "none of its processes has called an MPI library that Lull supports" in silent.stderr
    missing = lull.run("predict", "--on", "slingshot-4608", "--out", "missing", "--", "./there-is-no-such-program")
    assert missing.returncode != 0 and "Traceback" not in missing.stderr
    more = lull.run("predict", "--on", "slingshot-4608", "--processes", "64", "--out", "more", "--", "./app")
    assert more.returncode == 2
    assert "app is not a known launcher" in more.stderr


# What it bears


def test_tolerance_adds_modes_with_the_shortest_hold(tmp_path: Path, machine: Path) -> None:
    trace = traced(tmp_path / "trace", 8)
    power = ("deep-sleep:0Ts", "fast-wake:1Ts")
    out = tmp_path / "with"
    found = library.predict(trace, on=machine, placements=0, power=power, tolerance=True, slowdown=0.05, out=out).found
    assert found.tolerance is not None and found.tolerance.slowdown == 0.05
    names = [mode.name for mode in found.modes]
    assert names[:3] == ["active", "deep-sleep, hold 0Ts", "fast-wake, hold 1Ts"]
    assert [name.split(", ")[1].split()[0] for name in names[3:]] == ["shortest", "learnt", "shortest", "learnt"]
    assert [check.what.split(":")[0] for check in found.checks] == ["cables that take longer", "bandwidth of nodes"]
    for mode in found.modes:
        assert (out / mode.folder / "simulation.json").exists()
    plain = library.predict(trace, on=machine, placements=0, power=power, out=tmp_path / "without").found
    assert plain.tolerance is None and plain.checks == []
    assert plain.modes[0] == found.modes[0]


def test_tolerance_needs_a_slowdown(lull: Lull, machine: Path) -> None:
    traced(lull.folder / "trace", 4)
    refused = lull.run("predict", "--on", str(machine), "--tolerance", "--slowdown", "0", "trace")
    assert refused.returncode == 2
    assert "--slowdown is 0; accept some slowdown" in refused.stderr


def test_processes_of_one_node_bear_any_network(tmp_path: Path, machine: Path) -> None:
    trace = traced(tmp_path / "trace", 4)
    out = tmp_path / "out"
    result = library.predict(trace, on=machine, per_node=4, placements=0, power="active", tolerance=True, out=out)
    assert result.found.tolerance is not None and result.found.tolerance.path.messages == 0
    assert all(delay.most_s is None for delay in result.found.tolerance.delays)
    assert result.found.checks == [] and len(result.found.modes) == 1
