"""`lull simulate` and `lull.simulate`: one simulation, its record, and what compare and report make of it."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import lull as library
import records
from bounds import TIMEOUT_S
from conftest import Lull, cpu_s, wait_until
from lull import record
from lull.base.errors import LullError, UsageError
from lull.record import Domain, EnergyKind
from lull.simulation.account import SimulationFile, read_simulation
from lull.simulation.result import Result
from lull.simulation.sweep import read_sweep
from places import EXAMPLES

SMALL = {
    "topology": {"name": "fat-tree", "radix": 4},
    "power": {"mode": "deep-sleep", "hold": "1 Ts"},
    "jobs": [{"message": "4 KiB", "messages": 20, "load": 0.2}],
}
NET = """
[topology]
name = "fat-tree"
radix = 4
[power]
mode = "hybrid"
hold = "1 Ts"
[[jobs]]
name = "halo"
pattern = "neighbours-2d"
arrivals = "closed"
iterations = 5
compute = "20 us"
message = "8 KiB"
"""
LONG = """
[topology]
preset = "fat-tree-4608"
[[jobs]]
messages = 1000000
"""


def simulated(config: object, **options: object) -> Result:
    result = library.simulate(config, **options).result
    assert result is not None
    return result


@pytest.fixture
def net(lull: Lull) -> Lull:
    (lull.folder / "net.toml").write_text(NET)
    return lull


def test_the_same_description_gives_the_same_result_to_the_bit():
    one, other = simulated(SMALL), simulated(SMALL)
    assert one.simulated_s == other.simulated_s
    assert np.array_equal(one.links.deep_sleep_s, other.links.deep_sleep_s)
    again = simulated(one.description)
    assert again.simulated_s == one.simulated_s
    assert simulated({**SMALL, "seed": 2}).simulated_s != one.simulated_s


def test_every_message_arrives_and_every_link_is_counted():
    result = simulated(SMALL)
    assert result.messages_delivered == 16 * 20
    assert result.bytes_delivered == 16 * 20 * 4096
    assert len(result.links) == 2 * (16 + 32), "a fat tree of radix 4 has 16 cables to nodes and 32 between switches"
    assert result.packet_latency.count == result.packets == 16 * 20
    assert result.packet_latency.least_s <= result.packet_latency.median_s <= result.packet_latency.p99_s


def test_power_is_the_mean_over_links_of_time_in_each_state():
    result = simulated(SMALL)
    low = result.links.deep_sleep_s / result.simulated_s
    assert result.power.share == pytest.approx(np.mean(1 - 0.9 * low))
    assert result.power.states["deep sleep"] == pytest.approx(low.mean())
    between = result.links.between_switches
    assert result.network_power.share == pytest.approx(np.mean(1 - 0.9 * low[between]))
    assert sum(result.power.states.values()) == pytest.approx(1)


def test_links_in_use_save_less_than_those_that_a_small_job_leaves_alone():
    result = library.simulate({**SMALL, "jobs": [{**SMALL["jobs"][0], "processes": 2}]}).result
    used = result.links.packets > 0
    assert 0 < used.sum() < len(used)
    low = result.links.deep_sleep_s[used] / result.simulated_s
    assert result.used_power.share == pytest.approx(np.mean(1 - 0.9 * low))
    assert result.used_power.saved < result.power.saved


def test_an_active_network_saves_nothing_and_has_no_baseline():
    result = simulated({**SMALL, "power": {}})
    assert (result.power.share, result.active, result.slowdown) == (1, None, None)


def test_the_slowdown_is_against_the_same_with_active_links():
    result = simulated(SMALL)
    active = simulated({**SMALL, "power": {"mode": "active"}})
    assert result.active.simulated_s == active.simulated_s
    assert result.jobs[0].active_run_time_s == active.jobs[0].run_time_s
    assert result.slowdown == result.jobs[0].run_time_s / active.jobs[0].run_time_s - 1
    assert simulated(SMALL, baseline=False).slowdown is None


def test_a_job_that_was_cut_off_has_no_slowdown():
    result = simulated({**SMALL, "end": "5 us", "jobs": [{"messages": 0, "load": 0.2}]})
    assert result.ended_early
    (job,) = result.jobs
    assert (job.finished, job.run_time_s, job.slowdown, result.slowdown) == (False, 5e-6, None, None)


def test_a_progress_that_answers_false_stops_the_simulation():
    told = []
    result = simulated(
        {"topology": {"name": "fat-tree", "radix": 16}, "jobs": [{"messages": 100_000}]},
        progress=lambda state: told.append(state) or False,
    )
    assert result.stopped
    assert told[0].expected == 1024 * 100_000
    assert told[0].now_s > 0


def test_joules_are_there_only_with_watts():
    result = simulated(SMALL)
    assert result.joules is None
    with_watts = simulated({**SMALL, "power": {**SMALL["power"], "link_watts": 2}})
    links = len(result.links)
    assert with_watts.joules == pytest.approx(2 * links * result.power.share * result.simulated_s)


PROGRAM = {
    "name": "sums",
    "pattern": "collective",
    "collective": "allreduce",
    "collective_bytes": "1 KiB",
    "allreduce": "ring",
    "rounds": 5,
    "between": "10 us",
    "per_node": 2,
}


def test_a_program_says_what_its_time_has_gone_on():
    result = simulated({**SMALL, "jobs": [PROGRAM]})
    (job,) = result.jobs
    assert (job.processes, len(job.iteration_ends_s), job.remarks) == (32, 5, ())
    assert job.time.computing_s == pytest.approx(50e-6)
    assert job.time.waiting_s > 0
    assert job.time.computing_s + job.time.sending_s + job.time.waiting_s <= job.run_time_s * (1 + 1e-9)
    assert job.messages == job.memory_messages == 16 * 2 * 31 * 5, "every second link of the ring is memory"
    assert simulated({**SMALL, "jobs": [{"messages": 2}]}).jobs[0].time is None


def test_a_programs_time_is_on_the_screen_and_in_the_record(lull: Lull):
    keys = "\n".join(f"{key} = {json.dumps(value)}" for key, value in PROGRAM.items())
    (lull.folder / "net.toml").write_text(f'[topology]\nname = "fat-tree"\nradix = 4\n[[jobs]]\n{keys}\n')
    done = lull.run("simulate", "net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "messages in memory" in done.stdout
    (job,) = read_simulation(lull.folder / "out").repeats[0].jobs
    assert (job.iterations, job.memory_messages) == (5, 4960)
    assert job.time.computing_s == pytest.approx(50e-6)
    metrics = record.read(lull.folder / "out").repeats[0].metrics
    assert metrics["waiting.sums"].value == job.time.waiting_s
    assert lull.run("report", "out", "--to", "page.html").returncode == 0
    assert "Time by activity" in (lull.folder / "page.html").read_text()


def test_a_mistake_found_by_the_simulator_is_one_line_too():
    with pytest.raises(UsageError, match=r"jobs\.0\.targets"):
        simulated({**SMALL, "jobs": [{"pattern": "incast", "targets": 16}]})
    with pytest.raises(UsageError, match=r"network\.input_buffer"):
        simulated({**SMALL, "network": {"input_buffer": "1 KiB"}})


def test_a_file_that_is_not_there_or_not_toml_is_a_usage_error(tmp_path: Path):
    with pytest.raises(UsageError, match="No such file"):
        simulated(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("[topology\n")
    with pytest.raises(UsageError, match="it is not TOML"):
        simulated(tmp_path / "bad.toml")


def test_one_screen_says_what_was_saved_and_what_it_cost(net: Lull):
    done = net.run("simulate", "net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    for words in (
        "fat-tree, 16 nodes, 96 links: hybrid, hold 1.1 us",
        "halo",
        "slowdown",
        "saved",
        "between switches",
        "99 %",
    ):
        assert words in done.stdout
    assert len(done.stdout.splitlines()) < 40
    assert done.stderr == "lull: record in out\n", "no progress where there is no terminal"


def test_the_record_is_a_run_with_the_simulation_beside(net: Lull):
    net.run("simulate", "net.toml", "--out", "out", "--set", "power.link_watts=1.5")
    out = net.folder / "out"
    assert sorted(path.name for path in out.iterdir()) == [
        "links.parquet",
        "run.json",
        "samples.parquet",
        "simulation.json",
    ]
    run = record.read(out)
    assert record.is_simulated(run)
    (energy,) = run.repeats[0].totals
    assert (energy.domain, energy.kind) == (Domain.WIRE, EnergyKind.SIMULATED)
    assert energy.low_j == energy.joules == energy.high_j
    metrics = run.repeats[0].metrics
    assert metrics["power_saved"].value == pytest.approx(100 * (1 - metrics["power_share"].value))
    assert metrics["packet_latency_median"].value <= metrics["packet_latency_p99"].value
    file = read_simulation(out)
    assert run.repeats[0].wall_s == file.repeats[0].simulated_s
    assert file.description["network"]["packet"] == "4 KiB"
    links = pq.read_table(out / "links.parquet")
    assert links.num_rows == file.links == 96


def test_without_watts_there_is_no_energy_in_the_record(net: Lull):
    net.run("simulate", "net.toml", "--out", "out")
    run = record.read(net.folder / "out")
    assert run.repeats[0].energy == run.repeats[0].totals == []
    assert record.is_simulated(run)


def test_threads_give_the_same_result(net: Lull):
    assert net.run("simulate", "net.toml", "--out", "one").returncode == 0
    assert net.run("simulate", "net.toml", "--out", "three", "--threads", "3").returncode == 0
    one, three = (read_simulation(net.folder / name) for name in ("one", "three"))
    assert "threads" not in one.description
    assert three.description["threads"] == 3
    same = [repeat.model_copy(update={"simulator_cpu_s": 0.0}) for repeat in (one.repeats[0], three.repeats[0])]
    assert same[0] == same[1]
    tables = [pq.read_table(net.folder / name / "links.parquet") for name in ("one", "three")]
    assert tables[0].equals(tables[1])


@pytest.mark.parametrize("threads", ["0", "129"])
def test_a_number_of_threads_that_is_not_possible_is_refused(net: Lull, threads: str):
    refused = net.run("simulate", "net.toml", "--out", "out", "--set", f"threads={threads}")
    assert refused.returncode != 0
    assert "threads" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


def test_simulation_json_repeats_the_simulation(net: Lull):
    net.run("simulate", "net.toml", "--out", "out", "--set", "seed=7")
    again = net.run("simulate", "out/simulation.json", "--out", "again", "--format", "json")
    assert again.returncode == 0, again.stderr
    assert SimulationFile.model_validate_json(again.stdout).repeats[0].simulated_s == (
        read_simulation(net.folder / "out").repeats[0].simulated_s
    )


def test_set_changes_keys(net: Lull):
    done = net.run(
        "simulate", "net.toml", "--out", "out", "--set", "power.mode=fast-wake", "--set", "jobs.0.iterations=2"
    )
    assert done.returncode == 0, done.stderr
    described = read_simulation(net.folder / "out").description
    assert (described["power"]["mode"], described["jobs"][0]["iterations"]) == ("fast-wake", 2)


def test_plots_are_svg_files_that_stand_alone(net: Lull):
    net.run("simulate", "net.toml", "--out", "out", "--plots", "plots")
    for name in ("latency.svg", "link-use.svg", "states.svg"):
        text = (net.folder / "plots" / name).read_text()
        assert text.startswith("<svg ")
        assert 'aria-label="' in text
        assert text.rstrip().endswith("</svg>")


def test_explain_lists_every_key_with_its_default(net: Lull):
    shown = net.run("simulate", "--keys").stdout
    for words in (
        "input_buffer",
        "64 KiB",
        "power.hybrid_hold",
        "not with mode active",
        "savings.N.mode",
        "jobs.N.pattern",
        "as many as fit on the free nodes",
    ):
        assert words in shown


@pytest.mark.parametrize("threads", ["1", "3"])
def test_ctrl_c_ends_it_and_leaves_nothing(lull: Lull, threads: str):
    (lull.folder / "net.toml").write_text(LONG)
    running = lull.start("simulate", "net.toml", "--out", "out", "--threads", threads)
    assert wait_until(lambda: cpu_s(running.pid) > 2), "it does not simulate"
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 130
    assert "interrupted" in told
    assert "Traceback" not in told
    assert [path.name for path in lull.folder.iterdir()] == ["net.toml"]


def test_ctrl_c_in_a_program_raises(lull: Lull):
    program = "import lull, sys; print('begins', flush=True); lull.simulate(sys.argv[1])"
    (lull.folder / "net.toml").write_text(LONG)
    lull.argv = lambda *args: [sys.executable, "-c", program, *args]
    running = lull.start("net.toml")
    assert running.stdout.readline() == "begins\n"
    assert wait_until(lambda: cpu_s(running.pid) > 2), "it does not simulate"
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=TIMEOUT_S)
    assert "KeyboardInterrupt" in told


@pytest.fixture
def two(net: Lull) -> Lull:
    """Two records, the second with other links."""
    net.run("simulate", "net.toml", "--out", "a")
    net.run("simulate", "net.toml", "--out", "b", "--set", "power.mode=deep-sleep")
    return net


def test_two_simulations_compare_without_watts(two: Lull):
    done = two.run("compare", "a", "b")
    assert done.returncode == 0, done.stderr
    for words in (
        "b against a: simulations",
        "power, of active",
        "Speedup",
        "Greenup",
        "power.mode: hybrid → deep-sleep",
    ):
        assert words in done.stdout
    [found] = json.loads(two.run("compare", "a", "b", "--format", "json").stdout)["comparisons"]
    sides = [read_simulation(two.folder / name).repeats[0] for name in ("a", "b")]
    energies = [side.power.share * side.simulated_s for side in sides]
    assert found["speedup"]["value"] == pytest.approx(sides[0].simulated_s / sides[1].simulated_s)
    assert found["greenup"]["value"] == pytest.approx(energies[0] / energies[1])
    assert found["kind"] == "simulated"


def test_two_simulations_with_watts_compare_by_joules(net: Lull):
    net.run("simulate", "net.toml", "--out", "a", "--set", "power.link_watts=2")
    net.run("simulate", "net.toml", "--out", "b", "--set", "power.link_watts=1")
    [found] = json.loads(net.run("compare", "a", "b", "--format", "json").stdout)["comparisons"]
    assert found["greenup"]["value"] == pytest.approx(2)
    assert any(row["name"] == "energy of links" for row in found["figures"])


def test_a_report_shows_simulations_with_their_plots(two: Lull):
    done = two.run("report", "a", "b", "--to", "report.html")
    assert done.returncode == 0, done.stderr
    page = (two.folder / "report.html").read_text()
    for words in ("Everything here is simulated", "Time in power states", "power.mode", "deep-sleep", "halo"):
        assert words in page
    assert page.count("<svg ") == 3
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_simulation_beside_a_measurement_is_not_compared(two: Lull):
    records.write(two.folder / "m", records.run("measured"))
    failed = two.run("compare", "a", "m")
    assert failed.returncode == 1
    assert len(failed.stderr.splitlines()) == 1


def test_a_taken_folder_is_refused_before_anything_runs(net: Lull):
    (net.folder / "out").mkdir()
    (net.folder / "out" / "mine").write_text("x")
    failed = net.run("simulate", "net.toml", "--out", "out")
    assert failed.returncode == 1
    assert "it exists already" in failed.stderr


def test_the_examples_of_the_documentation_run(lull: Lull):
    for name in ("net.toml", "holds.toml"):
        (lull.folder / name).write_text((EXAMPLES / name).read_text())
    done = lull.run("simulate", "net.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "halo" in done.stdout and "background" in done.stdout
    assert len(read_sweep(lull.folder / "holds.toml").points) == 12, "the power configurations of the field"


def test_a_damaged_simulation_is_told(two: Lull):
    (two.folder / "a" / "simulation.json").write_text("{")
    with pytest.raises(LullError, match="is damaged"):
        read_simulation(two.folder / "a")
