"""The output of unmodified MPI programs: the environment in which dedicated processes write it.

`lull.stage.output` is for programs that submit blocks of variables.
"""
