"""What a program would take on a machine that is not here: a small run is traced, continued, and simulated there."""
