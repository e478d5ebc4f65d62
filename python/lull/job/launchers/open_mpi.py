"""mpirun of Open MPI: of 4.1, and of 5 and later, where PRRTE starts the ranks."""

from __future__ import annotations

from lull.job.launchers.launcher import Environment, JobRank, Launcher, Level, count_in, joined


class OpenMpi(Launcher):
    """Its ranks also have PMIx's variables. The job is named by mpirun's host and process.

    If it starts its daemons by ssh, only ranks on its own node have the variables of the batch system.
    """

    name = "Open MPI"
    level = Level.LIBRARY
    programs = ("mpirun", "mpiexec", "orterun", "prterun", "oshrun")
    number = ("-n", "-np", "--n", "--np")
    is_unique = True

    def place(self, env: Environment) -> JobRank | None:
        """See `Launcher`."""
        if "OMPI_COMM_WORLD_RANK" not in env:
            return None
        job = joined(env, "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri")
        on_node = count_in(env, "OMPI_COMM_WORLD_LOCAL_SIZE")
        return self.rank(env, job, ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), on_node)


LAUNCHER = OpenMpi()
