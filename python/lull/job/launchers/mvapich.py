"""mpirun_rsh of MVAPICH2, by the variables that its user guide names for use in scripts."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level, count_in


class Mvapich(Launcher):
    """Its other launcher, mpiexec, is Hydra, which also sets these variables."""

    name = "MVAPICH2"
    level = Level.LIBRARY
    programs = ("mpirun_rsh",)
    number = ("-n", "-np")

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "MV2_COMM_WORLD_RANK" not in env or "MPI_LOCALNRANKS" in env:
            return None
        on_node = count_in(env, "MV2_COMM_WORLD_LOCAL_SIZE")
        return self.rank(env, "", ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"), on_node)


LAUNCHER = Mvapich()
