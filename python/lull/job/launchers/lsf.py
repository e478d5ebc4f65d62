"""LSF: allocations, and the ranks that jsrun starts."""

from __future__ import annotations

import re

from lull.job.launchers.launcher import Allocation, Environment, JobRank, Launcher, Level, Query, count_in


class Lsf(Launcher):
    """All elements of a job array have one LSB_JOBID; the index is 0 in other jobs."""

    name = "LSF"
    level = Level.BATCH
    programs = ("jsrun", "lrun")
    probe = ("lsid",)
    one_node = "bsub -I -x -n 1"

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "JSM_NAMESPACE_RANK" not in env:
            return None
        on_node = count_in(env, "JSM_NAMESPACE_LOCAL_SIZE")
        return self.rank(env, env.get("PMIX_NAMESPACE", ""), ("JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"), on_node)

    def allocation(self, env: Environment) -> Allocation | None:
        """See `Launcher`."""
        if not env.get("LSB_JOBID"):
            return None
        name = _name_of(env)
        return Allocation(self.name, name, name, _nodes(env))

    def seconds_left(self, env: Environment, now: float, query: Query) -> float | None:
        """See `Launcher`. bjobs prints `0:12 L`, hours and minutes, or `-` if there is no limit."""
        found = re.match(r"\s*(\d+):(\d+)\b", query(["bjobs", "-noheader", "-o", "time_left", _name_of(env)]))
        return (int(found[1]) * 60 + int(found[2])) * 60.0 if found else None


def _name_of(env: Environment) -> str:
    index = env.get("LSB_JOBINDEX", "0")
    return env["LSB_JOBID"] if index == "0" else f"{env['LSB_JOBID']}[{index}]"


def _nodes(env: Environment) -> int | None:
    """The hosts of LSB_MCPU_HOSTS, `host slots host slots`; with jsrun, the first is that of the batch script."""
    hosts = env.get("LSB_MCPU_HOSTS", "").split()[::2]
    return len(set(hosts)) if hosts else count_in(env, "LSB_DJOB_NUMHOSTS")


LAUNCHER = Lsf()
