"""Run ranks of an MPI program on two virtual hosts, joined by a link of limited rate.

    on_link.py RATE RANKS PROGRAM [ARGUMENTS...]

The link is honest: its bucket holds little more than one piece the kernel sends. The hosts bear this machine's name:
what programs report there belongs to the measurement here. Ends as the program does; nothing of the hosts is left.
"""

from __future__ import annotations

import os
import sys

from lull.hosts.mpirun import run_on_hosts
from lull.hosts.program import run_to_its_end
from lull.hosts.virtual import INTERFACE, Link, virtual_hosts


def run() -> int:
    """The exit code of the program."""
    if len(sys.argv) < 4:
        print("on_link: it takes a rate, a number of ranks and a program", file=sys.stderr)
        return 2
    rate, ranks, *program = sys.argv[1:]
    with virtual_hosts(2, Link(rate), prefix="link") as hosts:
        return run_on_hosts(hosts, int(ranks), program, env={**os.environ, "OMPI_MCA_btl_tcp_if_include": INTERFACE})


if __name__ == "__main__":
    sys.exit(run_to_its_end("on_link", run))
