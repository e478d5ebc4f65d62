"""Regions and metrics out of Fortran and Python, as the guide shows them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lull as lull_package
from conftest import Lull
from lull import installed, record

EXAMPLES = Path(__file__).parents[2] / "docs" / "how-to" / "examples"
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
  call lull_metric("m", 2.5d0)
  call lull_region_flush(code)
  print *, code
end program codes
"""
    )
    done = lull.run("measure", "--out", "r", "--", str(compiled(lull.folder, program)))
    assert done.stdout.split() == ["0", "T", "0", "T", "0"]
    [repeat] = record.read(lull.folder / "r").repeats
    assert [region.name for region in repeat.regions] == ["padded"]
    assert (repeat.metrics["m"].value, repeat.metrics["m"].unit) == (2.5, "")


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
        lull_package.metric("m", 1)


def test_mistakes_in_a_python_program_are_raised() -> None:
    with pytest.raises(ValueError, match="empty"), lull_package.region(""):
        pass
    with pytest.raises(ValueError, match="not a number"):
        lull_package.metric("m", float("nan"))
    with pytest.raises(ZeroDivisionError), lull_package.region("r"):
        raise ZeroDivisionError


def test_each_rank_of_a_job_has_its_share_of_the_cpu_time(lull: Lull) -> None:
    lull.env["LULL_NODE_PATIENCE_S"] = "5"
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
