"""The application shift: every transfer is verified, its figures are readable, and mistakes give one line."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import Lull
from lull.base.installed import applications
from places import TOP

pytestmark = pytest.mark.in_turn(2)

SHIFT = str(applications()["shift"])
SOURCES = sorted((TOP / "apps" / "shift").glob("*.cpp"))
QUICK = ["--max", "4K", "--iterations", "20", "--verify"]


@pytest.mark.parametrize("op", ["put", "get", "accumulate", "strided"])
@pytest.mark.parametrize("where", [["-n", "2"], ["-n", "4", "--nodes", "2"], ["-n", "3", "--nodes", "3"]])
@pytest.mark.parametrize("to", ["next", "all"])
def test_what_arrives_is_what_was_sent(lull: Lull, op: str, where: list[str], to: str) -> None:
    run = lull.run("run", *where, SHIFT, "--op", op, "--to", to, *QUICK)
    assert run.returncode == 0, run.stderr
    assert "result verified" in run.stdout


def test_json_has_a_line_for_each_size_and_nothing_else(lull: Lull) -> None:
    run = lull.run("run", "-n", "2", SHIFT, "--min", "1K", "--max", "4K", "--seconds", "0.01", "--json")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert [line["bytes"] for line in lines] == [1024, 2048, 4096]
    for line in lines:
        assert line["op"] == "put"
        assert line["pes"] == 2
        assert line["verified"] is None
        assert 0 < line["p10_us"] <= line["latency_us"] <= line["p90_us"]
        assert line["cpu_s"] > 0
        assert line["mb_per_s"] > 0


def test_only_the_first_transfers_when_asked_to(lull: Lull) -> None:
    options = ["--max", "8", "--iterations", "50", "--json", "--verify"]
    counts = []
    for who in ("all", "first"):
        run = lull.run("run", "-n", "3", SHIFT, "--from", who, *options)
        counts.append(json.loads(run.stdout)["transfers"])
        assert json.loads(run.stdout)["verified"] is True
    assert counts == [150, 50]


@pytest.mark.parametrize("gap", ["compute", "sleep"])
def test_a_gap_is_no_part_of_the_latency(lull: Lull, gap: str) -> None:
    options = ["--max", "8", "--iterations", "50", "--idle-gap", "2000", "--gap", gap, "--json"]
    seen = json.loads(lull.run("run", "-n", "2", SHIFT, *options).stdout)
    assert seen["latency_us"] < 1000
    assert seen["cpu_us"] < 1000


def test_one_pe_transfers_to_itself(lull: Lull) -> None:
    run = lull.run("run", "-n", "1", SHIFT, *QUICK)
    assert "result verified" in run.stdout


def test_the_record_has_the_region_and_the_megabytes(lull: Lull) -> None:
    run = lull.run(
        "measure", "--runs", "1", "--out", "rec", "--",
        "lull", "run", "-n", "2", SHIFT, "--min", "1M", "--max", "1M", "--iterations", "100",
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    repeat = json.loads((lull.folder / "rec" / "run.json").read_text())["repeats"][0]
    assert repeat["metrics"]["MB"]["value"] == pytest.approx(2 * 100 * 1.048576)
    assert "transfers" in {region["name"] for region in repeat["regions"]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--op", "push"], "--op: push not in"),
        (["--min", "64K", "--max", "1K"], "the minimum is larger than the maximum"),
        (["--min", "12", "--op", "accumulate"], "multiple of 8"),
        (["--seconds", "1", "--iterations", "1"], "excludes"),
        (["--block", "0"], "--block"),
        (["--max", "4Q"], "--max"),
        (["--fast"], "--fast"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(lull: Lull, words: list[str], line: str) -> None:
    run = lull.run("run", "-n", "2", SHIFT, *words)
    assert run.returncode == 2
    assert len(run.stderr.splitlines()) == 1
    assert run.stderr.startswith("shift: ")
    assert line in run.stderr
    assert run.stdout == ""


def test_too_little_symmetric_memory_says_what_to_raise(lull: Lull) -> None:
    lull.env = {"SHMEM_SYMMETRIC_SIZE": "8M"}
    run = lull.run("run", "-n", "2", SHIFT)
    assert run.returncode == 1
    assert re.fullmatch(r"shift: no room .* SHMEM_SYMMETRIC_SIZE .*\n", run.stderr)


@pytest.mark.skipif(shutil.which("oshc++") is None, reason="no other OpenSHMEM library is installed")
def test_it_builds_with_another_openshmem(tmp_path: Path) -> None:
    command = ["oshc++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra"]
    run = subprocess.run([*command, *map(str, SOURCES)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
