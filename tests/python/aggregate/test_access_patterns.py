"""The application access_patterns: each payload is verified, its figures are readable, bad patterns give one line."""

import json
import shutil
import subprocess

import pytest

from conftest import Lull
from lull.base.installed import applications
from places import TOP

pytestmark = pytest.mark.in_turn(2)

PATTERNS = str(applications()["access_patterns"])
SOURCES = sorted((TOP / "apps" / "access_patterns").glob("*.cpp"))
QUICK = ["--payload", "4K", "--fragments", "1", "16", "512", "--iterations", "3", "--working-set", "32K"]


@pytest.mark.parametrize("where", [["-n", "2"], ["-n", "4", "--nodes", "2"], ["-n", "2", "--nodes", "2"]])
@pytest.mark.parametrize("place", ["contiguous", "scattered"])
def test_what_arrives_is_what_was_sent(lull: Lull, where: list[str], place: str) -> None:
    run = lull.run("run", *where, PATTERNS, "--layout", place, *QUICK)
    assert run.returncode == 0, run.stderr
    assert "result verified" in run.stdout and "WRONG" not in run.stdout


@pytest.mark.parametrize("word", ["PQ", "MPQ", "PPQAMM", "MMPQA", "PQPQA", "MMPPQ", "PPPQ"])
def test_any_pattern_of_the_alphabet_delivers(lull: Lull, word: str) -> None:
    run = lull.run("run", "-n", "2", PATTERNS, "--pattern", word, *QUICK, "--nbi")
    assert run.returncode == 0, run.stderr
    assert "result verified" in run.stdout


def test_json_has_a_line_for_each_pattern_and_number_of_fragments(lull: Lull) -> None:
    words = ["--pattern", "PPQ", "MMPQAMM", "--fragments", "4", "64", "--payload", "8K", "--iterations", "4", "--json"]
    run = lull.run("run", "-n", "2", PATTERNS, "--working-set", "64K", *words)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    assert [(line["pattern"], line["fragments"]) for line in lines] == [
        ("PPQ", 4), ("MMPQAMM", 4), ("PPQ", 64), ("MMPQAMM", 64)
    ]  # fmt: skip
    for line in lines:
        assert (
            line["verified"] is True and line["payload"] == 8192 and line["fragment_bytes"] * line["fragments"] == 8192
        )
        assert 0 < line["p10_us"] <= line["latency_us"] <= line["p90_us"]
        assert line["sender_us"] > 0 and line["sender_cpu_us"] > 0 and line["receiver_cpu_us"] > 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--pattern", "PXQ"],
            "pattern PXQ: it has the letter X; the letters are M (copy), P (put), Q (quiet), A (signal)",
        ),
        (["--pattern", "QPQ"], "Q comes before the first P"),
        (["--pattern", "PP"], "no Q follows the P"),
        (["--pattern", "MMA"], "M is not followed by a P: nothing is sent"),
        (["--pattern", "PQPQPPQ"], "the payload would be sent twice"),
        (["--pattern", "PPQAQ"], "after A the receiver can only copy (M), but A is followed by Q"),
        (["--pattern", "MMPQ", "--layout", "scattered"], "a packed payload arrives packed; append AMM"),
        (["--pattern", "PQ", "--layout", "scattered"], "a single P sends one block"),
        (
            ["--payload", "64", "--fragments", "128"],
            "128 fragments of a payload of 64 bytes: a fragment would be smaller",
        ),
        (["--payload", "100", "--fragments", "3"], "the fragments would differ in size"),
        (["--payload", "lots"], "--help shows the options"),
    ],
)
def test_mistakes_are_one_line(lull: Lull, words: list[str], line: str) -> None:
    run = lull.run("run", "-n", "2", PATTERNS, *words)
    assert run.returncode == 2
    assert line in run.stderr and run.stderr.count("access_patterns: ") == 1


def test_an_odd_number_of_pes_is_refused(lull: Lull) -> None:
    run = lull.run("run", "-n", "3", PATTERNS, *QUICK)
    assert run.returncode == 2 and "start an even number" in run.stderr


def test_buffers_that_the_heap_cannot_hold_are_refused(lull: Lull) -> None:
    lull.env["SHMEM_SYMMETRIC_SIZE"] = "1M"
    run = lull.run("run", "-n", "2", PATTERNS, "--payload", "4M", "--fragments", "1")
    assert run.returncode == 1 and "raise SHMEM_SYMMETRIC_SIZE" in run.stderr


def test_the_record_has_the_region_and_the_figures(lull: Lull) -> None:
    one = ["--pattern", "PPQ", "--payload", "4K", "--fragments", "16", "--iterations", "8", "--working-set", "32K"]
    run = lull.run("measure", "--out", "rec", "--", "lull", "run", "-n", "2", PATTERNS, *one)
    assert run.returncode == 0, run.stderr
    repeat = json.loads((lull.folder / "rec" / "run.json").read_text())["repeats"][0]
    assert "pattern" in {region["name"] for region in repeat["regions"]}
    assert repeat["metrics"]["MB"]["value"] == pytest.approx(repeat["metrics"]["payloads"]["value"] * 4096e-6)


@pytest.mark.parametrize(("how", "coalesced"), [("on", True), ("off", False)])
def test_the_record_says_what_the_runtime_rewrote(lull: Lull, how: str, coalesced: bool) -> None:
    lull.env.update(LULL_TRANSFORM=how, LULL_STATS="1")
    run = lull.run(
        "measure", "--out", "rec", "--", "lull", "run", "-n", "2", "--nodes", "2", PATTERNS, "--pattern", "PPQ", *QUICK
    )
    assert run.returncode == 0, run.stderr
    [job] = json.loads((lull.folder / "rec" / "run.json").read_text())["repeats"][0]["waiting"]
    seen = job["rewritten"]
    assert (seen["coalesced_puts"] > 512) is coalesced and (seen["coalesced_bytes"] > 4096) is coalesced
    assert (0 < seen["messages"] < seen["coalesced_puts"]) is coalesced
    assert ("coalesced into" in run.stderr) is coalesced


@pytest.mark.parametrize(("rdma", "goes"), [("auto", True), ("off", False)])
def test_the_record_says_what_went_by_rdma(lull: Lull, rdma: str, goes: bool) -> None:
    lull.env.update(LULL_RDMA=rdma, LULL_RDMA_BYTES="4K", LULL_STATS="1", UCX_TLS="posix,cma,self")
    lull.env["SHMEM_SYMMETRIC_SIZE"] = "64M"
    one = ["--pattern", "PQ", "--payload", "64K", "--fragments", "1", "--iterations", "8", "--working-set", "512K"]
    run = lull.run("measure", "--out", "rec", "--", "lull", "run", "-n", "2", "--nodes", "2", PATTERNS, *one)
    assert run.returncode == 0, run.stderr
    [job] = json.loads((lull.folder / "rec" / "run.json").read_text())["repeats"][0]["waiting"]
    seen = job["by_rdma"]
    assert (seen is not None) is goes and ("by RDMA: " in run.stderr) is goes
    if seen is not None:
        assert seen["puts"] >= 8 and seen["put_bytes"] >= 8 * 65536 and seen["rings"] == 0


@pytest.mark.skipif(shutil.which("oshc++") is None, reason="no other OpenSHMEM library is installed")
def test_it_builds_with_another_openshmem() -> None:
    command = ["oshc++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", *map(str, SOURCES)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
