"""The output of MPI programs as they are: the environment in which processes set aside write it for them.

And that of programs that hand over blocks of variables: `lull.stage.output`.
"""
