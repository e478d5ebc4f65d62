"""Live power: the newest readings of nodes, on a screen, in a table, or for Prometheus."""
