"""Regions and metrics of programs: the calls that mark them, and the merged accounts of processes."""
