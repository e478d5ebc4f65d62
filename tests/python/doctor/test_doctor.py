"""`lull doctor`: on this machine, on copies of others, and with missing parts."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conftest import Lull
from lull.base import installed
from lull.doctor import energy, features, mpi, network, openshmem, parts
from lull.doctor.areas import AREAS, examine
from lull.doctor.finding import Finding, Machine, last_line
from lull.doctor.machine import look as look_at_machine
from places import TESTS

WRITER = TESTS / "fixtures" / "make_sysfs_fixtures.py"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, capture_output=True)
    return folder


def named(findings: list[Finding], what: str) -> Finding:
    return next(one for one in findings if one.what == what)


def without_programs(folder: Path, *programs: tuple[str, str]) -> Machine:
    """This machine with only these shell scripts in PATH."""
    for name, script in programs:
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return Machine(environment={"PATH": str(folder)})


def test_on_this_machine_all_areas_are_looked_at_and_lull_works(lull: Lull) -> None:
    done = lull.run("doctor", "--format", "json")
    assert done.returncode == 0, done.stdout
    areas: dict[str, list[dict[str, Any]]] = json.loads(done.stdout)["areas"]
    assert list(areas) == [name for name, _ in AREAS]
    found = {one["what"]: one for area in areas.values() for one in area}
    assert found["2 PEs on a node"]["state"] == found["2 PEs on 2 nodes"]["state"] == "works"
    assert found["native parts"]["state"] == "works"
    assert found["lull run"]["state"] == found["lull trace"]["state"] == found["lull stage"]["state"] == "works"
    assert done.stdout.index('"here"') < done.stdout.index('"version"')
    assert all(one["state"] == "works" or one["found"] for one in found.values())


def test_the_screen_names_each_finding_with_its_fix(lull: Lull, trees: Path) -> None:
    done = lull.run("doctor", "--sysroot", str(trees / "intel_2s_server"))
    assert done.returncode == 0
    assert "Energy\n" in done.stdout and "powercap" in done.stdout
    assert "2 PEs" not in done.stdout  # a copy is not tried


@pytest.mark.parametrize("name", ["intel_2s_server", "cray_ex", "grace", "vm_nothing", "cpufreq_limit"])
def test_each_source_of_a_copied_machine_is_told(trees: Path, name: str) -> None:
    machine = Machine(trees / name)
    readable = {"intel_2s_server": "powercap", "cray_ex": "pm_counters", "grace": "grace", "vm_nothing": "estimate"}
    findings = energy.look(machine)
    if name in readable:
        assert named(findings, readable[name]).state in ("works", "limited")
    assert named(findings, "frequency").state == ("works" if name == "cpufreq_limit" else "missing")


def test_frequencies_that_cannot_be_lowered_are_told_with_the_fix(trees: Path) -> None:
    closed = named(energy.look(Machine(trees / "cpufreq_shared")), "frequency")
    assert closed.state == "missing" and "share one frequency" in closed.found


@pytest.mark.parametrize(("source", "state"), [("tsc", "works"), ("kvm-clock", "works"), ("hpet", "limited")])
def test_a_slow_clock_is_told(tmp_path: Path, source: str, state: str) -> None:
    folder = tmp_path / "sys/devices/system/clocksource/clocksource0"
    folder.mkdir(parents=True)
    (folder / "current_clocksource").write_text(f"{source}\n")
    assert named(look_at_machine(Machine(tmp_path)), "clock").state == state


def test_launchers_that_are_not_there_are_missing(tmp_path: Path) -> None:
    findings = mpi.look(without_programs(tmp_path))
    assert named(findings, "mpirun").state == named(findings, "srun").state == "missing"
    assert "openmpi" in named(findings, "mpirun").fix


def test_launchers_are_named_by_what_they_say(tmp_path: Path) -> None:
    hydra = ("mpirun", "echo 'HYDRA build details:'; echo '    Version:    4.0.2'")
    machine = without_programs(tmp_path, hydra, ("srun", "echo 'MPI plugin types are...'; echo none; echo pmi2"))
    findings = mpi.look(machine)
    assert "MPICH (Hydra) 4.0.2" in named(findings, "mpirun").found
    assert named(findings, "srun").state == "limited" and "no pmix" in named(findings, "srun").found


def test_a_launcher_that_fails_is_quoted(tmp_path: Path) -> None:
    found = named(mpi.look(without_programs(tmp_path, ("mpirun", "echo broken install >&2; exit 3"))), "mpirun")
    assert found.state == "missing" and "broken install" in found.found


def test_a_native_part_that_is_gone_fails_the_examination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lib/python3/site-packages/lull"
    (folder / "libexec").mkdir(parents=True)
    monkeypatch.setattr(installed, "package_folder", lambda: folder)
    findings = parts.look(Machine())
    gone = named(findings, "lull-launch")
    assert gone.state == "missing" and gone.needed and "install Lull again" in gone.fix
    assert openshmem.look(Machine()) == []
    area = next(area for area in examine(Machine()) if area.name != "Where")
    assert area.name == "Lull" and area.broken


def test_libraries_that_are_lacking_are_named_with_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lib/python3/site-packages/lull"
    (folder / "libexec").mkdir(parents=True)
    (tmp_path / "lib/liblull-shmem.so").write_bytes(b"")
    monkeypatch.setattr(installed, "package_folder", lambda: folder)
    (tmp_path / "bin").mkdir()
    lacking = ("ldd", "echo '\tlibucp.so.0 => not found'; echo '\tlibc.so.6 => /lib/libc.so.6 (0x1)'")
    found = named(parts.look(without_programs(tmp_path / "bin", lacking)), "liblull-shmem.so")
    assert "lacks libucp.so.0" in found.found and found.fix == Machine().system.install_libraries(["libucp.so.0"])


def test_commands_that_do_not_work_are_named_with_what_they_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "_loads", lambda name: not name.startswith("libpmix"))
    machine = without_programs(tmp_path, ("ldconfig", "exit 0"))
    found = features.look(machine)
    run = named(found, "lull run")
    assert run.state == "missing" and "PMIx" in run.found and "pmix" in run.fix
    waiting = named(found, "lull wait")
    assert waiting.state == "limited" and "no MPI library" in waiting.found and "openmpi" in waiting.fix
    hosts = named(found, "lull hosts")
    assert hosts.state == "missing" and "ip, tc" in hosts.found and hosts.fix
    monkeypatch.setattr(features, "_loads", lambda name: not name.startswith("libucp"))
    assert named(features.look(machine), "lull run").state == "limited"


def test_a_native_module_that_cannot_be_loaded_is_told() -> None:
    script = (
        "import sys; sys.modules['lull._core'] = None; sys.argv = ['lull', 'doctor']; import lull.cli; lull.cli.main()"
    )
    done = subprocess.run([sys.executable, "-c", script], check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "native module" in done.stdout and "Traceback" not in done.stderr


def test_hosts_that_cannot_be_made_are_missing_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = network.look(Machine())[0]
    assert found.state == "missing" and "there is no program" in found.found


@pytest.mark.parametrize(
    ("said", "line"), [("a\nb\n\n", "b"), ("", "it said nothing"), ("  one  ", "one")], ids=["last", "none", "one"]
)
def test_of_what_a_program_said_the_last_line_is_told(said: str, line: str) -> None:
    assert last_line(said) == line


def test_a_program_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    code, said = Machine().output_of([str(tmp_path / "none")])
    assert code == 127 and said


def test_a_program_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.doctor.finding.TRY_S", 0.2)
    code, said = Machine().output_of(["sleep", "60"])
    assert code == 124 and "did not end" in said


def test_a_node_with_closed_counters_names_the_service_that_would_read_them() -> None:
    served = SimpleNamespace(readable=False, reason="no service of Lull runs on this node", fix="")
    closed = SimpleNamespace(name="powercap", reason="/sys/class/powercap/energy_uj: Permission denied")
    opened = SimpleNamespace(name="hwmon", reason="")
    [found] = energy.service(cast(Any, served), cast(Any, [closed, opened]))
    assert (found.what, found.state) == ("lull-meterd", "off")
    assert "reads powercap for users" in found.found
    assert "meter-every-job" in found.fix
    assert energy.service(cast(Any, served), cast(Any, [opened])) == []
