"""`lull simulate --sweep`: the matrix, its points, resuming, interrupting, and the table at the end."""

from __future__ import annotations

import csv
import io
import json
import signal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bounds import TIMEOUT_S
from conftest import Lull, gone, wait_until
from lull import record
from lull.base.errors import UsageError
from lull.simulation.account import read_simulation
from lull.simulation.sweep import in_words, read_sweep
from small_sweep import NET, POINTS, files


@pytest.fixture
def sweep(lull: Lull) -> Lull:
    files(lull.folder)
    return lull


def stamps(out: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in out.rglob("run.json")}


def test_keys_that_mean_nothing_at_a_value_are_left_out_and_equal_points_are_one(tmp_path):
    found = read_sweep(files(tmp_path))
    assert [point.name for point in found.points] == POINTS
    assert {point.active for point in found.points} == {"mode-active"}


def test_the_active_points_that_slowdowns_need_are_added(tmp_path):
    matrix = '[matrix]\n"power.mode" = ["deep-sleep"]\n"jobs.0.load" = [0.1, 0.2]\n'
    found = read_sweep(files(tmp_path, 'base = "net.toml"\n' + matrix))
    assert [(point.name, point.active) for point in found.points] == [
        ("mode-deep-sleep.load-0_1", "mode-active.load-0_1"),
        ("mode-deep-sleep.load-0_2", "mode-active.load-0_2"),
        ("mode-active.load-0_1", "mode-active.load-0_1"),
        ("mode-active.load-0_2", "mode-active.load-0_2"),
    ]
    assert len(read_sweep(tmp_path / "sweep.toml", baseline=False).points) == 2


def test_keys_that_follow_one_left_out_are_left_out_too(tmp_path):
    job = '[[base.jobs]]\niterations = 2\ncompute = "1 us"\narrivals = "closed"\n'
    base = '[base.topology]\nname = "fat-tree"\nradix = 4\n' + job
    text = base + '[matrix]\n"jobs.0.pattern" = ["uniform", "collective"]\n'
    found = read_sweep(files(tmp_path, text))
    assert [point.name for point in found.points] == ["pattern-uniform", "pattern-collective"]
    assert "arrivals" not in found.points[1].description.content["jobs"][0]


def test_the_base_may_be_inline_and_the_matrix_nested(tmp_path):
    base = '[base.topology]\nname = "fat-tree"\nradix = 4\n[[base.jobs]]\nmessages = 1\n'
    text = base + "[matrix.jobs.0]\nload = [0.1, 0.2]\n"
    assert [point.name for point in read_sweep(files(tmp_path, text)).points] == ["load-0_1", "load-0_2"]


def test_a_value_may_be_a_whole_table(tmp_path):
    values = '[{name = "fat-tree", radix = 4}, {name = "torus", dimensions = [2, 3]}]'
    text = f'base = "net.toml"\n[matrix]\ntopology = {values}\n'
    found = read_sweep(files(tmp_path, text))
    assert [point.name for point in found.points] == ["topology-fat-tree_radix_4", "topology-torus_dimensions_2_x_3"]
    assert in_words({"preset": "fat-tree-4608"}) == "fat-tree-4608"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[matrix]\nseed = [1]\n", "base is missing"),
        ('base = "none.toml"\n[matrix]\nseed = [1]\n', "No such file"),
        ('base = "net.toml"\n', "matrix is missing"),
        ('base = "net.toml"\n[matrix]\nseed = 1\n', "matrix.seed is 1; it must be a list of values"),
        ('base = "net.toml"\n[matrix]\nseed = [1, 1]\n', "matrix.seed has a value twice"),
        ('base = "net.toml"\nrepeat = 1\n[matrix]\nseed = [1]\n', "repeat is not a key here; did you mean repeats?"),
        ('base = "net.toml"\nrepeats = 0\n[matrix]\nseed = [1]\n', "repeats is 0"),
        ('base = "net.toml"\n[matrix]\n"jobs.0.load" = [0.5, 2]\n', "at jobs.0.load 2: jobs.0.load is 2"),
        ('base = "net.toml"\n[matrix]\n"jobs.1.load" = [0.5]\n', "jobs has no number 1"),
        ('base = "net.toml"\n[matrix]\n"power.mod" = ["active"]\n', "power.mod is not a key here; did you mean mode?"),
        ('base = "net.toml"\n[matrix]\nseed = [1]\n[[exclude]]\nsed = 1\n', "exclude.0.sed is not a key of the matrix"),
        ('base = "net.toml"\n[matrix]\nseed = [1]\n[[exclude]]\nseed = 2\n', "which the matrix does not have"),
        ('base = "net.toml"\n[matrix]\nseed = [1]\n[[exclude]]\nseed = 1\n', "every point is excluded"),
        (
            'base = "net.toml"\n[matrix]\n"jobs.0.processes" = [8, 17]\n',
            "jobs.0.processes is 17, with 16 of 16 nodes free",
        ),
    ],
)
def test_a_mistake_in_a_sweep_is_one_line(tmp_path, text, words):
    with pytest.raises(UsageError) as caught:
        read_sweep(files(tmp_path, text))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_point_has_a_record_and_the_table_says_what_was_saved(sweep: Lull):
    done = sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--workers", "2", "--plots", "plots")
    assert done.returncode == 0, done.stderr
    out = sweep.folder / "out"
    assert sorted(path.name for path in out.iterdir() if path.is_dir() and path.name != ".state") == sorted(POINTS)
    run = record.read(out / POINTS[1])
    assert [repeat.index for repeat in run.repeats] == [0, 1]
    assert run.factors == {"power.mode": "deep-sleep", "power.hold": "0 Ts"}
    file = read_simulation(out / POINTS[1])
    assert [one.seed for one in file.repeats] == [1, 2]
    assert pq.read_table(out / POINTS[1] / "links.parquet").num_rows == 2 * file.links
    active = read_simulation(out / POINTS[0])
    for one, other in zip(file.repeats, active.repeats, strict=True):
        assert one.slowdown == one.jobs[0].run_time_s / other.jobs[0].run_time_s - 1
    rows = list(csv.DictReader(io.StringIO((out / "sweep.csv").read_text())))
    assert [row["point"] for row in rows] == POINTS
    saved = float(rows[1]["power_saved_percent"])
    assert float(rows[1]["power_saved_percent_low"]) <= saved <= float(rows[1]["power_saved_percent_high"])
    assert saved == pytest.approx(sum(100 * one.power.saved for one in file.repeats) / 2)
    assert "deep-sleep" in done.stdout and "slowdown" in done.stdout
    assert (out / "report.html").stat().st_size > 0
    assert "Power saved and slowdown" in (sweep.folder / "plots" / "hold.svg").read_text()


def test_a_sweep_gives_what_single_simulations_give(sweep: Lull):
    sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    sweep.run("simulate", "net.toml", "--out", "one", "--set", "power.mode=hybrid", "--set", "power.hold=1 Ts")
    one = read_simulation(sweep.folder / "one").repeats[0]
    same = read_simulation(sweep.folder / "out" / "mode-hybrid.hold-1_Ts").repeats[0]
    assert one.model_copy(update={"simulator_cpu_s": 0}) == same.model_copy(update={"simulator_cpu_s": 0})


def test_a_complete_sweep_is_not_run_again_unless_fresh(sweep: Lull):
    first = sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    before = stamps(sweep.folder / "out")
    again = sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    assert "is complete" in again.stderr
    assert again.stdout == first.stdout
    assert stamps(sweep.folder / "out") == before
    assert sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--fresh").returncode == 0
    assert stamps(sweep.folder / "out") != before


def test_a_changed_sweep_is_moved_aside_not_mixed(sweep: Lull):
    sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    changed = sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--set", "jobs.0.load=0.3")
    assert changed.returncode == 0
    assert "its description has changed" in changed.stderr
    assert read_simulation(sweep.folder / "out-1" / POINTS[0]).description["jobs"][0]["load"] == 0.2
    assert read_simulation(sweep.folder / "out" / POINTS[0]).description["jobs"][0]["load"] == 0.3


def test_json_has_a_row_for_each_point(sweep: Lull):
    done = sweep.run("simulate", "--sweep", "sweep.toml", "--out", "out", "--format", "json")
    rows = json.loads(done.stdout)
    assert [row["point"] for row in rows] == POINTS
    assert rows[0]["figures"]["power_saved_percent"]["value"] == pytest.approx(0)


def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process(lull: Lull):
    files(
        lull.folder,
        'base = "net.toml"\n[matrix]\n"jobs.0.messages" = [10, 1000000, 1000001]\n',
        NET.replace("radix = 4", "radix = 16"),
    )
    lull.env["MARK"] = str(lull.folder)
    running = lull.start("simulate", "--sweep", "sweep.toml", "--out", "out", "--workers", "2")
    kept = lull.folder / "out" / ".state" / "messages-10" / "000.json"
    assert wait_until(kept.exists)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 130
    assert "the same command continues it" in told
    assert "Traceback" not in told
    assert gone(str(lull.folder))
    state = lull.folder / "out" / ".state"
    assert sorted(str(p.relative_to(state)) for p in state.rglob("*") if p.is_file()) == [
        "conditions.json", "messages-10/000.json", "messages-10/000.parquet",
    ]  # fmt: skip


def test_a_killed_sweep_leaves_no_process_and_continues(lull: Lull):
    files(lull.folder, 'base = "net.toml"\n[matrix]\n"jobs.0.messages" = [10, 20, 20000]\n')
    lull.env["MARK"] = str(lull.folder)
    running = lull.start("simulate", "--sweep", "sweep.toml", "--out", "out", "--workers", "1")
    kept = lull.folder / "out" / ".state" / "messages-10" / "000.json"
    assert wait_until(kept.exists, every_s=0.005)
    running.kill()
    running.communicate(timeout=TIMEOUT_S)
    assert gone(str(lull.folder))
    before = kept.stat().st_mtime_ns
    done = lull.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert kept.stat().st_mtime_ns == before, "what was finished is not simulated again"
    assert {path.parent.name for path in (lull.folder / "out").glob("*/run.json")} == {
        "messages-10", "messages-20", "messages-20000",
    }  # fmt: skip


def test_a_failing_simulation_ends_the_sweep_with_one_line(lull: Lull):
    files(lull.folder, 'base = "net.toml"\n[matrix]\n"network.input_buffer" = ["64 KiB", "1 KiB"]\n')
    failed = lull.run("simulate", "--sweep", "sweep.toml", "--out", "out")
    assert failed.returncode == 1
    assert "network.input_buffer" in failed.stderr.splitlines()[-1]
    assert "Traceback" not in failed.stderr
