"""A launcher of which only PMIx's variables are known, e.g. prun of PRRTE. The number of ranks is not among them."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level


class Pmix(Launcher):
    """Its ranks can be measured if PMI_SIZE is set, too."""

    name = "PMIx"
    level = Level.PROTOCOL
    programs = ("prun",)
    number = ("-n", "-np", "--n", "--np")

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "PMIX_RANK" not in env or "PMI_RANK" in env:
            return None
        return self.rank(env, env.get("PMIX_NAMESPACE", ""), ("PMIX_RANK", "PMI_SIZE"))


LAUNCHER = Pmix()
