"""Studies of publications: what papers say, beside what the model makes of the machine files of their machines."""
