"""The inputs of the native model: machines, sites of publications, and the figures of runs."""
