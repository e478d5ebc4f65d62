"""However a job ends, nothing of it remains: no process, no shared segment, no folder."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, compiled, cpu_s, gone, kill_all, processes_with, wait_until
from lull.base.installed import applications, executable
from own_segments import shared_segments
from places import PROGRAMS

pytestmark = pytest.mark.in_turn(2)

HISTOGRAM = str(applications()["histogram"])
LONG = ["--min-time", "600", "--updates", "10000"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


needs_mpirun = pytest.mark.skipif(shutil.which("mpirun") is None, reason="needs mpirun")


@pytest.fixture
def job(lull: Lull) -> Iterator[Lull]:
    """A job with its temporary files in its folder."""
    lull.env = {"TMPDIR": str(lull.folder), **AS_ROOT}
    before = shared_segments()
    yield lull
    assert gone(str(lull.folder)), "processes remain"
    assert shared_segments() <= before, "shared segments remain"


@pytest.fixture(scope="module")
def misfortune(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compiled("misfortune.c", tmp_path_factory.mktemp("misfortune")))


@pytest.fixture(scope="module")
def last_words(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compiled("last_words.c", tmp_path_factory.mktemp("last_words")))


def launch(job: Lull, launcher: str, nodes: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Four PEs of the command under `lull run` or `mpirun`, which must end."""
    if launcher == "mpirun":
        return subprocess.run(
            ["mpirun", "-n", "4", "--oversubscribe", *command],
            env={**job.environment(), "LULL_NODES": str(nodes)},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    return job.run("run", "-n", "4", "--nodes", str(nodes), *command)


def nothing_in(folder: Path) -> bool:
    """Whether no socket and no folder of a launcher remains; `lull run` may take a moment to remove them."""
    return wait_until(lambda: not any(path.is_socket() or path.name.startswith("lull-") for path in folder.rglob("*")))


MISFORTUNES = {
    "kill": (137, "was ended by SIGKILL; the other PEs are ended"),
    "segv": (139, "was ended by SIGSEGV; the other PEs are ended"),
    "exit-0": (1, "ended without shmem_finalize; the other PEs are ended"),
    "exit-7": (7, "exited with code 7; the other PEs are ended"),
}


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize(
    ("how", "others"),
    [
        *(("kill", others) for others in ("barrier", "wait-until", "get", "put", "deaf")),
        ("segv", "get"),
        ("exit-0", "barrier"),
        ("exit-0", "put"),
        ("exit-7", "wait-until"),
    ],
)
def test_whatever_ends_a_pe_and_whatever_the_others_wait_for(
    job: Lull, misfortune: str, how: str, others: str, nodes: int
) -> None:
    done = launch(job, "lull run", nodes, misfortune, how, others)
    code, says = MISFORTUNES[how]
    assert done.returncode == code
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: PE 1 ") and line.endswith(says)
    assert nothing_in(job.folder)


@needs_mpirun
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize(
    ("how", "others"),
    [("kill", "barrier"), ("kill", "get"), ("kill", "deaf"), ("segv", "wait-until"), ("exit-0", "put")],
)
def test_mpirun_ends_the_job_too_and_names_the_pe(
    job: Lull, misfortune: str, how: str, others: str, nodes: int
) -> None:
    done = launch(job, "mpirun", nodes, misfortune, how, others)
    assert done.returncode == MISFORTUNES[how][0]
    assert "process rank 1" in done.stderr
    assert "backtrace" not in done.stderr
    assert nothing_in(job.folder)


@needs_mpirun
@pytest.mark.skipif(shutil.which("mpicc") is None, reason="needs mpicc, of libopenmpi-dev")
def test_an_mpi_program_is_one_job_of_which_nothing_remains(job: Lull, tmp_path: Path) -> None:
    source = PROGRAMS / "mpi/mpi_misfortune.c"
    subprocess.run(["mpicc", source, "-o", tmp_path / "program"], check=True)
    for how, code, printed in ("none", 0, "sum 6\n"), ("abort", 41, ""), ("kill", 137, ""), ("exit", 7, ""):
        done = launch(job, "lull run", 1, str(tmp_path / "program"), how)
        assert (done.returncode, done.stdout) == (code, printed), how
        assert nothing_in(job.folder)


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("launcher", ["lull run", pytest.param("mpirun", marks=needs_mpirun)])
def test_global_exit_ends_the_job_with_its_code(job: Lull, misfortune: str, launcher: str, nodes: int) -> None:
    done = launch(job, launcher, nodes, misfortune, "global-exit", "deaf")
    assert done.returncode == 37
    assert "lull:" not in done.stderr
    assert nothing_in(job.folder)


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_pe_that_never_joins_is_not_waited_for(job: Lull, misfortune: str, nodes: int) -> None:
    for _ in range(5):  # PMIx may be about to answer a PE that is being killed
        done = launch(job, "lull run", nodes, misfortune, "never-joins", "barrier")
        assert done.returncode == 1
        [line] = done.stderr.splitlines()
        assert line.startswith("lull: PE 1 ") and "ended without shmem_init; the other PEs are ended" in line


@pytest.mark.parametrize("nodes", [1, 2])
def test_pes_that_have_left_in_order_end_by_themselves_whatever_another_returns(
    job: Lull, last_words: str, nodes: int
) -> None:
    done = launch(job, "lull run", nodes, last_words, "says")
    assert (done.returncode, done.stdout, done.stderr) == (3, "the last words of PE 0\n", "")


def test_who_has_left_in_order_has_a_bounded_time_to_end(job: Lull, last_words: str) -> None:
    launcher = [str(executable("lull-launch")), "-n", "2", "--leaving-s", "1", "--", last_words, "stays"]
    done = subprocess.run(
        launcher, env=job.environment(), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert re.fullmatch(r"gone\nlull: PE 0 \(process \d+\) still runs 1 s after .*; it is ended\n", done.stderr)


def test_a_signal_ends_those_too_that_have_left_in_order(job: Lull, last_words: str) -> None:
    running = job.start("run", "-n", "2", last_words, "stays")
    assert running.stderr is not None
    assert running.stderr.readline() == "gone\n"
    running.terminate()
    running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 3


@pytest.mark.parametrize("launcher", ["lull run", pytest.param("mpirun", marks=needs_mpirun)])
def test_a_heap_that_does_not_fit_is_one_line_of_each_pe(job: Lull, misfortune: str, launcher: str) -> None:
    job.env["SHMEM_SYMMETRIC_SIZE"] = "64G"
    limited = ["sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh", misfortune, "exit-0", "barrier"]
    done = launch(job, launcher, 1, *limited)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if line.startswith("lull:")]
    assert said and all("map 68" in line and line.endswith("lower SHMEM_SYMMETRIC_SIZE") for line in said)


@pytest.mark.parametrize("nodes", ["1", "2"])
@pytest.mark.parametrize("launcher", ["lull run", pytest.param("mpirun", marks=needs_mpirun)])
def test_pes_that_ignore_signals_do_not_outlive_their_killed_launcher(
    job: Lull, misfortune: str, launcher: str, nodes: str
) -> None:
    argv = ["mpirun", "--oversubscribe"] if launcher == "mpirun" else [str(executable("lull-launch"))]
    job.env["LULL_NODES"] = nodes
    with subprocess.Popen(
        [*argv, "-n", "4", misfortune, "wait", "deaf"],
        env=job.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "all are here\n"
        running.kill()
        running.communicate()
    assert gone(str(job.folder))


def pes_of(job: Lull, wanted: int) -> list[int]:
    """The process ids of the PEs, as soon as all of them compute."""
    assert wait_until(lambda: len(processes_with(str(job.folder), name="histogram")) == wanted), "the PEs did not start"
    found = processes_with(str(job.folder), name="histogram")
    assert wait_until(lambda: all(cpu_s(pid) >= 0.1 for pid in found)), "the PEs do not compute"
    return found


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_pe_that_dies_ends_the_job_with_one_line_that_names_it(job: Lull, nodes: int) -> None:
    running = job.start("run", "-n", "4", "--nodes", str(nodes), "histogram", *LONG)
    kill_all(pes_of(job, 4)[2:3])
    _, errors = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == 137
    assert len(errors.splitlines()) == 1
    assert "was ended by SIGKILL; the other PEs are ended" in errors


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_pes_do_not_outlive_their_launcher(job: Lull, how: signal.Signals) -> None:
    running = job.start("run", "-n", "4", "--nodes", "2", "histogram", *LONG)
    pes_of(job, 4)
    running.send_signal(how)
    running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == (-9 if how == signal.SIGKILL else 128 + how)
    assert gone(str(job.folder))
    assert not list(job.folder.glob("lull-*"))


@needs_mpirun
@pytest.mark.parametrize("nodes", ["1", "2"])
def test_the_same_program_runs_under_mpirun(job: Lull, nodes: str) -> None:
    done = subprocess.run(
        ["mpirun", "-n", "4", "--oversubscribe", HISTOGRAM, "--updates", "5000"],
        env={**job.environment(), "LULL_NODES": nodes},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"4 PEs on {nodes} node" in done.stdout
    assert "result verified" in done.stdout


@needs_mpirun
def test_pes_do_not_outlive_a_killed_mpirun(job: Lull) -> None:
    with subprocess.Popen(
        ["mpirun", "-n", "4", "--oversubscribe", HISTOGRAM, *LONG],
        env=job.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as running:
        pes_of(job, 4)
        running.kill()


def test_killing_a_measurement_of_a_job_ends_the_job(job: Lull) -> None:
    running = job.start(
        "measure", "--out", "record", "--", sys.executable, "-m", "lull", "run", "-n", "4", "histogram", *LONG
    )
    pes_of(job, 4)
    running.kill()
    running.communicate(timeout=TIMEOUT_S)
    assert gone(str(job.folder))
    assert not (job.folder / "record").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--mode", "direkt"], "direkt not in"),
        (["--input", "nowhere.npy"], "No such file"),
        (["--input", "odd.bin"], "whole number of uint64"),
        (["--input", "cut.npy"], "cut off"),
        (["--table", "1000000000"], "raise SHMEM_SYMMETRIC_SIZE"),
    ],
)
def test_what_the_application_cannot_use_is_one_line(job: Lull, arguments: list[str], says: str) -> None:
    (job.folder / "odd.bin").write_bytes(b"12345")
    (job.folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00\xff\x00{'descr'")
    done = job.run("run", "-n", "3", "histogram", *arguments)
    assert done.returncode in {1, 2}
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_indices_are_read_from_raw_and_numpy_files(job: Lull) -> None:
    import numpy as np

    indices = np.random.default_rng(1).integers(0, 5000, 30_000)
    indices.astype("<u8").tofile(job.folder / "raw.bin")
    for kind in ("u2", "i4", "u8"):
        np.save(job.folder / f"{kind}.npy", indices.astype(kind))
    for name in ("raw.bin", "u2.npy", "i4.npy", "u8.npy"):
        done = job.run("run", "-n", "3", "histogram", "--input", name)
        assert done.returncode == 0, done.stderr
        assert "30000 updates on" in done.stdout and "verified" in done.stdout


def test_a_launcher_that_may_start_no_process_leaves_no_folder(tmp_path: Path) -> None:
    nobody = 65534
    if os.geteuid() != 0 or not path_is_open_to_all(executable("lull-launch")):
        pytest.skip("needs root, to become a user whose processes are limited")
    tmp_path.chmod(0o777)
    for parent in list(tmp_path.parents)[:3]:
        parent.chmod(parent.stat().st_mode | 0o011)

    def become_nobody() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)

    done = subprocess.run(
        [str(executable("lull-launch")), "--", "/bin/true"],
        env={"TMPDIR": str(tmp_path), "PATH": "/bin"},
        preexec_fn=become_nobody,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 125
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: start the process that removes the folders of the job: ")
    assert "ulimit -u" in line
    assert list(tmp_path.iterdir()) == []
    assert not [path for path in Path("/dev/shm").glob("lull-*") if path.stat().st_uid == nobody]


def path_is_open_to_all(path: Path) -> bool:
    """Whether every user may run the program."""
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.resolve().parents))


WRONG = (
    "read setting LULL_WAIT: 'pol' is not one of poll|interrupt|poll+dvfs|interrupt+dvfs|adaptive; "
    "unset it for the default, interrupt"
)


@pytest.mark.parametrize("launcher", ["lull-launch", pytest.param("mpirun", marks=needs_mpirun)])
@pytest.mark.parametrize("wrong_at", ["all", "0", "2"])
def test_a_setting_that_is_wrong_is_said_once_whichever_pes_have_it(job: Lull, launcher: str, wrong_at: str) -> None:
    # PE 0, which prints the line, comes last, so that the others would have ended the job before.
    late = "[ $PMIX_RANK = 0 ] && sleep 1;"
    wrong = f"[ {wrong_at} = all -o {wrong_at} = $PMIX_RANK ] && export LULL_WAIT=pol;"
    command = [str(executable("lull-launch")) if launcher == "lull-launch" else "mpirun", "-n", "3"]
    options = ["--"] if launcher == "lull-launch" else ["--oversubscribe"]
    done = subprocess.run(
        [*command, *options, "sh", "-c", f"{late} {wrong} exec {HISTOGRAM}"],
        env=job.environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 2
    said = [line for line in done.stderr.splitlines() if "LULL_WAIT" in line]
    assert said == [f"lull: PE 2: {WRONG}" if wrong_at == "2" else f"lull: {WRONG}"]
    if launcher == "lull-launch":
        assert done.stderr.splitlines() == said
