"""Studies of publications: compare what papers report with what the model computes for their machines."""
