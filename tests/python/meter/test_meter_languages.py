"""Regions and metrics from Fortran and Python, as in the guide."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lull as lull_package
from conftest import Lull
from lull import record
from lull.base import installed
from places import EXAMPLES

PREFIX = installed.package_folder().parents[2].parent


def pkg_config(*options: str) -> list[str]:
    env = {"PKG_CONFIG_PATH": str(PREFIX / "lib" / "pkgconfig"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["pkg-config", *options, "lull-meter"], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


def compiled(folder: Path, program: Path, *flags: str) -> Path:
    [headers] = pkg_config("--variable=includedir")
    made = folder / program.stem
    source = [f"{headers}/lull/lull_meter.f90", str(program)]
    subprocess.run(
        ["gfortran", "-O2", "-Wall", "-Werror", *flags, "-o", str(made), *source, *pkg_config("--libs")],
        cwd=folder,
        check=True,
    )
    return made


needs_gfortran = pytest.mark.skipif(shutil.which("gfortran") is None, reason="no gfortran")


@needs_gfortran
def test_the_fortran_example_has_its_regions_and_metric_in_the_record(lull: Lull) -> None:
    program = compiled(lull.folder, EXAMPLES / "heat.f90", "-std=f2008", "-pedantic")
    done = lull.run("measure", "--out", "r", "--", str(program))
    assert done.returncode == 0, done.stderr
    [repeat] = record.read(lull.folder / "r").repeats
    assert [region.name for region in repeat.regions] == ["start", "steps"]
    assert repeat.metrics["cells"].value == 1500**2 * 200
    assert repeat.regions[1].cpu_s > repeat.regions[0].cpu_s > 0  # whatever else runs on this machine


@needs_gfortran
def test_blanks_are_no_part_of_a_fortran_name_and_codes_come_back(lull: Lull) -> None:
    program = lull.folder / "codes.f90"
    program.write_text(
        """
program codes
  use lull_meter
  implicit none
  character(len=20) :: name = "padded"
  integer :: code
  call lull_region_begin(name, code)
  print *, code
  call lull_region_end("other", code)
  print *, code == lull_meter_not_innermost
  call lull_region_end("padded", code)
  print *, code
  call lull_region_begin("  ", code)
  print *, code == lull_meter_bad_name
  call lull_metric_mean("m", 2.5d0)
  call lull_metric_max("m", 2.5d0, code=code)
  print *, code == lull_meter_conflict
  call lull_region_flush(code)
  print *, code
end program codes
"""
    )
    done = lull.run("measure", "--out", "r", "--", str(compiled(lull.folder, program)))
    assert done.stdout.split() == ["0", "T", "0", "T", "T", "0"]
    [repeat] = record.read(lull.folder / "r").repeats
    assert [region.name for region in repeat.regions] == ["padded"]
    metric = repeat.metrics["m"]
    assert (metric.value, metric.unit, metric.combination) == (2.5, "", "mean")


def test_the_python_example_has_its_regions_and_metric_in_the_record(lull: Lull) -> None:
    done = lull.run("measure", "--out", "r", "--", sys.executable, str(EXAMPLES / "words.py"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("first ")
    [repeat] = record.read(lull.folder / "r").repeats
    assert [region.name for region in repeat.regions] == ["make", "sort"]
    assert repeat.metrics["sorted"].value == 300_000
    [share] = repeat.regions[0].shares
    assert (share.share, share.pe) == (1.0, None)
    assert share.cpu_s == repeat.regions[0].cpu_s > 0


def test_without_a_measurement_a_program_runs_as_it_would() -> None:
    with lull_package.region("outer"), lull_package.region("inner"):
        lull_package.metric_sum("m", 1)


def test_mistakes_in_a_python_program_are_raised() -> None:
    with pytest.raises(ValueError, match="empty"), lull_package.region(""):
        pass
    with pytest.raises(ValueError, match="not a number"):
        lull_package.metric_max("m", float("nan"))
    with pytest.raises(ZeroDivisionError), lull_package.region("r"):
        raise ZeroDivisionError


def test_each_metric_of_a_job_combines_over_its_ranks_as_it_says(lull: Lull) -> None:
    lull.env["LULL_NODE_TIMEOUT_S"] = "60"
    program = lull.folder / "metrics.py"
    program.write_text(
        "import os, lull\n"
        "rank = int(os.environ['PMIX_RANK'])\n"
        "lull.metric_sum('updates', 10 + rank, '1')\n"
        "lull.metric_mean('latency', 2.0 + rank, 'us')\n"
        "lull.metric_min('fastest', 5 + rank, 's')\n"
        "lull.metric_max('slowest', 5 + rank, 's')\n"
        "lull.metric_max('size', 5, 'KiB' if rank else 'MiB')\n"
        "try: lull.metric_mean('updates', 1, '1')\n"
        "except ValueError: pass\n"
    )
    done = lull.run("run", "-n", "2", *lull.argv("measure", "--out", "r", "--", sys.executable, str(program)))
    assert done.returncode == 0, done.stderr
    metrics = record.read(lull.folder / "r").repeats[0].metrics
    found = {name: (metric.value, metric.processes) for name, metric in metrics.items()}
    assert found == {"updates": (21, 2), "latency": (2.5, 2), "fastest": (5, 2), "slowest": (6, 2)}
    assert "metric size is left out" in done.stderr


def test_each_rank_of_a_job_has_its_share_of_the_cpu_time(lull: Lull) -> None:
    program = lull.folder / "busy.py"
    program.write_text(
        "import os, time, lull\n"
        "with lull.region('work'):\n"
        "    end = time.process_time() + 0.1 * (1 + 2 * int(os.environ['PMIX_RANK']))\n"
        "    while time.process_time() < end: pass\n"
    )
    done = lull.run("run", "-n", "2", *lull.argv("measure", "--out", "r", "--", sys.executable, str(program)))
    assert done.returncode == 0, done.stderr
    [region] = record.read(lull.folder / "r").repeats[0].regions
    assert region.pes == 2
    assert [share.pe for share in sorted(region.shares, key=lambda share: share.share)] == [0, 1]
    assert sum(share.share for share in region.shares) == pytest.approx(1)
    assert sorted(share.share for share in region.shares)[0] == pytest.approx(0.25, abs=0.08)


def test_who_only_reports_regions_links_no_energy_source() -> None:
    [folder] = pkg_config("--variable=libdir")
    library = (Path(folder) / "liblull-meter.so").read_bytes()
    for mark in (b"class/powercap", b"intel-rapl", b"nvmlDeviceGetTotalEnergyConsumption"):
        assert mark not in library


POOL = """
import multiprocessing, os, sys, time
import lull

def work(number):
    with lull.region("work"):
        time.sleep(0.01)

if __name__ == "__main__":
    how = sys.argv[1]
    with lull.region("main"):
        if how == "_exit":
            if os.fork() == 0:
                work(0)
                os._exit(0)
            os.wait()
        else:
            with multiprocessing.get_context(how).Pool(2) as pool:
                pool.map(work, range(4))
"""


@pytest.mark.parametrize("how", ["fork", "spawn", "forkserver"])
def test_regions_of_pool_workers_that_are_terminated_count(lull: Lull, how: str) -> None:
    (lull.folder / "pool.py").write_text(POOL)
    done = lull.run("measure", "--out", "r", sys.executable, "pool.py", how)
    [repeat] = record.read(lull.folder / "r").repeats
    assert repeat.exit_code == 0, done.stderr
    work = next(region for region in repeat.regions if region.name == "work")
    assert work.pes >= 1
    assert repeat.visits_missing == 0 or "to regions missing" in done.stderr
    assert any(region.name == "main" for region in repeat.regions)


def test_regions_that_no_account_holds_are_said_to_be_missing(lull: Lull) -> None:
    (lull.folder / "pool.py").write_text(POOL)
    done = lull.run("measure", "--out", "r", sys.executable, "pool.py", "_exit")
    assert "lull: 1 visit to regions missing, of 1 process that ended without exit handlers" in done.stderr
    [repeat] = record.read(lull.folder / "r").repeats
    assert repeat.visits_missing == 1
    assert [region.name for region in repeat.regions] == ["main"]
