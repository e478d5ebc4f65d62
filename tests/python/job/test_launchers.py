"""The place of a process in its job, by the environments of real launchers; private names are replaced.

Those of Open MPI, MPICH, Intel MPI, Slurm 22.05 and `lull run` were recorded on a machine of this project, the others
come from public sources that the tests name.
"""

import os
import struct
import time
from pathlib import Path

import pytest

from lull.base.errors import UsageError
from lull.job.launchers import (
    LAUNCHERS,
    Allocation,
    JobRank,
    find_allocation,
    find_place,
    nodes_allocated,
    starts_ranks,
)
from lull.job.launchers.launcher import Launcher
from lull.job.launchers.slurm import expand_counts

Variables = dict[str, str]

OPEN_MPI_4 = {
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_MCA_ess_base_jobid": "1950220289",
    "OMPI_MCA_orte_hnp_uri": "1950220288.0;tcp://192.0.2.2:55507",
    "PMIX_NAMESPACE": "1950220289",
    "PMIX_RANK": "1",
    "PMIX_SERVER_URI2": "1950220288.0;tcp4://127.0.0.1:58025",
}
OPEN_MPI_5 = {
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
    "OMPI_COMM_WORLD_RANK": "1",
    "OMPI_COMM_WORLD_SIZE": "2",
    "OMPI_TOOL_NAME": "mpirun",
    "PMIX_NAMESPACE": "prterun-node-6655@1",
    "PMIX_RANK": "1",
    "PRTE_LAUNCHED": "1",
}
MPICH = {
    "HYDI_CONTROL_FD": "7",
    "MPI_LOCALNRANKS": "2",
    "MPI_LOCALRANKID": "1",
    "PMI_FD": "11",
    "PMI_HOSTNAME": "node",
    "PMI_RANK": "1",
    "PMI_SIZE": "2",
}
INTEL = {
    "I_MPI_HYDRA_UUID": "201a0000-a021-732e-4a61-0600d7ad7800",
    "I_MPI_PIN_MAPPING": "2:0 0,1 1",
    "MPI_LOCALNRANKS": "2",
    "MPI_LOCALRANKID": "1",
    "PMI_FD": "11",
    "PMI_RANK": "1",
    "PMI_SIZE": "2",
}
LULL_RUN = {"PMIX_NAMESPACE": "lull-7081", "PMIX_RANK": "1", "PMI_SIZE": "2", "JSM_JSRUN_PORT": "0"}
# srun -N2 -n3, the last task.
SLURM = {
    "SLURM_CLUSTER_NAME": "lull",
    "SLURM_JOB_ID": "1",
    "SLURM_JOB_NUM_NODES": "2",
    "SLURM_LOCALID": "0",
    "SLURM_NODEID": "1",
    "SLURM_NTASKS": "3",
    "SLURM_PROCID": "2",
    "SLURM_STEP_ID": "0",
    "SLURM_STEP_NUM_NODES": "2",
    "SLURM_STEP_NUM_TASKS": "3",
    "SLURM_STEP_TASKS_PER_NODE": "2,1",
}
SLURM_PMIX = {**SLURM, "PMIX_NAMESPACE": "slurm.pmix.1.0", "PMIX_RANK": "2"}
SLURM_PMI2 = {**SLURM, "PMI_FD": "10", "PMI_JOBID": "1.0", "PMI_RANK": "2", "PMI_SIZE": "3"}
# srun -N1 -n1 : -N1 -n2, the last task.
SLURM_HETEROGENEOUS = {
    **SLURM,
    "SLURM_HET_SIZE": "2",
    "SLURM_JOB_ID": "4",
    "SLURM_JOB_NODELIST": "one,two",
    "SLURM_STEP_TASKS_PER_NODE": "1,2",
}
# An element of an array, and srun --overlap -n2 in its script.
SLURM_ARRAY_SCRIPT = {
    "SLURM_ARRAY_JOB_ID": "4",
    "SLURM_ARRAY_TASK_COUNT": "2",
    "SLURM_ARRAY_TASK_ID": "3",
    "SLURM_CLUSTER_NAME": "lull",
    "SLURM_JOB_ID": "5",
    "SLURM_JOB_NUM_NODES": "1",
    "SLURM_NODEID": "0",
    "SLURM_NTASKS": "2",
    "SLURM_PROCID": "0",
}
SLURM_ARRAY = {
    **SLURM_ARRAY_SCRIPT,
    "SLURM_STEP_ID": "1",
    "SLURM_STEP_NUM_TASKS": "2",
    "SLURM_STEP_TASKS_PER_NODE": "2",
}
# mpirun, mpiexec and lull run within an allocation of Slurm start one process on each node with srun.
DAEMON = {**SLURM, "SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_TASKS_PER_NODE": "1(x2)"}
# flux-core, t/t2601-job-shell-standalone.t (flux-shell: run 2-task printenv job), doc/man7/flux-environment.rst.
FLUX = {
    "FLUX_JOB_ID": "ƒDCB6RV",
    "FLUX_JOB_ID_PATH": "/ƒD2e73NP/ƒDCB6RV",
    "FLUX_JOB_NNODES": "1",
    "FLUX_JOB_SIZE": "2",
    "FLUX_TASK_LOCAL_ID": "1",
    "FLUX_TASK_RANK": "1",
    "PMI_RANK": "1",
    "PMI_SIZE": "2",
}
# Aurora, PALS 1.8: printed on a compute node, in a note about the missing number of ranks ("PALS provides no global
# size", Fix 23 of a benchmark of torchcomms); PBS's part: ALCF's documentation.
PALS = {
    "PALS_APID": "0f5e",
    "PALS_DEPTH": "1",
    "PALS_LOCAL_RANKID": "0",
    "PALS_LOCAL_SIZE": "4",
    "PALS_NODEID": "0",
    "PALS_PMI": "pmix",
    "PALS_RANKID": "0",
    "PBS_JOBID": "8824786.server.example",
    "PMIX_NAMESPACE": "0f5e",
    "PMIX_RANK": "0",
}
# Spectrum MPI's test programs (JSM_NAMESPACE_*), LSF's reference of variables (LSB_*); PMIx serves the ranks of jsrun.
JSRUN = {
    "JSM_NAMESPACE_LOCAL_RANK": "1",
    "JSM_NAMESPACE_LOCAL_SIZE": "2",
    "JSM_NAMESPACE_RANK": "5",
    "JSM_NAMESPACE_SIZE": "6",
    "LSB_JOBID": "77",
    "LSB_JOBINDEX": "0",
    "LSB_MCPU_HOSTS": "batch 1 a 40 b 40",
    "PMIX_NAMESPACE": "2",
    "PMIX_RANK": "5",
}
MPIRUN_RSH = {  # MVAPICH2's user guide
    "MV2_COMM_WORLD_LOCAL_RANK": "0",
    "MV2_COMM_WORLD_LOCAL_SIZE": "2",
    "MV2_COMM_WORLD_RANK": "2",
    "MV2_COMM_WORLD_SIZE": "4",
}


@pytest.mark.parametrize(
    ("env", "place"),
    [
        ({}, None),
        (OPEN_MPI_4, JobRank("Open MPI", "1950220289 1950220289 1950220288.0;tcp://192.0.2.2:55507", 1, 2, 2)),
        (OPEN_MPI_5, JobRank("Open MPI", "prterun-node-6655@1", 1, 2, 2)),
        (MPICH, JobRank("Hydra", "", 1, 2, 2)),
        (INTEL, JobRank("Hydra", INTEL["I_MPI_HYDRA_UUID"], 1, 2, 2)),
        (LULL_RUN, JobRank("lull run", "lull-7081", 1, 2)),
        (SLURM, JobRank("Slurm", "lull 1 0", 2, 3, 1)),
        (SLURM_PMIX, JobRank("Slurm", "lull 1 0", 2, 3, 1)),
        (SLURM_PMI2, JobRank("Slurm", "lull 1 0", 2, 3, 1)),
        (SLURM_HETEROGENEOUS, JobRank("Slurm", "lull 4 0", 2, 3)),
        (SLURM_ARRAY, JobRank("Slurm", "lull 5 1", 0, 2, 2)),
        (FLUX, JobRank("Flux", "/ƒD2e73NP/ƒDCB6RV", 1, 2, 2)),
        (JSRUN, JobRank("LSF", "2 77", 5, 6, 2)),
        (MPIRUN_RSH, JobRank("MVAPICH2", "", 2, 4, 2)),
        ({"PMI_RANK": "1", "PMI_SIZE": "2", "PMI_JOBID": "9"}, JobRank("PMI", "9", 1, 2)),
        ({"PMIX_RANK": "1", "PMI_SIZE": "2", "PMIX_NAMESPACE": "p@1"}, JobRank("PMIx", "p@1", 1, 2)),
    ],
)
def test_the_place_in_a_job_is_found_in_the_environment_of_each_launcher(env: Variables, place: JobRank | None) -> None:
    assert find_place(env) == place


@pytest.mark.parametrize(
    ("inner", "outer", "launcher"),
    [
        (OPEN_MPI_4, DAEMON, "Open MPI"),
        (OPEN_MPI_5, FLUX, "Open MPI"),
        (MPICH, DAEMON, "Hydra"),
        (INTEL, {**DAEMON, "PMI_JOBID": "1.0"}, "Hydra"),
        (LULL_RUN, SLURM_PMI2, "lull run"),
        (FLUX, DAEMON, "Flux"),  # flux start with srun
        (SLURM, {"PALS_RANKID": "2", "PALS_APID": "x"}, "Slurm"),  # srun --mpi=cray_shasta
        (FLUX, {"PALS_RANKID": "1", "PALS_APID": "x"}, "Flux"),  # -o pmi=cray-pals
        (PALS, {"PMI_RANK": "0", "PMI_SIZE": "8"}, "PALS"),
        ({"PMIX_RANK": "0", "PMI_SIZE": "2"}, DAEMON, "PMIx"),  # one that Lull does not know, within a task of srun
    ],
)
def test_the_launcher_that_was_started_by_the_other_counts(inner: Variables, outer: Variables, launcher: str) -> None:
    place = find_place({**outer, **inner})
    assert place is not None
    assert place.launcher == launcher


@pytest.mark.parametrize(
    "env",
    [
        SLURM_ARRAY_SCRIPT,
        {**SLURM, "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"},  # srun --pty bash
        {**SLURM_PMIX, "SLURM_PROCID": "0", "PMIX_RANK": "0", "SLURM_STEP_NUM_TASKS": "1"},
        {"FLUX_ENCLOSING_ID": "ƒD2e73NP", "FLUX_URI": "local:///tmp/x"},
        {"PBS_JOBID": "7.server", "PBS_NODEFILE": "/none"},
        {"LSB_JOBID": "77", "LSB_JOBINDEX": "0", "LSB_MCPU_HOSTS": "a 1"},
    ],
)
def test_a_batch_script_and_an_interactive_shell_are_no_ranks(env: Variables) -> None:
    assert find_place(env) is None
    assert find_allocation(env) is not None


def test_the_tasks_of_one_node_are_not_those_of_a_machine_that_is_several() -> None:
    host = os.uname().nodename.partition(".")[0]
    place, of_many = (
        find_place({**SLURM, "SLURMD_NODENAME": host}),
        find_place({**SLURM, "SLURMD_NODENAME": f"{host}-2"}),
    )
    assert place is not None and place.on_node == 1
    assert of_many is not None and of_many.on_node is None


# Two jobs whose records must not be mixed, although all ranks have the same numbers.
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SLURM_ARRAY, {**SLURM_ARRAY, "SLURM_ARRAY_TASK_ID": "4", "SLURM_JOB_ID": "6"}),
        (SLURM, {**SLURM, "SLURM_STEP_ID": "1"}),
        (SLURM, {**SLURM, "SLURM_RESTART_COUNT": "1"}),
        (SLURM, {**SLURM, "SLURM_CLUSTER_NAME": "other"}),
        (JSRUN, {**JSRUN, "LSB_JOBINDEX": "3"}),
        (JSRUN, {**JSRUN, "PMIX_NAMESPACE": "3"}),
        ({**MPICH, "PBS_JOBID": "7[1].server"}, {**MPICH, "PBS_JOBID": "7[2].server"}),
        ({**MPICH, "LSB_JOBID": "7", "LSB_JOBINDEX": "1"}, {**MPICH, "LSB_JOBID": "7", "LSB_JOBINDEX": "2"}),
        ({**LULL_RUN, **SLURM_ARRAY_SCRIPT}, {**LULL_RUN, **SLURM_ARRAY_SCRIPT, "SLURM_JOB_ID": "6"}),
        (INTEL, {**INTEL, "I_MPI_HYDRA_UUID": "211a0000-a021-732e-4a61-0600d7ad7800"}),
        (FLUX, {**FLUX, "FLUX_JOB_ID_PATH": "/ƒD2e73NQ/ƒDCB6RV"}),
    ],
)
def test_elements_of_an_array_steps_and_restarts_are_different_jobs(one: Variables, other: Variables) -> None:
    first, second = find_place(one), find_place(other)
    assert first is not None
    assert second is not None
    assert first.job != second.job


def test_ranks_of_open_mpi_have_one_job_where_only_one_node_has_the_variables_of_the_batch_system() -> None:
    here, there = find_place({**OPEN_MPI_5, "PBS_JOBID": "7.server"}), find_place(OPEN_MPI_5)
    assert here == there


def apinfo(ranks: int, version: int = 5) -> bytes:
    """The beginning of the file, as HPE's PMI library and Slurm's plugin mpi/cray_shasta declare it (apinfo.h)."""
    return struct.pack("@iNNNiNNiNNiNNi", version, 4096, 40, 136, 0, 12, 136, 1, 12, 148, ranks, 68, 200, 2)


def test_the_number_of_ranks_of_pals_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "apinfo"
    file.write_bytes(apinfo(8))
    assert find_place({**PALS, "PALS_APINFO": str(file)}) == JobRank("PALS", "0f5e 8824786.server.example", 0, 8, 4)
    assert find_place({**PALS, "PMI_SIZE": "12"}) == JobRank("PALS", "0f5e 8824786.server.example", 0, 12, 4)


@pytest.mark.parametrize("content", [b"", b"short", apinfo(8, version=6), apinfo(0), apinfo(-1)])
def test_a_file_of_pals_that_cannot_be_read_gives_a_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "apinfo"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="job that PALS started"):
        find_place({**PALS, "PALS_APINFO": str(file)})


@pytest.mark.parametrize(
    "env",
    [
        {"PMIX_RANK": "0"},
        {"PMI_RANK": "2", "PMI_SIZE": "2"},
        {"PMI_RANK": "-1", "PMI_SIZE": "2"},
        {"PMI_RANK": "٣", "PMI_SIZE": "4"},
        {"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "2"},
        {"FLUX_TASK_RANK": "1"},
        PALS,
    ],
)
def test_a_place_that_makes_no_sense_is_refused(env: Variables) -> None:
    with pytest.raises(UsageError, match="find the place in the job"):
        find_place(env)


def test_the_name_of_an_allocation_is_that_of_the_systems_own_commands(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a.example\na.example\nb.example\n")
    assert find_allocation({}) is None
    assert find_allocation(SLURM_ARRAY_SCRIPT) == Allocation("Slurm", "4_3", "lull 5", 1)
    assert find_allocation(SLURM_HETEROGENEOUS) == Allocation("Slurm", "4+0", "lull 4 0", 2)
    torque = {"PBS_JOBID": "1234[5].server", "PBS_ARRAYID": "5", "PBS_NUM_NODES": "3"}
    assert find_allocation(torque) == Allocation("PBS", "1234[5]", "1234[5].server", 3)
    assert nodes_allocated({**torque, "PBS_NODEFILE": str(hosts)}) == 2
    assert find_allocation(JSRUN) == Allocation("LSF", "77", "77", 3)
    assert find_allocation({**JSRUN, "LSB_JOBINDEX": "3"}) == Allocation("LSF", "77[3]", "77[3]", 3)
    assert find_allocation(FLUX) == Allocation("Flux", "ƒDCB6RV", "/ƒD2e73NP/ƒDCB6RV", 1)
    assert find_allocation({"FLUX_ENCLOSING_ID": "ƒD2e73NP"}) == Allocation("Flux", "ƒD2e73NP", "ƒD2e73NP", None)


def test_the_nodes_of_all_components_of_a_heterogeneous_job_count() -> None:
    script = {
        "SLURM_HET_SIZE": "2",
        "SLURM_JOB_ID": "6",
        "SLURM_JOB_NUM_NODES": "1",
        "SLURM_JOB_NUM_NODES_HET_GROUP_0": "1",
        "SLURM_JOB_NUM_NODES_HET_GROUP_1": "4",
    }
    assert nodes_allocated(script) == 5
    assert nodes_allocated({"SLURM_JOB_ID": "6", "SLURM_JOB_NUM_NODES": "3"}) == 3
    assert nodes_allocated({}) == 1


def left(env: Variables, answer: str, now: float = 1_000_000.0) -> tuple[float | None, list[str]]:
    """Seconds to the end of the allocation if the batch system answers so, and the command that asks it."""
    commands: list[str] = []

    def query(command: object) -> str:
        commands.append(" ".join(map(str, command)) if isinstance(command, list) else "")
        return answer

    [launcher] = [one for one in LAUNCHERS if one.allocation(env)]
    return launcher.seconds_left(env, now, query), commands


# qstat -f of Torque: pastebin.com/QVC6nUdQ; of PBS Professional: its reference guide, attributes of jobs.
TORQUE = """\
Job Id: 548.moab
    job_state = R
    Resource_List.nodes = 1:ppn=2
    Resource_List.walltime = 01:00:00
    start_time = Thu Feb 22 14:27:48 2018
    Walltime.Remaining = 3593
"""
PBS_PRO = """\
Job Id: 548.server
    Job_Name = STDIN
    Resource_List.walltime = 01:00:00
    stime = Thu Jan  1 00:00:00 1970
"""


def test_the_end_of_an_allocation_is_asked_of_its_batch_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    slurm = {"SLURM_JOB_ID": "6"}
    assert left({**slurm, "SLURM_JOB_END_TIME": "1000090"}, "") == (90, [])
    assert left(slurm, "1970-01-12T13:47:40\n") == (60, ["squeue --noheader --format=%e --jobs=6"])
    assert left(slurm, "1970-01-12T13:47:40\n1970-01-12T13:47:40\n")[0] == 60  # two components
    assert left(slurm, "NONE\n")[0] is None
    pbs = {"PBS_JOBID": "548.server"}
    assert left(pbs, TORQUE) == (3593, ["qstat -f 548.server"])
    assert left(pbs, PBS_PRO, now=600)[0] == 3000
    assert left(pbs, "")[0] is None
    flux = {"FLUX_ENCLOSING_ID": "ƒD2e73NP"}
    assert left(flux, "299\n") == (299, ["flux job timeleft"])
    assert left(flux, "4294967295\n")[0] is None
    lsf = {"LSB_JOBID": "77", "LSB_JOBINDEX": "2"}
    assert left(lsf, "0:12 L\n") == (720, ["bjobs -noheader -o time_left 77[2]"])  # as SCR, of LLNL, reads it
    assert left(lsf, "-\n")[0] is None


def test_counts_by_node_are_read_as_slurm_writes_them() -> None:
    assert expand_counts("4(x2),1") == [4, 4, 1]
    assert expand_counts("") == []


def test_commands_that_start_ranks_are_known_by_their_first_words() -> None:
    for command in ("/usr/bin/mpirun -n 2 ./app", "srun ./app", "flux run ./app", "lull run ./app", "jsrun ./app"):
        assert starts_ranks(command.split()), command
    for command in ("./app", "flux submit ./app", "lull measure", "flux", ""):
        assert not starts_ranks(command.split()), command


def test_each_launcher_has_a_name_of_its_own() -> None:
    assert len({launcher.name for launcher in LAUNCHERS}) == len(LAUNCHERS) > 8
    assert all(isinstance(launcher, Launcher) for launcher in LAUNCHERS)
