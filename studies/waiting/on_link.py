"""Run a program on two PEs of two virtual hosts, joined by a link of limited rate.

    on_link.py LAUNCHER RATE PROGRAM [ARGUMENTS...]

The link is honest: its bucket holds little more than one piece the kernel sends, so that a transfer after a pause waits
for the link and not only for the processor. The hosts bear this machine's name: what programs report there belongs to
the measurement here. Ends as the program does; nothing of the hosts is left.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

from lull.hosts.program import run_to_its_end
from lull.hosts.virtual import INTERFACE, Link, virtual_hosts

# PMIx and UCX offer only addresses of this host, unless told which interface others can reach.
REACHABLE = {
    "PMIX_MCA_ptl_tcp_if_include": INTERFACE,
    "PMIX_MCA_ptl_tcp_remote_connections": "1",
    "UCX_NET_DEVICES": INTERFACE,
}


def run() -> int:
    """The exit code of the program."""
    if len(sys.argv) < 4:
        print("on_link: it takes a launcher, a rate and a program", file=sys.stderr)
        return 2
    launcher, rate, *program = sys.argv[1:]
    with virtual_hosts(2, Link(rate), named=False) as hosts:
        other = f'if [ "$PMIX_RANK" = 1 ]; then exec {shlex.join(hosts[1].command([]))} "$@"; fi; exec "$@"'
        launch = [launcher, "-n", "2", "--nodes", "2", "--", "sh", "-c", other, "sh", *program]
        return subprocess.run(hosts[0].command(launch), env={**os.environ, **REACHABLE}, check=False).returncode


if __name__ == "__main__":
    sys.exit(run_to_its_end("on_link", run))
