"""Run ranks of an MPI program on this host: each on a core of its own while there are enough.

on_this_host.py RANKS PROGRAM [ARGUMENTS...]
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Become mpirun."""
    if len(sys.argv) < 3:
        sys.exit("on_this_host: it takes a number of ranks and a program")
    ranks, *program = sys.argv[1:]
    enough = int(ranks) <= len(os.sched_getaffinity(0))
    bind = ["--bind-to", "core"] if enough else ["--oversubscribe", "--bind-to", "none"]
    # Namespaces need root, and Open MPI refuses root unless told that it is meant.
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    os.execvp("mpirun.openmpi", ["mpirun.openmpi", "-n", ranks, *bind, *program])


if __name__ == "__main__":
    main()
