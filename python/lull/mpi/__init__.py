"""MPI programs as they are: how the interposer `liblull-mpi` comes into them, and which programs it cannot reach."""
