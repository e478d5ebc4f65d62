"""The first line of `lull doctor`: on a node, in a container, in a job or on a login node."""

from pathlib import Path

import pytest

from lull.doctor.finding import Machine
from lull.doctor.place import look


def machine(folder: Path, variables: dict[str, str], **programs: str) -> Machine:
    """This machine with only these shell scripts in PATH."""
    for name, script in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return Machine(environment={"PATH": str(folder), **variables})


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        (
            {"SLURM_JOB_ID": "5", "SLURM_ARRAY_JOB_ID": "4", "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_NUM_NODES": "2"},
            "in the job 4_3 of Slurm (2 nodes)",
        ),
        ({"PBS_JOBID": "12.server", "PBS_NUM_NODES": "1"}, "in the job 12 of PBS (1 node)"),
        ({"LSB_JOBID": "77", "LSB_JOBINDEX": "0", "LSB_MCPU_HOSTS": "a 4"}, "in the job 77 of LSF (1 node)"),
        ({"FLUX_ENCLOSING_ID": "ƒD2e73NP"}, "in the job ƒD2e73NP of Flux"),
        (
            {"SLURM_JOB_ID": "5", "SLURM_PROCID": "1", "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2"},
            "in the job 5 of Slurm, as rank 1 of 2",
        ),
        (
            {"APPTAINER_CONTAINER": "/images/tools.sif"},
            "in a container of Apptainer (tools.sif), under no batch system",
        ),
        ({}, "under no batch system"),
    ],
)
def test_the_first_line_says_where_it_runs(tmp_path: Path, variables: dict[str, str], words: str) -> None:
    here = look(machine(tmp_path, variables))[0]
    assert (here.state, here.fix) == ("works", "")
    assert here.found.endswith(words)


@pytest.mark.parametrize(
    ("program", "words"),
    [("sinfo", "Slurm"), ("qstat", "PBS"), ("lsid", "LSF"), ("flux", "Flux")],
)
def test_a_login_node_is_shared_with_others(tmp_path: Path, program: str, words: str) -> None:
    here = look(machine(tmp_path, {}, **{program: "exit 0"}))[0]
    assert here.state == "limited"
    assert f"in no job of {words}, as on a login node" in here.found
    assert "lull doctor" in here.fix


def test_a_launcher_that_gives_no_size_is_told(tmp_path: Path) -> None:
    here = look(machine(tmp_path, {"PBS_JOBID": "12.server", "PALS_RANKID": "1"}))[0]
    assert here.state == "limited"
    assert "PALS_RANKID is set, the number of ranks is not" in here.found


def test_a_batch_system_whose_commands_fail_is_none(tmp_path: Path) -> None:
    assert "under no batch system" in look(machine(tmp_path, {}, sinfo="exit 1"))[0].found


def test_counters_that_docker_hides_are_told(tmp_path: Path) -> None:
    (tmp_path / ".dockerenv").write_text("")
    (tmp_path / "sys/devices/virtual/powercap").mkdir(parents=True)
    here, hidden = look(Machine(tmp_path))
    assert "a copy of a machine" in here.found and "Docker" in here.found
    assert hidden.state == "missing" and "systempaths=unconfined" in hidden.fix
    (tmp_path / "sys/devices/virtual/powercap/intel-rapl").mkdir()
    assert len(look(Machine(tmp_path))) == 1
