"""A private Slurm: munged, slurmctld and one slurmd for each node, on the loopback, in their own folder.

It uses no service, no file in /etc and no account of the system, and neither systemd nor cgroups. It needs root,
because slurmd does, and ends with the process that made it, even if that is killed.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

# Heterogeneous jobs are started by sched/backfill alone.
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sinfo", "setpriv")
UP_S = 60.0
CPUS = 4  # per node, whatever the machine has

CONFIGURATION = """\
ClusterName=lull
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
PlugStackConfig={folder}/plugstack.conf
MailProg=/bin/true
ProctrackType=proctrack/{tracking}
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
{more}
KillWait=2
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def missing() -> str:
    """The reason why there can be no Slurm here; empty if there can."""
    if absent := [program for program in PROGRAMS if shutil.which(program) is None]:
        return f"{', '.join(absent)} not found; packages/test.txt names the packages"
    return "" if os.geteuid() == 0 else "slurmd needs root"


@dataclass(frozen=True)
class Cluster:
    folder: Path

    @property
    def configuration(self) -> str:
        return str(self.folder / "slurm.conf")

    def srun(
        self, *words: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        return self.run("srun", *words, env=env, cwd=cwd, timeout=timeout)

    def run(
        self, *words: str | Path, env: dict[str, str] | None = None, cwd: Path | None = None, timeout: float = 60
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm, or one that starts some."""
        return subprocess.run(
            words,
            env={**os.environ, "SLURM_CONF": self.configuration, **(env or {})},
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()}" for path in sorted(self.folder.glob("*.log")))


@dataclass(frozen=True)
class Setup:
    """What a cluster has besides its nodes: by default no cgroups, no plugin."""

    inside: tuple[str, ...] = ()  # a command that starts another in the namespaces of the cluster
    tracking: str = "linuxproc"
    more: str = ""  # lines of slurm.conf
    cgroups: str = "CgroupPlugin=cgroup/v1\n"
    plugins: str = ""  # plugstack.conf
    environment: dict[str, str] = field(default_factory=dict)  # of slurmd
    inside_of: dict[str, tuple[str, ...]] = field(default_factory=dict)  # as `inside`, of the slurmd of a node


@contextmanager
def slurm_cluster(node_names: Sequence[str], setup: Setup | None = None) -> Iterator[Cluster]:
    """A cluster with idle nodes. All of them are this machine, each with a slurmd and `CPUS` processors."""
    setup = setup or Setup()
    with ExitStack() as stack:
        # Not a folder of pytest: munged requires that everyone can reach it, and socket paths must be short.
        folder = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="lull-slurm-", ignore_cleanup_errors=True))
        )
        folder.chmod(0o711)
        stack.callback(_end_steps, folder)
        _configure(folder, node_names, setup)
        munge = folder / "munge"
        files = [f"--{name}={munge / name}" for name in ("socket", "key-file", "pid-file", "log-file", "seed-file")]
        _start(stack, folder, "munged", "--foreground", "--num-threads=4", *files)
        _await("munged", folder, (munge / "socket").exists)
        _start(stack, folder, *setup.inside, "slurmctld", "-D", "-c")
        for name in node_names:
            inside = setup.inside_of.get(name, setup.inside)
            _start(stack, folder, *inside, "slurmd", "-D", "-N", name, environment=setup.environment)
        cluster = Cluster(folder)
        _await("idle nodes", folder, lambda: _states(folder) == ["idle"] * len(node_names))
        yield cluster


def _configure(folder: Path, node_names: Sequence[str], setup: Setup) -> None:
    host = socket.gethostname().partition(".")[0]
    with ExitStack() as stack:  # all open at once, so that no port is returned twice
        ports = [_free_port(stack) for _ in range(len(node_names) + 1)]
    nodes = [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS}"
        for name, port in zip(node_names, ports[1:], strict=True)
    ]
    text = CONFIGURATION.format(
        host=host,
        folder=folder,
        controller_port=ports[0],
        nodes="\n".join(nodes),
        tracking=setup.tracking,
        more=setup.more,
    )
    (folder / "slurm.conf").write_text(text)
    (folder / "cgroup.conf").write_text(setup.cgroups)
    (folder / "plugstack.conf").write_text(setup.plugins)
    for name in ("state", *(f"tmp.{node}" for node in node_names)):  # of PMIx, named by the job's number alone
        (folder / name).mkdir()
    (folder / "munge").mkdir()
    (folder / "munge").chmod(0o711)  # whatever the umask is
    key = folder / "munge" / "key-file"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)


def _free_port(stack: ExitStack) -> int:
    listening = stack.enter_context(socket.socket())
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    assert isinstance(port, int)
    return port


def _start(stack: ExitStack, folder: Path, *words: str, environment: dict[str, str] | None = None) -> None:
    number = len(list(folder.glob("*.log")))
    log = stack.enter_context((folder / f"{number}-{Path(words[0]).name}.log").open("w"))
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *words],
        env={**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), **(environment or {})},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    stack.callback(_end, process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end_steps(folder: Path) -> None:
    """End every remaining slurmstepd: it works in the folder of its slurmd, to which it can no longer report."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == folder:
                os.kill(int(process.name), signal.SIGKILL)


def _states(folder: Path) -> list[str]:
    told = subprocess.run(
        ["sinfo", "--noheader", "--Node", "--format=%T"],
        env={**os.environ, "SLURM_CONF": str(folder / "slurm.conf")},
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.split()


def _await(what: str, folder: Path, holds: Callable[[], bool]) -> None:
    end = time.monotonic() + UP_S
    while not holds():
        assert time.monotonic() < end, f"no {what} after {UP_S} s\n{Cluster(folder).logs()}"
        time.sleep(0.1)
