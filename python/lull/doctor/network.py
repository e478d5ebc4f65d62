"""Virtual hosts: whether `lull hosts` can make them, tested with one pair and a link of limited rate."""

from __future__ import annotations

from lull.base.errors import LullError
from lull.doctor.finding import Finding, Machine
from lull.hosts.virtual import Link, virtual_hosts


def look(machine: Machine) -> list[Finding]:
    """Make two hosts, and remove them again."""
    if not machine.is_this:
        return []
    try:
        with virtual_hosts(2, Link(rate="1gbit"), prefix="doctor"):
            pass
    except LullError as error:
        fix = "root, or CAP_SYS_ADMIN and CAP_NET_ADMIN, make them" if "there is no program" not in str(error) else ""
        return [Finding("virtual hosts", "missing", str(error), fix)]
    return [Finding("virtual hosts", "works", "made and removed two, with a link of 1 Gbit/s")]
