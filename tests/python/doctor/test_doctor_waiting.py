"""What `lull doctor` says of the waiting of MPI programs: the library of `mpirun`, and its settings."""

from pathlib import Path

import pytest

from lull.doctor import mpi
from lull.doctor.finding import Finding, Machine
from lull.doctor.mpi_waiting import SETTINGS, SOURCE, library_of
from places import TOP

SAYS = {
    "Open MPI 4.1.4": "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/",
    "MPICH 5.0.2": "HYDRA build details:\n    Version:                                 5.0.2\n    Release Date: Fri",
    "Intel MPI 2021.18.1": "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)",
}


def findings(folder: Path, said: str, **environment: str) -> dict[str, Finding]:
    """Those of a machine with only this mpirun."""
    (folder / "bin").mkdir(exist_ok=True)
    launcher = folder / "bin" / "mpirun"
    launcher.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{said}\nEND\n")
    launcher.chmod(0o755)
    home = folder / "home"
    machine = Machine(environment={"PATH": str(launcher.parent), "HOME": str(home), **environment})
    return {one.what: one for one in mpi.look(machine)}


@pytest.mark.parametrize("name", SAYS)
def test_the_library_of_the_launcher_is_named_with_what_lull_can_do(tmp_path: Path, name: str) -> None:
    waiting = findings(tmp_path, SAYS[name])["waiting"]
    assert waiting.state == "works"
    assert waiting.found.startswith(f"{name}: ranks can sleep")


@pytest.mark.parametrize(("said", "state"), [("mpirun (Open MPI) 3.1", "missing"), ("me", "limited")])
def test_a_library_whose_loop_lull_does_not_know_is_told(tmp_path: Path, said: str, state: str) -> None:
    waiting = findings(tmp_path, said)["waiting"]
    assert waiting.state == state and waiting.fix


def test_settings_that_are_not_in_force_are_not_told(tmp_path: Path) -> None:
    off = {"OMPI_MCA_mpi_yield_when_idle": "0", "I_MPI_WAIT_MODE": "disable", "I_MPI_SPIN_COUNT": "10"}
    assert not {row.variable for row in SETTINGS} & set(findings(tmp_path, SAYS["Open MPI 4.1.4"], **off))


def test_a_setting_is_told_with_its_cost_and_where_the_figures_are_from(tmp_path: Path) -> None:
    found = findings(tmp_path, SAYS["MPICH 5.0.2"], MPIR_CVAR_ENABLE_HEAVY_YIELD="1")["MPIR_CVAR_ENABLE_HEAVY_YIELD"]
    assert found.state == "limited" and found.fix
    assert found.found.startswith("=1: ") and "100 times as long" in found.found and SOURCE in found.found


def test_a_setting_of_another_library_is_off(tmp_path: Path) -> None:
    found = findings(tmp_path, SAYS["Open MPI 4.1.4"], I_MPI_WAIT_MODE="1")["I_MPI_WAIT_MODE"]
    assert found.state == "off"
    assert found.found.startswith("Open MPI 4.1.4 does not read it; Intel MPI: =1: ")


@pytest.mark.parametrize(("value", "state"), [("0", "limited"), ("1", "limited"), ("2", None), ("3", "works")])
def test_the_value_decides(tmp_path: Path, value: str, state: str | None) -> None:
    found = findings(tmp_path, SAYS["Intel MPI 2021.18.1"], I_MPI_THREAD_YIELD=value).get("I_MPI_THREAD_YIELD")
    assert (found and found.state) == state


def test_the_files_of_open_mpi_count_below_the_environment(tmp_path: Path) -> None:
    of_user = tmp_path / "home" / ".openmpi" / "mca-params.conf"
    of_user.parent.mkdir(parents=True)
    of_user.write_text("# mpi_yield_when_idle = 0\nmpi_yield_when_idle = 1  # busy\n")
    variable = "OMPI_MCA_mpi_yield_when_idle"
    assert findings(tmp_path, SAYS["Open MPI 4.1.4"])[variable].found.startswith("=1: ")
    assert variable not in findings(tmp_path, SAYS["Open MPI 4.1.4"], **{variable: "0"})
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "openmpi-mca-params.conf").write_text("mpi_yield_when_idle=1\n")
    of_user.write_text("mpi_yield_when_idle=0\n")
    assert variable not in findings(tmp_path, SAYS["Open MPI 4.1.4"])
    of_user.unlink()
    assert variable in findings(tmp_path, SAYS["Open MPI 4.1.4"])


def test_each_setting_with_figures_is_in_the_documentation() -> None:
    page = (TOP / SOURCE.partition(", ")[2]).read_text(encoding="utf-8")
    assert all(row.variable in page for row in SETTINGS if row.measured)


def test_what_is_no_launcher_has_no_library() -> None:
    assert library_of("mpirun: command not found") is None
