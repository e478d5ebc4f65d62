"""PEs on two hosts with their own network and name, under `mpirun`: the runtime keeps its promises there too.

The programs of tests/run come from the build tree of `make test`. All of them, by each policy: make hosts-conformance.
"""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, compiled, gone
from lull.base.errors import LullError
from lull.base.installed import applications
from lull.hosts.mpirun import distributed, run_on_hosts
from lull.hosts.virtual import Host, Link, virtual_hosts
from places import PROGRAMS, TOP

BUILT = TOP / "build" / "venv" / "tests" / "run"
SOME = ("setup", "rma", "atomics", "signals", "synchronisation", "collectives", "locks")


def obstacle() -> str:
    """The reason why hosts cannot be made here; empty if they can."""
    if shutil.which("mpirun") is None:
        return "needs mpirun"
    try:
        with virtual_hosts(2, Link("1gbit")):
            return ""
    except LullError as error:
        return str(error)


needs_hosts = pytest.mark.skipif(bool(found := obstacle()), reason=found)


@pytest.fixture(scope="module")
def two_hosts() -> Iterator[list[Host]]:
    with virtual_hosts(2, Link("1gbit")) as hosts:
        yield hosts


def run_programs() -> list[str]:
    """Every program of tests/run that the C++ tests run with several numbers of PEs."""
    listed = subprocess.run(
        ["ctest", "--test-dir", BUILT.parents[1], "--show-only=json-v1", "-R", r"^run\..*\.2pe\.2node\.interrupt$"],
        capture_output=True,
        text=True,
        check=True,
    )
    return [test["name"].split(".")[1] for test in json.loads(listed.stdout)["tests"]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "conforming" in metafunc.fixturenames:
        all_of_them = metafunc.config.getoption("--all-programs-on-hosts")
        metafunc.parametrize("policy", ["poll", "interrupt", "adaptive"] if all_of_them else ["interrupt"])
        metafunc.parametrize("pes", [2, 4, 8])
        metafunc.parametrize("conforming", run_programs() if all_of_them else SOME)


@needs_hosts
def test_a_conformance_program_holds_on_two_hosts(
    two_hosts: list[Host], conforming: str, pes: int, policy: str, tmp_path: Path
) -> None:
    program = BUILT / f"run_{conforming}"
    if not program.exists():
        pytest.skip(f"{program} is not built; make test does")
    settings = {"LULL_WAIT": policy, "SHMEM_SYMMETRIC_SIZE": "64M"}
    with (tmp_path / "said").open("w+b") as said:
        code = run_on_hosts(two_hosts, pes, [str(program)], env={**os.environ, **settings}, stdout=said, stderr=said)
        said.seek(0)
        assert code == 0, said.read().decode()


@pytest.fixture
def job(lull: Lull) -> Iterator[Lull]:
    lull.env = {"HERE": str(lull.folder), "TMPDIR": str(lull.folder)}
    yield lull
    assert gone(str(lull.folder)), "processes remain"


@pytest.fixture(scope="module")
def misfortune(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(compiled("misfortune.c", tmp_path_factory.mktemp("misfortune")))


@needs_hosts
def test_pes_are_dealt_to_hosts_in_blocks_and_see_two_networks(job: Lull) -> None:
    script = "echo $PMIX_RANK $(uname -n) $(ls /sys/class/net | tr '\\n' ' ')"
    done = job.run("run", "--hosts", "2", "-n", "3", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 host0 lo lull0", "1 host0 lo lull0", "2 host1 lo lull0"]


@needs_hosts
def test_hosts_are_nodes_to_the_runtime(job: Lull) -> None:
    done = job.run("run", "--hosts", "2", "--rate", "1gbit", "-n", "4", "histogram", "--updates", "5000")
    assert "4 PEs on 2 nodes" in done.stdout, done.stderr
    assert "result verified" in done.stdout


@needs_hosts
def test_hosts_are_nodes_also_when_the_launcher_does_not_number_them(job: Lull) -> None:
    hidden = job.folder / "hide_node_numbers.so"
    source = PROGRAMS / "hide_node_numbers.c"
    flags = subprocess.run(["pkg-config", "--cflags", "pmix"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["cc", "-shared", "-fPIC", "-o", hidden, source, *flags.split()], check=True)
    histogram = ["env", f"LD_PRELOAD={hidden}", str(applications()["histogram"]), "--updates", "5000"]
    done = job.run("run", "--hosts", "2", "-n", "4", *histogram)
    assert "4 PEs on 2 nodes" in done.stdout, done.stderr


@needs_hosts
@pytest.mark.parametrize("others", ["barrier", "get"])
def test_a_pe_that_dies_ends_the_pes_of_all_hosts(job: Lull, misfortune: str, others: str) -> None:
    done = job.run("run", "--hosts", "2", "-n", "4", misfortune, "kill", others)
    assert done.returncode == 137
    assert "process rank 1" in done.stderr


@needs_hosts
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_outlives_a_stopped_run_on_hosts(job: Lull, misfortune: str, how: signal.Signals) -> None:
    running = job.start("run", "--hosts", "2", "-n", "4", misfortune, "wait", "deaf")
    assert running.stdout is not None
    assert running.stdout.readline() == "all are here\n"
    running.send_signal(how)
    assert gone(str(job.folder))
    _, said = running.communicate(timeout=TIMEOUT_S)
    assert running.returncode == (-9 if how == signal.SIGKILL else 143)
    if how == signal.SIGTERM:
        assert said.splitlines()[-1] == f"lull: run on 2 hosts {misfortune}: interrupted by SIGTERM"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--hosts", "3", "-n", "2"), "3 hosts are more than PEs, 2; raise -n"),
        (("--hosts", "2", "--nodes", "2", "-n", "2"), "--hosts and --nodes are both given"),
        (("--rate", "1gbit", "-n", "2"), "there are no hosts to link; give their number with --hosts"),
    ],
)
def test_what_cannot_be_meant_is_one_line(lull: Lull, options: tuple[str, ...], says: str) -> None:
    done = lull.run("run", *options, "true")
    assert done.returncode == 125
    assert says in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_without_the_right_to_make_namespaces_it_is_one_line(lull: Lull) -> None:
    drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]
    done = subprocess.run(
        [*drop, *lull.argv("run", "--hosts", "2", "-n", "2", "true")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 125
    assert "make 2 virtual hosts" in done.stderr and "run as root" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_hosts_get_cores_of_their_own_as_far_as_there_are_enough(tmp_path: Path) -> None:
    assert distributed([0, 1, 2, 3], 2, str(tmp_path)) == [{0, 1}, {2, 3}]
    assert distributed([4, 5, 9], 2, str(tmp_path)) == [{4}, {5, 9}]
    assert distributed([0, 1], 3, str(tmp_path)) == [{0}, {1}, {0}]


def test_hosts_share_no_core_whose_hardware_threads_have_numbers_apart(tmp_path: Path) -> None:
    for cpu in range(4):
        file = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"
        file.parent.mkdir(parents=True)
        file.write_text(f"{cpu % 2},{cpu % 2 + 2}\n")
    assert distributed([0, 1, 2, 3], 2, str(tmp_path)) == [{0, 2}, {1, 3}]
