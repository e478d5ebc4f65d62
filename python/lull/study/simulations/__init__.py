"""Studies of simulations: grids of jobs, topologies, mappings and power settings, compared with publications."""
