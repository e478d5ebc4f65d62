"""Does the one model choose well, and predict well, on this machine? (`make bench-model`)

Calibrates this machine anew, times a decision of each chooser (model/decisions.cpp), and runs the study `choices`, in
which each fixed choice runs in turn with `auto`. No point is used for a fit: the model knows only the machine file and
the runs of `auto` from which the others are predicted, and which are never scored. Prints tables, then one line of
JSON; figures.toml describes its figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
BUILD = TOP / "build" / "venv"
RESULTS = TOP / "build" / "bench-model"
DECISIONS = BUILD / "tests" / "unit" / "model_decisions"
ROUNDS = 9
FIGURES = (  # from choices.json
    "points",
    "regret_mean_pct",
    "regret_worst_pct",
    "regret_seen_mean_pct",
    "noise_pct",
    "product_regret_mean_pct",
    "product_regret_worst_pct",
    "predicted_points",
    "predictions",
    "not_told",
    "time_error_median_pct",
    "energy_error_median_pct",
    "wrong_points",
    "wrong_start_mean_pct",
    "wrong_regret_mean_pct",
)


def calibrate(folder: Path) -> float:
    """Calibrate, make the file that of this host below `folder`, and return the duration in seconds."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as state:
        environment = {**os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": state}
        command = [sys.executable, "-m", "lull", "calibrate"]
        subprocess.run(command, env=environment, check=True, stdout=sys.stderr)
    return time.monotonic() - begin


def decisions() -> dict[str, list[float]]:
    """Nanoseconds per decision by round, for each chooser that decides repeatedly."""
    subprocess.run(["cmake", "--build", BUILD, "--target", "model_decisions"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(
        [DECISIONS, str(ROUNDS)], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    found = {}
    print(f"a decision of each chooser, ns: median, least and most of {ROUNDS} rounds")
    for line in done.stdout.splitlines():
        one = json.loads(line)
        ns = one["ns"]
        print(f"{one['chooser']:<14}{one['when']:<8}{statistics.median(ns):>10.1f}{min(ns):>10.1f}{max(ns):>10.1f}")
        if one["when"] == "again":
            found[one["chooser"]] = ns
    return found


def study(folder: Path, *, quick: bool) -> dict[str, Any]:
    """The figures of the study, run with the machine file below `folder`."""
    out = RESULTS / ("quick" if quick else "study")
    command = [sys.executable, "-m", "lull", "study", "choices", "--fresh", "--out", str(out)]
    subprocess.run(
        [*command, *(["--quick"] if quick else [])],
        env={**os.environ, "XDG_CONFIG_HOME": str(folder)},
        check=True,
    )
    found: dict[str, Any] = json.loads((out / "choices.json").read_text(encoding="utf-8"))["summary"]
    return found


def main() -> None:
    """Print the figures as JSON."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="the quick study: to try whether it runs")
    quick = arguments.parse_args().quick
    RESULTS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seconds = calibrate(folder)
        by_chooser = decisions()
        found = study(folder, quick=quick)
    slowest = max(by_chooser.values(), key=statistics.median)
    result: dict[str, Any] = {key: found[key] for key in FIGURES if found[key] is not None}
    result["calibrate_s"] = seconds
    result["decision_ns"] = statistics.median(slowest)
    rounded: dict[str, Any] = {key: round(value, 3) for key, value in result.items()}
    rounded["spread"] = {"decision_ns": [round(min(slowest), 1), round(max(slowest), 1)]}
    print(json.dumps(rounded))


if __name__ == "__main__":
    main()
