"""Flux: the tasks of a job, and the instance in which a batch script runs."""

from __future__ import annotations

from lull.job.launchers.launcher import Allocation, Environment, JobRank, Launcher, Level, Query, count_in, is_number

UNLIMITED_S = 2**32 - 1  # `flux job timeleft` prints this or more if there is no limit


class Flux(Launcher):
    """Flux clears its own variables and Slurm's for the first program of an instance: a batch script has no rank."""

    name = "Flux"
    level = Level.INSTANCE
    programs = ("flux run",)
    number = ("-n", "--ntasks")
    probe = ("flux", "uptime")
    one_node = "flux run --nodes=1 --exclusive"
    starts_shells = True

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "FLUX_TASK_RANK" not in env:
            return None
        place = self.rank(env, "", ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"))
        return (
            JobRank(self.name, "", place.rank, place.size, place.size) if env.get("FLUX_JOB_NNODES") == "1" else place
        )

    def allocation(self, env: Environment) -> Allocation | None:
        """See `Launcher`. Instances count their jobs separately: only the path of identifiers is unique."""
        job = env.get("FLUX_JOB_ID") or env.get("FLUX_ENCLOSING_ID")
        if not job:
            return None
        return Allocation(self.name, job, env.get("FLUX_JOB_ID_PATH") or job, count_in(env, "FLUX_JOB_NNODES"))

    def seconds_left(self, env: Environment, now: float, query: Query) -> float | None:
        """See `Launcher`."""
        text = query(["flux", "job", "timeleft"]).strip()
        return float(text) if is_number(text) and int(text) < UNLIMITED_S else None


LAUNCHER = Flux()
