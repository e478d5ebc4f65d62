"""Power now: the newest readings of nodes, on a screen, in a table, for Prometheus."""
