"""The output of MPI programs as they are: the environment in which processes set aside write it for them."""
