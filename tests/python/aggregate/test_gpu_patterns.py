"""The application gpu_patterns: without a GPU it says so; with a fake driver bytes arrive, with the right calls."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull
from lull.base.installed import applications
from places import PROGRAMS

PATTERNS = str(applications()["gpu_patterns"])
FAKE = PROGRAMS / "fake_cuda.c"
QUICK = ["--payload", "4K", "--fragments", "16", "--iterations", "3", "--json"]
PASSES = 4  # the three, and one to warm up
BESIDE = 3  # synchronisations: after each of two preparations, and before the stream is destroyed


@pytest.fixture(scope="session")
def fake_cuda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("cuda")
    command = [compiler, "-shared", "-fPIC", "-Wall", "-Werror", "-o", str(folder / "libcuda.so.1"), str(FAKE)]
    subprocess.run(command, check=True)
    return folder


@pytest.fixture
def imagined(lull: Lull, fake_cuda: Path) -> Lull:
    lull.env.update(LD_LIBRARY_PATH=str(fake_cuda), FAKE_CUDA_COUNTS=str(lull.folder / "counts.json"))
    return lull


def run_patterns(lull: Lull, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PATTERNS, *words],
        env=lull.environment(),
        cwd=lull.folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def counts(lull: Lull) -> dict[str, int]:
    seen: dict[str, int] = json.loads((lull.folder / "counts.json").read_text())
    return seen


@pytest.mark.parametrize(
    ("word", "transfers", "waits"),
    [("MPQMPQ", 16, 16), ("MPMPQ", 16, 1), ("PQPQ", 16, 16), ("PPQ", 16, 1), ("MMPQ", 1, 1), ("PQ", 1, 1)],
)
def test_a_pattern_makes_its_copies_and_waits(imagined: Lull, word: str, transfers: int, waits: int) -> None:
    run = run_patterns(imagined, "--pattern", word, *QUICK)
    assert run.returncode == 0, run.stderr
    [line] = map(json.loads, run.stdout.splitlines())
    assert line["verified"] is True and line["payloads"] == 3 and line["gpu"] == "Imagined 0"
    assert line["copies_per_s"] * 4096e-9 == pytest.approx(line["gb_per_s"] * transfers)
    assert counts(imagined) == {
        "to_gpu": 2, "to_gpu_async": PASSES * transfers, "from_gpu": 1, "from_gpu_async": 0,
        "synchronised": PASSES * waits + BESIDE, "scheduling": 1, "live": 0,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "flag"), [("spin", 1), ("yield", 2), ("block", 4)])
def test_the_driver_waits_as_asked(imagined: Lull, name: str, flag: int) -> None:
    run = run_patterns(imagined, "--wait", name, "--pattern", "PQ", *QUICK)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["wait"] == name and counts(imagined)["scheduling"] == flag


def test_pageable_memory_is_copied_synchronously(imagined: Lull) -> None:
    run = run_patterns(imagined, "--pageable", "--pattern", "PQPQ", *QUICK)
    assert run.returncode == 0, run.stderr
    [line] = map(json.loads, run.stdout.splitlines())
    assert line["verified"] is True and line["memory"] == "pageable"
    assert counts(imagined)["to_gpu"] == PASSES * 16 + 2 and counts(imagined)["to_gpu_async"] == 0


@pytest.mark.parametrize(("how", "function"), [([], "from_gpu_async"), (["--pageable"], "from_gpu")])
def test_the_gpu_sends_to_the_host(imagined: Lull, how: list[str], function: str) -> None:
    run = run_patterns(imagined, "--direction", "from", *how, "--pattern", "PPQ", *QUICK)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["verified"] is True
    assert counts(imagined)[function] == PASSES * 16 and counts(imagined)["to_gpu_async"] == 0


def test_the_table_has_a_line_for_each_pattern_and_number_of_fragments(imagined: Lull) -> None:
    run = run_patterns(imagined, "--payload", "4K", "--seconds", "0.01")
    assert run.returncode == 0, run.stderr
    lines = [line.split()[:2] for line in run.stdout.splitlines()[2:-1]]
    words = ["MPQMPQ", "MPMPQ", "PQPQ", "PPQ", "MMPQ"]
    assert lines == [[word, n] for n in ("1", "16", "256", "4096") for word in words]
    assert run.stdout.endswith("result verified\n")


def test_bytes_that_do_not_arrive_are_seen(imagined: Lull) -> None:
    imagined.env["FAKE_CUDA_LOSES"] = "1"
    run = run_patterns(imagined, "--pattern", "PPQ", *QUICK)
    assert run.returncode == 1 and json.loads(run.stdout)["verified"] is False


def test_the_record_has_the_region_and_the_payloads(imagined: Lull) -> None:
    run = imagined.run("measure", "--out", "rec", "--", PATTERNS, "--pattern", "PPQ", *QUICK)
    assert run.returncode == 0, run.stderr
    repeat = json.loads((imagined.folder / "rec" / "run.json").read_text())["repeats"][0]
    assert "pattern" in {region["name"] for region in repeat["regions"]}
    assert repeat["metrics"]["payloads"]["value"] == 3
    assert repeat["metrics"]["MB"]["value"] == pytest.approx(3 * 4096e-6)


def test_without_a_gpu_it_says_so(imagined: Lull) -> None:
    imagined.env["FAKE_CUDA_DEVICES"] = "0"
    run = run_patterns(imagined, *QUICK)
    assert run.returncode == 0 and run.stdout == ""
    assert run.stderr.startswith("gpu_patterns: no GPU, nothing measured: libcuda.so.1") and run.stderr.count("\n") == 1


def test_without_a_driver_it_says_so(lull: Lull) -> None:
    lull.env["CUDA_VISIBLE_DEVICES"] = ""  # also where there is a driver
    run = run_patterns(lull, *QUICK)
    assert run.returncode == 0 and run.stdout == ""
    assert run.stderr.startswith("gpu_patterns: no GPU, nothing measured: ") and run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("function", "line"),
    [
        ("cuInit", "cuInit: out of memory (CUDA error 2)"),
        ("cuDevicePrimaryCtxSetFlags_v2", "cuDevicePrimaryCtxSetFlags of GPU 0, Imagined 0: out of memory"),
        ("cuCtxSetCurrent", "cuCtxSetCurrent of GPU 0, Imagined 0: out of memory"),
        ("cuMemAlloc_v2", "cuMemAlloc of 4096 bytes on the GPU: out of memory"),
        ("cuMemAllocHost_v2", "cuMemAllocHost of 4096 bytes, pinned: out of memory"),
        ("cuStreamCreate", "cuStreamCreate: out of memory"),
        ("cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync of 256 bytes: out of memory"),
        ("cuMemcpyDtoH_v2", "cuMemcpyDtoH of 4096 bytes: out of memory"),
        ("cuStreamSynchronize", "cuStreamSynchronize: out of memory"),
    ],
)
def test_what_fails_is_one_line_and_all_is_freed(imagined: Lull, function: str, line: str) -> None:
    imagined.env["FAKE_CUDA_FAILS"] = function
    run = run_patterns(imagined, "--pattern", "PPQ", *QUICK)
    assert run.returncode == 1 and line in run.stderr and run.stderr.count("\n") == 1
    assert counts(imagined)["live"] == 0


def test_a_gpu_that_is_not_there_is_one_line(imagined: Lull) -> None:
    run = run_patterns(imagined, "--device", "3", *QUICK)
    assert run.returncode == 1 and run.stderr == "gpu_patterns: --device 3: there is 1, numbered from 0\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--pattern", "PXQ"], "pattern PXQ: it has the letter X"),
        (["--pattern", "QPQ"], "Q comes before the first P"),
        (["--pattern", "MMPQAMM"], "the GPU has no receiver to signal (A)"),
        (["--pattern", "MPQ", "--pageable"], "M copies into pinned memory, which --pageable does not use"),
        (["--pattern", "MPQ", "--direction", "from"], "M copies what the host sends"),
        (["--payload", "64", "--fragments", "128"], "a fragment would be smaller than a byte"),
        (["--payload", "100", "--fragments", "3"], "the fragments would differ in size"),
        (["--direction", "across"], "--help shows the options"),
    ],
)
def test_mistakes_are_one_line(lull: Lull, words: list[str], line: str) -> None:
    run = run_patterns(lull, *words)
    assert run.returncode == 2
    assert line in run.stderr and run.stderr.count("\n") == 1
