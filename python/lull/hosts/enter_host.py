"""What `mpirun` calls in place of ssh: `python enter_host.py ANCHORS ADDRESS COMMAND...` runs COMMAND on a host.

ANCHORS are the process ids of the anchors of all hosts, in their order, with commas between; ADDRESS is one of a host.
COMMAND goes to a shell, as with ssh; its environment stays, and its cores become those of the anchor.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main(anchors: str, address: str, *words: str) -> NoReturn:
    """Become the command on that host."""
    from lull.hosts.virtual import Host, address_of

    by_address = {address_of(index): int(anchor) for index, anchor in enumerate(anchors.split(","))}
    anchor = by_address[address]
    os.sched_setaffinity(0, os.sched_getaffinity(anchor))
    command = Host(address, address, anchor).command(["sh", "-c", " ".join(words)])
    os.execvp(command[0], command)


if __name__ == "__main__":
    # Below a prefix of `cmake --install` the package is where only the command `lull` looks for it.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(*sys.argv[1:])
