"""Experiments that a TOML file describes: points, their runs, and a comparison with a paper's claims."""
