"""Experiments of each kind, killed at random moments and called again: no run is lost, and none is measured twice.

    python tests/python/support/killed_experiments.py --kills 20 [--seed N] [--only measure]     a part of `make faults`

`CASES` are the kinds. A case is called once undisturbed, which counts its events (`killed_at.py`). Then it is killed at
drawn events until the kills are used up, and called once more. After each kill, the runs on disk must be whole, and
those of before unchanged; at the end, all runs must be there, and the command may have run once more for each kill.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import small_sweep
from bounds import TIMEOUT_S
from conftest import gone
from lull import record
from lull.experiment.state import STATE

Runs = dict[str, str]  # name of a run on disk -> its content

COUNTS = '#!/bin/sh\necho "$1" >> ran\n'
STUDY = """
title = "t"
question = "q"
command = ["{here}/counts", "{side}"]
[factors]
side = ["a", "b"]
[measure]
runs = RUNS
until_ci = 1e-9
max_runs = MOST
warmup = 0
[[compare]]
name = "sides"
baseline = { side = "a" }
candidate = { side = "b" }
"""
SIMULATIONS = """
kind = "simulations"
title = "t"
question = "q"
topologies = ["fat-tree-4608"]
mappings = ["linear"]
[simulation]
seed = 3
[applications.miniamr]
job = { pattern = "miniamr", stages_per_ts = 5, num_vars = 2 }
[[power]]
mode = "deep-sleep"
holds = ["0 Ts", "1 Ts"]
[[power]]
mode = "hybrid"
[[grids]]
name = "single"
processes = [8, 16, 32]
"""


@dataclass(frozen=True)
class Killed:
    """A kind of experiment.

    Args:
        prepare: Writes the files that the command reads, for so many runs.
        args: The command, for so many runs.
        runs: The runs on disk; raises if one is not whole.
        counted: Whether each run adds a line to the file `ran`.
        left: Whether the runs are still on disk when all have ended.
        events: The number of its events, if a call to count them takes too long; then no run may be left at the end.
    """

    prepare: Callable[[Path, int], None]
    args: Callable[[int], list[str]]
    runs: Callable[[Path], Runs]
    counted: bool = True
    left: bool = True
    events: int | None = None


def of_records(*names: str) -> Callable[[Path], Runs]:
    """The runs in these records."""

    def found(folder: Path) -> Runs:
        runs = {}
        for name in names:
            if not (folder / name).exists():
                continue
            repeats = record.read(folder / name).repeats
            assert [repeat.index for repeat in repeats] == list(range(len(repeats)))
            sampled = set(record.read_samples(folder / name).column("repeat").to_pylist())
            assert {repeat.index for repeat in repeats} <= sampled
            runs.update({f"{name}/{repeat.index}": repeat.model_dump_json() for repeat in repeats})
        return runs

    return found


def of_state(out: str) -> Callable[[Path], Runs]:
    """The runs in the state of an experiment."""

    def found(folder: Path) -> Runs:
        state = folder / out / STATE
        return {str(path.relative_to(state)): path.read_text() for path in state.glob("*/[0-9]*.json")}

    return found


def of_default_folder(folder: Path) -> Runs:
    """The runs in the one record whose folder has a default name."""
    folders = sorted((folder / "results").glob("m-*"))
    assert len(folders) <= 1, folders
    found = of_records(*(str(one.relative_to(folder)) for one in folders))(folder)
    return {name.rpartition("/")[2]: content for name, content in found.items()}


def _counting(folder: Path, _: int) -> None:
    (folder / "counts").write_text(COUNTS)
    (folder / "counts").chmod(0o755)


def _in_turn(folder: Path, runs: int) -> None:
    _counting(folder, runs)
    for name in ("a", "b"):
        (folder / f"{name}.toml").write_text(f'command = ["./counts", "{name}"]\n')


def _recorded(folder: Path, runs: int) -> None:
    _counting(folder, runs)
    subprocess.run(_lull(0, "measure", "--runs", "2", "--out", "r", "./counts"), cwd=folder, env=_env(), check=True)
    (folder / "ran").unlink()


def _study(folder: Path, runs: int) -> None:
    _counting(folder, runs)
    (folder / "s.toml").write_text(STUDY.replace("RUNS", str(runs)).replace("MOST", str(runs + 1)))


def _simulations(folder: Path, _: int) -> None:
    (folder / "s.toml").write_text(SIMULATIONS)


def _sweep(folder: Path, runs: int) -> None:
    small_sweep.files(folder, small_sweep.SWEEP.replace("repeats = 2", f"repeats = {runs}"))


CASES = {
    "measure": Killed(
        _counting, lambda runs: ["measure", "--runs", str(runs), "--out", "r", "./counts"], of_records("r")
    ),
    "default-folder": Killed(
        _counting, lambda runs: ["measure", "--runs", str(runs), "--label", "m", "./counts"], of_default_folder
    ),
    "interleave": Killed(
        _in_turn,
        lambda runs: ["measure", "--interleave", "--runs", str(runs), "--out", "o", "a.toml", "b.toml"],
        of_records("o/a", "o/b"),
    ),
    "append": Killed(
        _recorded, lambda runs: ["measure", "--runs", str(runs), "--append", "r", "./counts"], of_records("r")
    ),
    "advise": Killed(
        _counting,
        lambda runs: ["advise", "--on", "nw-ice", "--runs", str(runs), "--out", "o", "./counts"],
        of_records("o/present"),
    ),
    "study": Killed(_study, lambda _: ["study", "./s.toml", "--out", "o"], of_state("o")),
    "simulations": Killed(
        _simulations,
        lambda _: ["study", "./s.toml", "--out", "o", "--workers", "1"],
        of_state("o"),
        counted=False,
    ),
    "sweep": Killed(
        _sweep,
        lambda _: ["simulate", "--sweep", "sweep.toml", "--out", "o", "--workers", "1"],
        of_state("o"),
        counted=False,
    ),
    "calibrate": Killed(
        lambda folder, _: None,
        lambda _: ["calibrate", "--quick"],
        of_state(f"cache/lull/calibration/{socket.gethostname()}"),
        counted=False,
        left=False,
        events=75,
    ),
}


def _env() -> dict[str, str]:
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    return {**inherited, "COLUMNS": "200", "LULL_METER_SOURCES": "estimate,net"}


def _lull(at: int, *args: str) -> list[str]:
    return [sys.executable, str(Path(__file__).with_name("killed_at.py")), str(at), *args]


def _call(case: Killed, folder: Path, runs: int, at: int) -> subprocess.CompletedProcess[str]:
    home = {"XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config"), "MARK": str(folder)}
    return subprocess.run(
        _lull(at, *case.args(runs)),
        cwd=folder,
        env={**_env(), **home},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=10 * TIMEOUT_S,
        check=False,
    )


def _undisturbed(case: Killed, folder: Path, runs: int) -> tuple[int, set[str]]:
    """The number of events of a call that is not killed, and the names of its runs."""
    folder.mkdir()
    case.prepare(folder, runs)
    done = _call(case, folder, runs, 0)
    assert done.returncode == 0, done.stderr
    return int((folder / "events").read_text()), set(case.runs(folder))


def kill_and_resume(case: Killed, into: Path, *, runs: int, kills: int, seed: int) -> None:
    """Kill a case so many times, and check that nothing is lost or doubled.

    Raises:
        AssertionError: Something is.
    """
    chance = random.Random(seed)
    events, expected = (case.events, set()) if case.events else _undisturbed(case, into / "undisturbed", runs)
    folder = into / "killed"
    folder.mkdir()
    case.prepare(folder, runs)
    before = case.runs(folder)
    at_first = len(before)
    for number in range(kills):
        at = chance.randint(1, max(1, events // kills))
        killed = _call(case, folder, runs, at)
        assert killed.returncode == -9, f"kill {number + 1} at event {at}: {killed.returncode}, {killed.stderr}"
        assert gone(str(folder))
        now = case.runs(folder)
        assert before.items() <= now.items(), f"kill {number + 1} at event {at}: a run is lost or measured again"
        before = now
    done = _call(case, folder, runs, 0)
    assert done.returncode == 0, done.stderr
    now = case.runs(folder)
    assert before.items() <= now.items() or not case.left, "a run is lost or measured again"
    assert now.keys() == expected
    if case.counted:
        ran = len((folder / "ran").read_text().splitlines())
        assert len(now) - at_first <= ran <= len(now) - at_first + kills


def main() -> int:
    """Kill all cases, or one."""
    options = argparse.ArgumentParser()
    options.add_argument("--kills", type=int, default=20)
    options.add_argument("--runs", type=int, default=50)
    options.add_argument("--seed", type=int, default=time.localtime().tm_yday * 1000)
    options.add_argument("--only", choices=CASES)
    asked = options.parse_args()
    wrong = 0
    for name, case in CASES.items():
        if asked.only not in {None, name}:
            continue
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="lull-killed-") as into:
            try:
                kill_and_resume(case, Path(into), runs=asked.runs, kills=asked.kills, seed=asked.seed)
                words = "nothing lost, nothing doubled"
            except AssertionError as error:
                words, wrong = f"WRONG: {error}", wrong + 1
        print(f"{name}, {asked.kills} kills, seed {asked.seed}: {words}, {time.monotonic() - begin:.0f} s", flush=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
