"""Runs a benchmark and compares its figures with their targets (`make bench-NAME`).

The benchmark's output is passed through; then follows a table of its figures, their targets and whether these are met.
With --keep (`make bench-NAME KEEP=1`) the figures become docs/results/NAME.json, with machine, commit and date, from
which the documentation's tables are made; if a benchmark prints `spread`, the minimum and maximum of its figures, that
is kept too. A run on a working tree that differs from its commit is marked there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "docs" / "results"


@dataclass(frozen=True)
class Figure:
    """A figure of a benchmark, and its target."""

    name: str
    wanted: str
    meaning: str

    @property
    def more_is_better(self) -> bool:
        """Whether more is better."""
        return self.wanted.startswith(">")

    def met(self, value: float) -> bool | None:
        """Whether the target is met; None: there is none."""
        sign, _, limit = self.wanted.partition(" ")
        if not limit:
            return None
        return value >= float(limit) if sign == ">=" else value <= float(limit)


def figures_of(benchmark: str) -> list[Figure]:
    """The figures of a benchmark in figures.toml."""
    table = tomllib.loads((HERE / "figures.toml").read_text(encoding="utf-8")).get(benchmark, {})
    return [Figure(name, row["wanted"], row["is"]) for name, row in table.items()]


def benchmarks() -> list[str]:
    """The names of all benchmarks."""
    tables = tomllib.loads((HERE / "figures.toml").read_text(encoding="utf-8"))
    return sorted(name for name in tables if (HERE / f"{name}.py").exists())


def run(python: str, top: Path, benchmark: str, *arguments: str, show: bool) -> dict[str, Any]:
    """The figures that the benchmark of the tree `top` prints at its end."""
    others = [entry for entry in os.environ["PATH"].split(os.pathsep) if entry != str(Path(sys.executable).parent)]
    path = os.pathsep.join([str(Path(python).parent), *others])
    command = [python, str(top / "benchmarks" / f"{benchmark}.py"), *arguments]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path}) as started:
        assert started.stdout is not None
        for line in started.stdout:
            last = line if line.strip() else last
            if show:
                print(line, end="", flush=True)
    if started.returncode != 0:
        raise SystemExit(f"lull: benchmark {benchmark}: it ended with exit code {started.returncode}")
    try:
        found: dict[str, Any] = json.loads(last)
    except ValueError:
        raise SystemExit(f"lull: benchmark {benchmark}: its last line is no JSON: {last.strip()!r}") from None
    return found


def machine() -> dict[str, Any]:
    """The machine on which the figures were taken."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ),
        platform.machine(),
    )
    return {
        "processor": model,
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
    }


def commit(top: Path) -> str:
    """The commit of the working tree, followed by "+" if the tree differs from it."""
    said = subprocess.run(
        ["git", "-C", str(top), "describe", "--always", "--abbrev=12", "--dirty=+", "--exclude=*"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return said.stdout.strip() or "unknown"


def keep(benchmark: str, figures: dict[str, Any]) -> Path:
    """Write the figures where the documentation finds them."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{figures.get('name', benchmark)}.json"
    known = {f.name for f in figures_of(figures.get("figures", benchmark))}
    kept = {
        "benchmark": benchmark,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(HERE.parent),
        "machine": machine(),
        "figures": {name: value for name, value in figures.items() if name in known},
        "spread": {name: values for name, values in figures.get("spread", {}).items() if name in known},
    }
    aside = path.with_suffix(".aside")
    aside.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    aside.replace(path)
    return path


def main() -> None:
    """Run one benchmark and print the results."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("benchmark", choices=benchmarks())
    arguments.add_argument("--keep", action="store_true", help="write docs/results/NAME.json")
    wanted = arguments.parse_args()
    found = run(sys.executable, HERE.parent, wanted.benchmark, show=True)
    print(file=sys.stderr)
    for figure in figures_of(found.get("figures", wanted.benchmark)):
        value = found.get(figure.name)
        met = {None: "", True: "met", False: "MISSED"}[None if value is None else figure.met(value)]
        shown = "-" if value is None else f"{value:.4g}"
        print(f"{figure.name:32} {shown:>10}  {figure.wanted:8} {met}", file=sys.stderr)
    if wanted.keep:
        print(f"kept in {keep(wanted.benchmark, found)}", file=sys.stderr)


if __name__ == "__main__":
    main()
