"""The replacement of ssh for `mpirun`: `python enter_host.py ANCHORS ADDRESS COMMAND...` runs COMMAND on a host.

ANCHORS are the process ids of the anchors of all hosts, in order, separated by commas; ADDRESS is that of a host. A
shell runs COMMAND, as with ssh; it keeps its environment, and gets the cores of the anchor.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def main(anchors: str, address: str, *words: str) -> NoReturn:
    """Replace this process by the command, on the host with this address."""
    from lull.hosts.virtual import Host, address_of

    by_address = {address_of(index): int(anchor) for index, anchor in enumerate(anchors.split(","))}
    anchor = by_address[address]
    os.sched_setaffinity(0, os.sched_getaffinity(anchor))
    command = Host(address, address, anchor).command(["sh", "-c", " ".join(words)])
    os.execvp(command[0], command)


if __name__ == "__main__":
    # Below a prefix of `cmake --install`, only the command `lull` finds the package.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(*sys.argv[1:])
