"""Unmodified MPI programs: how the interposer `liblull-mpi` is preloaded, and which programs it cannot reach."""
