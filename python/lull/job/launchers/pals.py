"""PALS of HPE Cray EX: mpiexec and aprun under PBS.

No variable states the number of ranks if PMIx serves them. The file of PALS_APINFO does, which Cray's PMI library
reads: version, and sizes and numbers of tables, in the layout of a C struct; the number of ranks is the 11th.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Final

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level, count_in

# int version, size_t, size_t, size_t, int, size_t, size_t, int, size_t, size_t, int; equal in versions 1 to 5.
HEADER: Final = struct.Struct("@iNNNiNNiNNi")
NEWEST: Final = 5


class Pals(Launcher):
    """Slurm and Flux set these variables, too, for Cray's PMI library."""

    name = "PALS"
    level = Level.INTERFACE
    programs = ("mpiexec", "aprun")
    number = ("-n", "-np", "--np")

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "PALS_RANKID" not in env:
            return None
        on_node = count_in(env, "PALS_LOCAL_SIZE")
        ranks = None if "PMI_SIZE" in env else _ranks_in(env.get("PALS_APINFO", ""))
        if ranks is None:
            return self.rank(env, env.get("PALS_APID", ""), ("PALS_RANKID", "PMI_SIZE"), on_node)
        return self.rank(
            {**env, "PALS_APINFO": str(ranks)}, env.get("PALS_APID", ""), ("PALS_RANKID", "PALS_APINFO"), on_node
        )


def _ranks_in(file: str) -> int | None:
    try:
        with Path(file).open("rb") as stream:
            fields = HEADER.unpack(stream.read(HEADER.size))
    except (OSError, struct.error):
        return None
    return fields[10] if 1 <= fields[0] <= NEWEST else None


LAUNCHER = Pals()
