"""A Slurm with cgroups of version 2, two ordinary users, and on each node a service that meters it by the plugin.

Each node is in a mount namespace of its own: there, /sys/fs/cgroup is version 2 alone, /etc/passwd has the users, and
the folder of the plugin's socket is that of the node's own service.
Nothing of the machine changes but groups below system.slice, named by this process, which are removed at the end.
"""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bounds import TIMEOUT_S
from conftest import wait_until
from lull.base.errors import LullError
from lull.base.installed import executable
from node_service import ALICE, BOB, Answer, NodeService, node_service
from places import TESTS
from slurm import Cluster, Setup, missing, slurm_cluster

SHIM = TESTS / "fixtures" / "only_cgroup_v2.c"
NODE = f"lull{os.getpid()}"  # and a letter
HIERARCHY = next(
    (p for p in map(Path, ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")) if (p / "cpu.stat").exists()), None
)
NAMESPACE = """
set -e
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/system.slice
cp /etc/passwd "$1/passwd"
cp /etc/group "$1/group"
echo 'alice:x:64001:64001::/tmp:/bin/sh
bob:x:64002:64002::/tmp:/bin/sh' >> "$1/passwd"
echo 'alice:x:64001:
bob:x:64002:' >> "$1/group"
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/group" /etc/group
mount --bind "$2" "$3"
touch "$1/ready"
exec sleep infinity
"""


def reason_for_none() -> str:
    """Why there can be no metered Slurm here; empty if there can."""
    if reason := missing():
        return reason
    if HIERARCHY is None:
        return "needs cgroup v2"
    try:
        executable("lull_spank.so")
    except LullError:
        return "lull_spank.so is not built (libslurm-dev)"
    may = subprocess.run(
        ["unshare", "-m", "mount", "-t", "cgroup2", "none", "/sys/fs/cgroup"], capture_output=True, check=False
    )
    return "" if may.returncode == 0 else "may not mount cgroups in a namespace"


class MeteredSlurm:
    """The services, and jobs of two users."""

    def __init__(self, services: Sequence[NodeService], cluster: Cluster, inside: Sequence[str]) -> None:
        self.services, self.cluster, self._inside = services, cluster, inside
        self._moves = threading.Lock()
        self._ends = threading.Event()
        self._moving = threading.Thread(target=self._move)
        self._moving.start()
        self.homes = {uid: self.service.folder / f"home-{uid}" for uid in (ALICE, BOB)}
        for uid, home in self.homes.items():
            home.mkdir()
            os.chown(home, uid, uid)

    @property
    def service(self) -> NodeService:
        """That of the first node."""
        return self.services[0]

    def _move(self) -> None:
        """Every counter, all the time, as on hardware: otherwise energy would belong to the time before a job, too."""
        while not self._ends.wait(0.02):
            with self._moves:
                for service in self.services:
                    service.move()

    def consume(self, *joules: float) -> None:
        """On the nodes in their order."""
        with self._moves:
            for service, amount in zip(self.services, joules, strict=False):
                service.consume(amount)

    def close(self) -> None:
        self._ends.set()
        self._moving.join()

    def run(self, *words: str, uid: int = 0) -> subprocess.CompletedProcess[str]:
        """A command of Slurm, as a user."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "SLURM"))}
        return subprocess.run(
            [*self._inside, "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--", *words],
            env={**environment, "SLURM_CONF": self.cluster.configuration},
            cwd=self.homes.get(uid, "/"),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def submit(self, script: str, *options: str, uid: int = ALICE) -> str:
        """The id of a batch job, which has the functions `reach NAME` and `await NAME` on files of its home."""
        home = self.homes[uid]
        head = '#!/bin/sh\nreach() { touch "$HERE/$1"; }\nawait() { while [ ! -e "$HERE/$1" ]; do sleep 0.05; done; }\n'
        path = home / f"job-{len(list(home.glob('job-*')))}"
        path.write_text(f"{head}HERE={home}\n{script}\n")
        done = self.run(
            "sbatch",
            "--parsable",
            f"--chdir={home}",
            "--output=%j.out",
            "--error=%j.err",
            "--mem=0",
            *options,
            str(path),
            uid=uid,
        )
        assert done.returncode == 0, done.stderr + self.cluster.logs()
        return done.stdout.strip()

    def start_again(self, job: str) -> None:
        """Let a job that was requeued begin soon, rather than after two minutes.

        slurmd refuses a start within the second in which the job was ended, so the start is two seconds from now.
        """
        assert wait_until(lambda: set(self.run("sinfo", "--noheader", "--format=%T").stdout.split()) == {"idle"})
        done = self.run("scontrol", "update", f"JobId={job}", "StartTime=now+2")
        assert done.returncode == 0, done.stderr

    def reached(self, name: str, uid: int = ALICE) -> None:
        assert wait_until((self.homes[uid] / name).exists), self.cluster.logs()

    def let(self, name: str, uid: int = ALICE) -> None:
        (self.homes[uid] / name).touch()

    def rows_of(self, job: str, count: int = 1) -> list[Answer]:
        """Its rows, once there are so many."""
        found: list[Answer] = []

        def are_there() -> bool:
            found[:] = [row for row in self.rows() if row["job"] == job]
            return len(found) >= count

        assert wait_until(are_there), (self.rows(), self.cluster.logs())
        return found

    def rows(self) -> list[Answer]:
        """All rows of all nodes, in the order of the nodes."""
        return [row for service in self.services for row in service.rows()]

    def text(self, job: str, suffix: str, uid: int = ALICE) -> str:
        return (self.homes[uid] / f"{job}.{suffix}").read_text()


@contextmanager
def _namespace(service: NodeService, socket_folder: Path) -> Iterator[tuple[str, ...]]:
    """A command that starts another in the namespace of a node."""
    folder = service.folder / "namespace"
    folder.mkdir()
    words = ["unshare", "-m", "sh", "-c", NAMESPACE, "-", str(folder), str(service.sockets), str(socket_folder)]
    holder = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *words])
    try:
        assert wait_until(lambda: (folder / "ready").exists() or holder.poll() is not None)
        assert holder.poll() is None
        yield ("nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--")
    finally:
        holder.kill()
        holder.wait()


def _remove_groups() -> None:
    assert HIERARCHY
    for top in (HIERARCHY / "system.slice").glob(f"{NODE}*_slurmstepd.scope"):
        for folder in [*sorted(top.rglob("*"), reverse=True), top]:
            with suppress(OSError):
                folder.rmdir()
    with suppress(OSError):  # others may use it
        (HIERARCHY / "system.slice").rmdir()


def _started_service(stack: ExitStack, name: str) -> NodeService:
    service = stack.enter_context(node_service(name))
    shutil.rmtree(service.tree / "cgroup")
    assert HIERARCHY
    (service.tree / "cgroup").symlink_to(HIERARCHY)
    service.hold_sockets()
    service.start()
    return service


@contextmanager
def metered_slurm(node_count: int = 1) -> Iterator[MeteredSlurm]:
    """A running cluster and services. The counters move by microjoules, and by what a test consumes."""
    with ExitStack() as stack:
        services = [_started_service(stack, f"n{number}") for number in range(1, node_count + 1)]
        first = services[0].folder
        shim = first / "only_cgroup_v2.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"], check=True)
        socket_folder = first / "plugin"
        socket_folder.mkdir()
        names = [f"{NODE}{letter}" for letter in "ab"[:node_count]]
        inside = [stack.enter_context(_namespace(service, socket_folder)) for service in services]
        stack.callback(_remove_groups)
        plugin = executable("lull_spank.so")
        setup = Setup(
            inside=inside[0],
            inside_of=dict(zip(names, inside, strict=True)),
            tracking="cgroup",
            more="PrologFlags=Alloc,Contain\nJobRequeue=1",
            cgroups="CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nCgroupMountpoint=/sys/fs/cgroup\n",
            plugins=f"optional {plugin} socket={socket_folder}/accounts site={first}/jobs.toml\n",
            environment={"LD_PRELOAD": str(shim)},
        )
        cluster = stack.enter_context(slurm_cluster(names, setup))
        slurm = MeteredSlurm(services, cluster, inside[0])
        stack.callback(slurm.close)
        yield slurm
