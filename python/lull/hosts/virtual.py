"""Virtual hosts, joined by links of limited rate: programs on two hosts share neither network nor host name.

A virtual host is a network namespace and a UTS namespace (its own interfaces and host name) on this machine's cores,
memory and file system. The namespaces have no names: a small process, the host's anchor, holds them, and they disappear
when it and the programs on the host have ended. The anchor ends with this process, even if that is killed by SIGKILL.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from lull.base.errors import LullError, UsageError, describe_os_error
from lull.base.packages import this_system

INTERFACE = "lull0"  # the only interface of every host, with the same name on all
_NETWORK = "10.91.7"
MOST_HOSTS = 250
_VARIABLE = "LULL_HOSTS"  # describes the hosts to commands that run while they exist
_WIRES = "LULL_WIRE_INTERFACES"
_UP_S = 5.0
_END_S = 2.0  # time for programs on a host to end after SIGKILL

# The anchor, within the namespaces of a new host. It ends when its standard input ends.
_ANCHOR = 'hostname "$1" && ip link set lo up && echo ready && exec cat'
# /sys shows the interfaces of the namespace in which it was mounted.
_ENTER = 'mount -t sysfs sysfs /sys && exec "$@"'


def address_of(index: int) -> str:
    """The address of the host with this index, by which all hosts of one `virtual_hosts` reach it."""
    return f"{_NETWORK}.{index + 1}"


@dataclass(frozen=True)
class Link:
    """The limits of each host's link.

    Args:
        rate: Rate at which a host may send, in the notation of `tc`: ``1gbit``. None: no limit.
        burst: Amount that may be sent at once before the rate applies, in the notation of `tc`.
        gso_bytes: Largest segment that the kernel passes to the link; it must fit into the burst.
    """

    rate: str | None = None
    burst: str = "20kb"
    gso_bytes: int = 16384


@dataclass(frozen=True)
class Host:
    """One host, which exists while the context of `virtual_hosts` does."""

    name: str
    address: str
    anchor: int  # the process that holds its namespaces
    named: bool = True  # whether programs on it see `name` as the host's name, or that of this machine
    port: str | None = None  # the switch's end of its cable, in the form of LULL_WIRE_INTERFACES

    def command(self, words: Sequence[str]) -> list[str]:
        """The command that runs `words` on this host, in the folder from which it is called."""
        enter = ["nsenter", f"--target={self.anchor}", "--net", *(["--uts"] if self.named else []), "--"]
        return [*enter, "unshare", "--mount", "--", "sh", "-c", _ENTER, "sh", *words]


def as_environment(hosts: Sequence[Host]) -> dict[str, str]:
    """The variables that describe existing hosts to a command, and to `lull run` in it.

    Wires that the user has named are kept; those of enclosing hosts are not.
    """
    ports = ",".join(f"{host.port}={host.name}" for host in hosts if host.port is not None)
    named = _WIRES in os.environ and _VARIABLE not in os.environ
    wires = {_WIRES: ports} if ports and not named else {}
    return {_VARIABLE: json.dumps([asdict(host) for host in hosts]), **wires}


def hosts_there() -> list[Host]:
    """The hosts that `as_environment` described to this command, if any.

    Raises:
        LullError: The hosts have gone, or the variable is invalid.
    """
    told = os.environ.get(_VARIABLE)
    if not told:
        return []
    asked = f"use the hosts of {_VARIABLE}"
    try:
        hosts = [Host(**host) for host in json.loads(told)]
    except (TypeError, ValueError) as error:
        raise LullError(asked, "it does not describe hosts", f"unset {_VARIABLE}") from error
    for host in hosts:
        if not Path(f"/proc/{host.anchor}/ns/net").exists():
            raise LullError(asked, f"{host.name} has gone", f"unset {_VARIABLE}, or run it within lull hosts")
    return hosts


def end_programs(hosts: Sequence[Host]) -> None:
    """Kill the programs that still run on these hosts, and keep the hosts."""
    for host in hosts:
        _end_programs(host.anchor)


@contextmanager
def virtual_hosts(
    count: int, link: Link | None = None, *, prefix: str = "host", named: bool = True, switch: bool = False
) -> Iterator[list[Host]]:
    """Make `count` hosts that reach each other over links like `link`, and remove them at the end.

    Two hosts are joined directly unless `switch` is set; more hosts are joined by a switch, which is a bridge. Programs
    that still run on a host at the end are killed.

    Args:
        count: Number of hosts.
        link: Limits of every link.
        prefix: Prefix of their names; a number follows.
        named: Whether programs see this name. If not, they see this machine's, so that a measurement outside accepts
            their reports as its own.
        switch: Whether to join even two hosts by a bridge, on which each has a port whose bytes can be read.

    Raises:
        UsageError: The count is out of range, or `tc` does not understand the link.
        LullError: The system does not permit namespaces, or lacks a program or a part of the kernel.
    """
    link = link or Link()
    asked = f"make {count} virtual host{'s' * (count != 1)}"
    if not 1 <= count <= MOST_HOSTS:
        raise UsageError(asked, f"it must be 1 to {MOST_HOSTS}")
    for program in ("ip", "tc", "nsenter", "unshare", "hostname"):
        if shutil.which(program) is None:
            raise LullError(asked, f"there is no program {program}", this_system().install("namespaces"))
    with ExitStack() as stack:
        hosts = [
            Host(name, address_of(index), stack.enter_context(_anchor(asked, name)), named)
            for index, name in enumerate(f"{prefix}{number}" for number in range(count))
        ]
        if count == 2 and not switch:
            _join(asked, hosts[0].anchor, INTERFACE, hosts[1].anchor, INTERFACE, link)
        elif count > 1:
            bridge = stack.enter_context(_anchor(asked, f"{prefix}-switch"))
            _inside(asked, bridge, "ip", "link", "add", "bridge", "type", "bridge")
            _inside(asked, bridge, "ip", "link", "set", "bridge", "up")
            for index, host in enumerate(list(hosts)):
                port = f"port{index}"
                _join(asked, host.anchor, INTERFACE, bridge, port, link)
                _inside(asked, bridge, "ip", "link", "set", port, "master", "bridge", "up")
                hosts[index] = replace(host, port=f"{port}@{bridge}")
        for host in hosts if count > 1 else []:
            _inside(asked, host.anchor, "ip", "address", "add", f"{host.address}/24", "dev", INTERFACE)
            _inside(asked, host.anchor, "ip", "link", "set", INTERFACE, "up")
            if link.rate is not None:
                limit = ("tbf", "rate", link.rate, "burst", link.burst, "latency", "50ms")
                _inside(asked, host.anchor, "tc", "qdisc", "add", "dev", INTERFACE, "root", *limit)
        for host in hosts if count > 1 else []:
            _await_up(asked, host)
        yield hosts


@contextmanager
def _anchor(asked: str, name: str) -> Iterator[int]:
    """Start an anchor with new namespaces, in which the loopback is up; yields its process id."""
    command = ["unshare", "--net", "--uts", "--", "sh", "-c", _ANCHOR, "sh", name]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None and process.stderr is not None
            if process.stdout.readline() != "ready\n":
                said = process.stderr.read().strip().splitlines()
                raise LullError(
                    asked,
                    said[-1] if said else "the first program in the namespaces ended",
                    "run as root, in a container with --privileged",
                )
            yield process.pid
        finally:
            _end_programs(process.pid)
            process.kill()


def _join(asked: str, first: int, first_name: str, second: int, second_name: str, link: Link) -> None:
    """Create a cable between the namespaces of two anchors."""
    pieces = ("gso_max_size", str(link.gso_bytes))
    peer = ("peer", "name", second_name, *pieces, "netns", str(second))
    _inside(asked, first, "ip", "link", "add", first_name, *pieces, "type", "veth", *peer)


def _await_up(asked: str, host: Host) -> None:
    """Wait until the host's interface can send, which takes some time after both ends are up."""
    end = time.monotonic() + _UP_S
    while "state UP" not in _inside(asked, host.anchor, "ip", "link", "show", INTERFACE):
        if time.monotonic() > end:
            raise LullError(asked, f"the link of {host.name} is not up after {_UP_S:g} s")
        time.sleep(0.01)


def _inside(asked: str, anchor: int, *words: str) -> str:
    """Run a set-up command in the network namespace of an anchor; return its output."""
    try:
        run = subprocess.run(
            ["nsenter", f"--target={anchor}", "--net", "--", *words], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise LullError(asked, f"{words[0]}: {describe_os_error(error)}") from error
    if run.returncode != 0:
        said = run.stderr.strip().splitlines()
        kind = UsageError if words[0] == "tc" and "illegal" in run.stderr.lower() else LullError
        raise kind(asked, f"{' '.join(words)}: {said[0] if said else f'exit {run.returncode}'}")
    return run.stdout


def _end_programs(anchor: int) -> None:
    """Kill all processes in the network namespace of the anchor, except the anchor, until none is left."""
    with suppress(OSError):
        inside = Path(f"/proc/{anchor}/ns/net").stat().st_ino
        end = time.monotonic() + _END_S
        while time.monotonic() < end:
            left = [pid for pid in _processes_of(inside) if pid != anchor]
            if not left:
                return
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)


def _processes_of(network: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with suppress(OSError):
                if (entry / "ns/net").stat().st_ino == network:
                    found.append(int(entry.name))
    return found


@contextmanager
def hosts_for_job(count: int, rate: str | None) -> Iterator[Sequence[Host]]:
    """Hosts for one job: the first of the existing ones, or new ones.

    Raises:
        UsageError: There are hosts, and the request does not match them.
        LullError: New hosts cannot be made.
    """
    there = hosts_there()
    if not there:
        with virtual_hosts(count, Link(rate)) as made:
            yield made
        return
    asked = f"run on {count} of the hosts that are there"
    if count > len(there):
        raise UsageError(asked, f"there are {len(there)}", "give lull hosts a larger number")
    if rate is not None:
        raise UsageError(asked, f"their links have a rate already, and --rate {rate} is given", "give it to lull hosts")
    try:
        yield there[:count]
    finally:
        end_programs(there[:count])
