"""Numbers in, numbers out: medians with intervals, rank tests, GPS-UP, and how numbers are written for people."""
