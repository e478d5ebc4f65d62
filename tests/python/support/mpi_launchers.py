"""The options by which each library's mpirun places ranks: on cores of this machine, or on virtual hosts."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lull.hosts import enter_host
from lull.hosts.mpirun import distributed, host_list, options_of_daemons
from lull.hosts.virtual import INTERFACE, Host, Link, virtual_hosts

# Containers and CI are root.
ENVIRONMENT = {f"{name}_ALLOW_RUN_AS_ROOT{suffix}": "1" for name in ("OMPI", "PRTE") for suffix in ("", "_CONFIRM")}
# Between virtual hosts. UCX identifies a host by its kernel, and would use shared memory between two of them. Over the
# tcp of UCX, MPICH hangs plainly: 4.0 often in MPI_Finalize and in MPI_Ssend, 4.3 and 5.0 anywhere.
_BETWEEN_HOSTS = {
    "OMPI_MCA_btl_tcp_if_include": INTERFACE,
    "OMPI_MCA_oob_tcp_if_include": INTERFACE,
    "PRTE_MCA_prte_if_include": INTERFACE,
    "UCX_NET_DEVICES": INTERFACE,
    "UCX_TLS": "tcp,self",
    "UCX_MEM_EVENTS": "no",
    "FI_TCP_IFACE": INTERFACE,
    "MPIR_CVAR_CH4_NETMOD": "ofi",
    "I_MPI_FABRICS": "shm:ofi",
}


@dataclass(frozen=True)
class Launcher:
    """The options of a kind of mpirun."""

    pinned: tuple[str, ...]  # a core for each rank
    free: tuple[str, ...]  # any core for each rank
    hosts: str  # ranks on hosts; {hosts}, {slots}, {each} and {agent} are replaced
    is_of_open_mpi: bool = False

    def on_hosts(self, mpirun: str, hosts: Sequence[Host], ranks: int, agent: Path) -> list[str]:
        """The options that start `ranks` ranks on the hosts, in blocks."""
        each = -(-ranks // len(hosts))
        words = {
            "hosts": ",".join(host.address for host in hosts),
            "slots": host_list(hosts, [each] * len(hosts)),
            "each": str(each),
            "agent": str(agent),
        }
        options = [word.format(**words) for word in self.hosts.split()]
        return [*options, *options_of_daemons(mpirun, str(agent))] if self.is_of_open_mpi else options


OPEN_MPI = Launcher(
    pinned=("--bind-to", "core"),
    free=("--oversubscribe", "--bind-to", "none"),
    hosts="--bind-to none --host {slots}",
    is_of_open_mpi=True,
)
_HYDRA = f"-ppn {{each}} -hosts {{hosts}} -iface {INTERFACE}"
HYDRA = Launcher(("-bind-to", "core"), (), hosts=f"-launcher ssh -launcher-exec {{agent}} {_HYDRA}")
# Without an option, it pins each rank to a core.
HYDRA_OF_INTEL = Launcher((), ("-genv", "I_MPI_PIN", "0"), hosts=f"-bootstrap ssh -bootstrap-exec {{agent}} {_HYDRA}")


@dataclass(frozen=True)
class OnHosts:
    """Virtual hosts, and the program that each mpirun calls instead of ssh."""

    hosts: Sequence[Host]
    agent: Path
    enter: Sequence[str]

    def start(self, launcher: Launcher, mpirun: str, ranks: int, *command: object) -> list[str]:
        """The words that start `ranks` ranks on the hosts; run them with `environment`."""
        options = launcher.on_hosts(mpirun, self.hosts, ranks, self.agent)
        words = [mpirun, "-n", str(ranks), *options, *map(str, command)]
        return [*self.enter, self.hosts[0].address, "exec", shlex.join(words)]

    @property
    def environment(self) -> dict[str, str]:
        """The variables that libraries need on virtual hosts."""
        return {**ENVIRONMENT, **_BETWEEN_HOSTS}


@contextmanager
def hosts_for_mpi(folder: Path, count: int = 2, link: Link | None = None) -> Iterator[OnHosts]:
    """Virtual hosts with separate cores, if there are enough. The folder gets a script."""
    with virtual_hosts(count, link or Link()) as hosts:
        cores = distributed(sorted(os.sched_getaffinity(0)), count)
        for host, own in zip(hosts, cores, strict=True):
            os.sched_setaffinity(host.anchor, own)
        enter = [sys.executable, "-P", enter_host.__file__, ",".join(str(host.anchor) for host in hosts)]
        agent = folder / "instead-of-ssh"
        # The host follows the options of ssh.
        agent.write_text(f'#!/bin/sh\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\nexec {shlex.join(enter)} "$@"\n')
        agent.chmod(0o755)
        yield OnHosts(hosts, agent, enter)
