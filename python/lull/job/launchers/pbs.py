"""PBS (PBS Professional, OpenPBS, Torque): allocations. It starts no ranks; mpiexec of an MPI library does, or PALS."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

from lull.job.launchers.launcher import Allocation, Environment, Launcher, Level, Query, count_in


class Pbs(Launcher):
    """The number of an element of a job array is part of the job's: `1234[5].server`."""

    name = "PBS"
    level = Level.BATCH
    probe = ("qstat", "-B")
    one_node = "qsub -I -l nodes=1, and there"

    def allocation(self, env: Environment) -> Allocation | None:
        """See `Launcher`."""
        job = env.get("PBS_JOBID")
        return Allocation(self.name, job.partition(".")[0], job, _nodes(env)) if job else None

    def seconds_left(self, env: Environment, now: float, query: Query) -> float | None:
        """See `Launcher`. Torque states what is left, the others a limit and the time of the start."""
        said = query(["qstat", "-f", env["PBS_JOBID"]])
        if left := re.search(r"^\s*Walltime\.Remaining = (\d+)$", said, re.MULTILINE):
            return float(left[1])
        limit = re.search(r"^\s*Resource_List\.walltime = (\d+):(\d+):(\d+)$", said, re.MULTILINE)
        start = re.search(r"^\s*(?:stime|start_time) = (.+)$", said, re.MULTILINE)
        if limit is None or start is None:
            return None
        hours, minutes, seconds = map(int, limit.groups())
        with suppress(ValueError):  # in local time, as ctime() of C writes it
            began = time.mktime(time.strptime(start[1], "%a %b %d %H:%M:%S %Y"))
            return began + hours * 3600 + minutes * 60 + seconds - now
        return None


def _nodes(env: Environment) -> int | None:
    """The hosts that the file names, once for each process or chunk."""
    try:
        return len(set(Path(env["PBS_NODEFILE"]).read_text(encoding="utf-8").split())) or None
    except (KeyError, OSError):
        return count_in(env, "PBS_NUM_NODES")


LAUNCHER = Pbs()
