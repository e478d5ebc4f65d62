"""Studies of simulations: grids of jobs, topologies, mappings and power settings, held against what was published."""
