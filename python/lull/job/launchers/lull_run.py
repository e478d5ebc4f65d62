"""`lull run`, with lull-launch: PMIx's variables, and PMI's for the number of ranks."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level

PREFIX = "lull-"  # of the names of its jobs: `job_of_lull_launch` in src/base/launcher.hpp


class LullRun(Launcher):
    """It may run within a task of another launcher, which has set PMI's rank. The number of a process names a job."""

    name = "lull run"
    level = Level.LIBRARY
    programs = ("lull run", "lull-launch")
    number = ("-n",)

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        job = env.get("PMIX_NAMESPACE", "")
        if not job.startswith(PREFIX):
            return None
        return self.rank(env, job, ("PMIX_RANK", "PMI_SIZE"))


LAUNCHER = LullRun()
