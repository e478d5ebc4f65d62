"""Is a benchmark's figure worse than on another commit? (`make bench-compare BASE=COMMIT NAME=one-sided`)

Builds the other commit in build/base-COMMIT and runs the benchmark of both in turn, ROUNDS times each (default 5), so
that a drift of the machine affects both. If both benchmarks know --rounds, they alternate round by round, because runs
that are closer in time are more alike. Prints for each figure the medians and the ratio, above 1 if this tree is
better, with its minimum and maximum over the rounds; then one line of JSON. A ratio below LEAST (default 0.97) counts
as worse. On a shared machine, look at the spread first.

The physical pages of a library, which the kernel chooses, decide which lines of a cache they share: the same build was
20 % slower as one file than as a copy of it. Each round therefore runs from fresh copies.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from run import HERE, benchmarks, figures_of, run

TOP = HERE.parent


def checkout(base: str) -> Path:
    """Build the other commit."""
    found = subprocess.run(
        ["git", "-C", str(TOP), "rev-parse", "--verify", "--short=12", f"{base}^{{commit}}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if found.returncode != 0:
        raise SystemExit(f"lull: compare with {base}: there is no such commit; BASE=COMMIT names one")
    tree = TOP / "build" / f"base-{found.stdout.strip()}"
    if not tree.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(TOP), str(tree)], check=True)
        subprocess.run(["git", "-C", str(tree), "checkout", "--quiet", found.stdout.strip()], check=True)
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "BASE", "NAME", "KEEP")}
    subprocess.run(["make", "--no-print-directory", "-C", str(tree), "build"], check=True, env=environment)
    return tree


def knows_rounds(tree: Path, name: str) -> bool:
    """Whether the benchmark of that tree has an option for the number of rounds; one without options would just run."""
    return '"--rounds"' in (tree / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")


def renew_files(tree: Path) -> None:
    """Replace each native file of the tree's environment by a copy, which has other pages."""
    environment = tree / ".venv" / "lib"
    packages = [*environment.glob("liblull*.so*"), *environment.glob("python3*/site-packages/lull/**/*")]
    for file in packages:
        if file.is_symlink() or not file.is_file() or not (os.access(file, os.X_OK) or ".so" in file.name):
            continue
        fresh = file.with_name(f".{file.name}.fresh")
        shutil.copy2(file, fresh)
        fresh.replace(file)


def main() -> None:
    """Run both in turn, print the ratios."""
    base, name = os.environ.get("BASE", ""), os.environ.get("NAME", "")
    if not base or name not in benchmarks():
        raise SystemExit(f"lull: make bench-compare BASE=COMMIT NAME=NAME; NAME is one of {', '.join(benchmarks())}")
    rounds, least = int(os.environ.get("ROUNDS", "5")), float(os.environ.get("LEAST", "0.97"))
    there = checkout(base)
    sides = {"base": (str(there / ".venv" / "bin" / "python"), there), "here": (sys.executable, TOP)}
    one_at_a_time = ["--rounds", "1"] if all(knows_rounds(tree, name) for _, tree in sides.values()) else []
    seen: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
    for number in range(rounds):
        order = list(sides) if number % 2 == 0 else list(sides)[::-1]
        for side in order:
            renew_files(sides[side][1])
            print(f"round {number + 1}/{rounds}: {side}", file=sys.stderr)
            seen[side].append(run(*sides[side], name, *one_at_a_time, show=False))
    result: dict[str, Any] = {"benchmark": name, "base": base, "rounds": rounds, "ratios": {}, "worse": []}
    print(f"{'':32} {'base':>10} {'here':>10} {'ratio':>7}  over the rounds")
    for figure in figures_of(name):
        pairs = [
            (b[figure.name], h[figure.name])
            for b, h in zip(seen["base"], seen["here"], strict=True)
            if b.get(figure.name) and h.get(figure.name)
        ]
        if not pairs:
            print(f"{figure.name:32} one of the two does not print it, or 0: no ratio")
            continue
        ratios = [h / b if figure.more_is_better else b / h for b, h in pairs]
        before, after = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = after / before if figure.more_is_better else before / after
        result["ratios"][figure.name] = [round(ratio, 4), round(min(ratios), 4), round(max(ratios), 4)]
        if ratio < least:
            result["worse"].append(figure.name)
        verdict = "WORSE" if ratio < least else ""
        cells = f"{before:>10.4g} {after:>10.4g} {ratio:>7.3f}  {min(ratios):.3f} to {max(ratios):.3f}"
        print(f"{figure.name:32} {cells}  {verdict}")
    print(json.dumps(result))


if __name__ == "__main__":
    main()
