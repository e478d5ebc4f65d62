"""The units of systemd in packaging/service: valid, consistent with the program, and with few rights."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lull.base.installed import executable
from places import TOP

UNITS = TOP / "packaging" / "service"
MOST_EXPOSURE = 1.5

analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


@analyze
def test_the_service_is_hardly_exposed() -> None:
    """EAR's daemon has 9.6, GEOPM's 9.6, the exporter of CEEMS 6.8."""
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", UNITS / "lull-meterd.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "nrecognized option" in done.stderr:  # before systemd 250
        pytest.skip("this systemd-analyze cannot examine files")
    found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert found, done.stdout + done.stderr
    assert float(found[1]) <= MOST_EXPOSURE


@analyze
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    for unit in UNITS.glob("lull-meterd*"):
        text = unit.read_text().replace("/usr/lib/lull/python/lull/libexec/lull-meterd", sys.executable)
        (tmp_path / unit.name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", tmp_path / "lull-meterd.service"], capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stderr.splitlines() if "lull" in line]
    assert lines == []


def test_the_units_and_the_program_agree_about_places() -> None:
    help_text = subprocess.run([executable("lull-meterd"), "--help"], capture_output=True, text=True, check=True).stdout
    assert "/run/lull" in help_text
    for unit, name in (("lull-meterd.socket", "meter"), ("lull-meterd-accounts.socket", "accounts")):
        assert f"ListenSequentialPacket=/run/lull/{name}\n" in (UNITS / unit).read_text()
    assert "/var/lib/lull/state.json" in help_text
    assert "StateDirectory=lull\n" in (UNITS / "lull-meterd.service").read_text()


def test_cmake_installs_all_of_it_with_the_paths_of_the_installation(tmp_path: Path) -> None:
    project = f"""
cmake_minimum_required(VERSION 3.22)
project(service NONE)
set(LULL_INSTALL_PACKAGE lib/lull/python/lull)
set(LULL_INSTALL_SHARE share)
include({TOP}/cmake/service.cmake)
"""
    (tmp_path / "CMakeLists.txt").write_text(project)
    build, into = tmp_path / "build", tmp_path / "into"
    options = ["-DLULL_INSTALL_SERVICE=ON", f"-DCMAKE_INSTALL_PREFIX={into}"]
    subprocess.run(["cmake", "-S", tmp_path, "-B", build, *options], check=True, capture_output=True)
    subprocess.run(["cmake", "--install", build, "--component", "service"], check=True, capture_output=True)
    installed = {str(path.relative_to(into)) for path in into.rglob("*") if path.is_file()}
    assert installed == {
        "lib/systemd/system/lull-meterd.service",
        "lib/systemd/system/lull-meterd.socket",
        "lib/systemd/system/lull-meterd-accounts.socket",
        "lib/systemd/system/lull-ship.service",
        "lib/systemd/system/lull-ship.timer",
        "lib/systemd/system/lull-collect.service",
        "lib/systemd/system/lull-archive.service",
        "lib/systemd/system/lull-archive.timer",
        "lib/udev/rules.d/60-lull-meters.rules",
        "lib/sysusers.d/lull.conf",
        "share/lull/plugstack.conf",
        "share/lull/flux/lull",
        "share/lull/pbs/lull_hook.py",
        "share/lull/prometheus/rules.yml",
        "share/lull/grafana/jobs.json",
        "share/lull/grafana/node.json",
        "share/lull/grafana/site.json",
    }
    programs = into / "lib/lull/python/lull/libexec"
    unit = (into / "lib/systemd/system/lull-meterd.service").read_text()
    assert f"ExecStart={programs}/lull-meterd\n" in unit
    collector = (into / "lib/systemd/system/lull-collect.service").read_text()
    assert f"ExecStart={into}/bin/lull collect" in collector
    assert (into / "share/lull/plugstack.conf").read_text().endswith(f"optional {programs}/lull_spank.so\n")
    assert f"\nprogram={programs}/lull-account\n" in (into / "share/lull/flux/lull").read_text()
    assert os.access(into / "share/lull/flux/lull", os.X_OK)
    assert f'PROGRAM = "{programs}/lull-account"\n' in (into / "share/lull/pbs/lull_hook.py").read_text()


def test_the_service_has_neither_root_nor_capabilities_nor_network() -> None:
    lines = (UNITS / "lull-meterd.service").read_text().splitlines()
    for line in (
        "User=lull",
        "CapabilityBoundingSet=",
        "AmbientCapabilities=",
        "NoNewPrivileges=yes",
        "PrivateNetwork=yes",
        "RestrictAddressFamilies=AF_UNIX",
    ):
        assert line in lines
