"""A launcher of which only PMI's variables are known: those of PMI-1 and PMI-2."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level


class Pmi(Launcher):
    """Of a stack of launchers it may be any; launchers with variables of their own come first."""

    name = "PMI"
    level = Level.PROTOCOL

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        return self.rank(env, env.get("PMI_JOBID", ""), ("PMI_RANK", "PMI_SIZE")) if "PMI_RANK" in env else None


LAUNCHER = Pmi()
