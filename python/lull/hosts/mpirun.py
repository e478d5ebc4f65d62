"""Run a program on several virtual hosts by `mpirun`, as on real hosts.

`mpirun` runs on the first host. It starts its daemons on the others by `lull.hosts.enter_host`, which enters their
namespaces. Everything else is as on a cluster: PEs of two hosts share no memory, and all traffic between them,
including that of PMIx, crosses the links.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence

from lull import _core
from lull.base.errors import LullError
from lull.base.guard import Stream, run_guarded
from lull.base.interrupts import InterruptedBySignal, Interrupts
from lull.base.packages import this_system
from lull.hosts import enter_host
from lull.hosts.virtual import INTERFACE, Host


def run_on_hosts(
    hosts: Sequence[Host],
    pes: int,
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    bind: bool = True,
    interrupts: Interrupts | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> int:
    """Run `pes` PEs of `command` on the hosts, in blocks, and return the exit code.

    Args:
        hosts: Hosts from `virtual_hosts`; this may change the cores of their anchors.
        pes: Number of PEs, one or more for each host.
        command: Program and arguments; all hosts see the same files.
        env: The environment of the PEs. Its settings of UCX are kept.
        bind: Whether to distribute the cores over the hosts, so that PEs of two hosts share none if there are enough.
        interrupts: Signals to pass on.
        stdin: Standard input of PE 0; as for `subprocess.Popen`.
        stdout: Standard output of all PEs.
        stderr: Standard error of all PEs, and of `mpirun`.

    Raises:
        LullError: There is no `mpirun`.
        InterruptedBySignal: A signal asked to stop; all PEs have ended.
    """
    asked = f"run on {len(hosts)} host{'s' * (len(hosts) > 1)}"
    mpirun_here = of_open_mpi("mpirun")
    if mpirun_here is None:
        raise LullError(asked, "there is no mpirun of Open MPI", this_system().install("openmpi"))
    if bind:
        for host, cores in zip(hosts, distributed(sorted(os.sched_getaffinity(0)), len(hosts)), strict=True):
            os.sched_setaffinity(host.anchor, cores)
    slots = [pes // len(hosts) + (index < pes % len(hosts)) for index in range(len(hosts))]
    # -P: modules of this package must not shadow those of Python.
    enter = [sys.executable, "-P", enter_host.__file__, ",".join(str(host.anchor) for host in hosts)]
    if odd := next((word for word in enter if " " in word or ":" in word), None):
        raise LullError(asked, f"mpirun cannot call {odd}: its path has a space or a colon", "install Lull elsewhere")
    mpirun = [
        *(mpirun_here, "-n", str(pes), "--oversubscribe", "--bind-to", "none", "--host", host_list(hosts, slots)),
        *options_of_daemons(mpirun_here, " ".join(enter)),
        *command,
    ]
    try:
        return run_guarded(
            [*enter, hosts[0].address, "exec", shlex.join(mpirun)],
            env={**_between_hosts(len(hosts)), **env},
            interrupts=interrupts,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        ).exit_code
    except InterruptedBySignal as stopped:
        raise InterruptedBySignal(f"{asked} {command[0]}", stopped.signum) from stopped


def of_open_mpi(name: str) -> str | None:
    """Open MPI's command `name`, or None; alternatives may assign the plain name to another library."""
    return next((found for word in (f"{name}.openmpi", name) if (found := shutil.which(word))), None)


def host_list(hosts: Sequence[Host], slots: Sequence[int]) -> str:
    """The value of Open MPI's option `--host`, for an `mpirun` that runs on the first host."""
    # Of a host with an address of its own, PRRTE 3 ignores the number of slots.
    here = hosts[0].name if hosts[0].named else socket.gethostname()
    names = [here, *(host.address for host in hosts[1:])]
    return ",".join(f"{name}:{count}" for name, count in zip(names, slots, strict=True))


def version_of(mpirun: str) -> int:
    """The first number of the version of Open MPI's `mpirun`; 0 for that of another library."""
    said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"Open MPI\) (\d+)", said)
    return int(version[1]) if version else 0


def options_of_daemons(mpirun: str, agent: str) -> list[str]:
    """The options of Open MPI's `mpirun` for its daemons on other hosts; it starts them by `agent` instead of ssh."""
    # Since 5.0 PRRTE is its launcher, which has options of its own.
    option, name = ("--prtemca", "plm_ssh_agent") if version_of(mpirun) >= 5 else ("--mca", "plm_rsh_agent")
    # Otherwise mpirun sleeps after SIGTERM on each host in turn, and surviving PEs wait for those that have ended.
    return [option, name, agent, option, "odls_base_sigkill_timeout", "0"]


def _between_hosts(count: int) -> dict[str, str]:
    """Settings of PEs and `mpirun` for hosts that are namespaces of one kernel."""
    told = {
        # UCX identifies a host by its kernel, and would use shared memory or the loopback between two hosts.
        "UCX_TLS": "tcp,self",
        # UCX creates a System V segment to test hooks that tcp does not need; a PE killed then would leave it.
        "UCX_MEM_EVENTS": "no",
        # Namespaces need root, so mpirun also runs as root, which it rejects unless these are set.
        **{f"{name}_ALLOW_RUN_AS_ROOT{suffix}": "1" for name in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")},
    }
    return told if count == 1 else {**told, "UCX_NET_DEVICES": INTERFACE}


def distributed(cpus: Sequence[int], hosts: int, sysroot: str = "/") -> list[set[int]]:
    """The hardware threads of each host: separate shares of cores, as far as there are enough.

    They are those of processes of `lull run` (`src/base/topology.hpp`).
    """
    return [set(share) for share in _core.core_shares(sysroot, list(cpus), hosts)]
