"""mpiexec of MPICH, Intel MPI and MVAPICH: Hydra."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level, count_in


class Hydra(Launcher):
    """It names a job only in Intel's form. Its ranks inherit the environment of mpiexec, on other nodes, too."""

    name = "Hydra"
    level = Level.LIBRARY
    # TACC's ibrun chooses between the launchers of the MPI libraries there.
    programs = ("mpirun", "mpiexec", "mpiexec.hydra", "ibrun")
    number = ("-n", "-np")

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "PMI_RANK" not in env or "MPI_LOCALNRANKS" not in env:
            return None
        on_node = count_in(env, "MPI_LOCALNRANKS")
        return self.rank(env, env.get("I_MPI_HYDRA_UUID", ""), ("PMI_RANK", "PMI_SIZE"), on_node)


LAUNCHER = Hydra()
