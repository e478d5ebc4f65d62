"""The units of systemd of the collector and of those who send to it: valid, consistent, and with few rights."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lull.commands.site.collect import SOCKET, STORE
from lull.jobs.spool import SPOOL
from places import TOP

UNITS = TOP / "packaging" / "service"
SERVICES = ("lull-ship.service", "lull-collect.service", "lull-archive.service")
TIMERS = ("lull-ship.timer", "lull-archive.timer")
MOST_EXPOSURE = 1.6

analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


@analyze
@pytest.mark.parametrize("name", SERVICES)
def test_the_services_are_hardly_exposed(name: str) -> None:
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", UNITS / name],
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
def test_systemd_accepts_the_units_of_the_collector(tmp_path: Path) -> None:
    for name in (*SERVICES, *TIMERS):
        (tmp_path / name).write_text((UNITS / name).read_text().replace("/usr/bin/lull ", f"{sys.executable} "))
    files = [tmp_path / name for name in (*SERVICES, *TIMERS)]
    done = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "lull" in line] == []


def test_the_units_and_the_commands_agree_about_places() -> None:
    ship, collect, archive = ((UNITS / name).read_text() for name in SERVICES)
    assert STORE.parent == SPOOL.parent == Path("/var/lib/lull")
    assert f"RuntimeDirectory={SOCKET.parent.name}\n" in collect
    assert f"StateDirectory={STORE.parent.name}\n" in collect
    assert f"StateDirectory={STORE.parent.name}\n" in archive
    assert f"ReadWritePaths=-{SPOOL}\n" in ship


@pytest.mark.parametrize("name", SERVICES)
def test_who_has_the_network_has_no_devices_and_no_capabilities(name: str) -> None:
    lines = (UNITS / name).read_text().splitlines()
    for line in ("User=lull", "CapabilityBoundingSet=", "NoNewPrivileges=yes", "PrivateDevices=yes"):
        assert line in lines
