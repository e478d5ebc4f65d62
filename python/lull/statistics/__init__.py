"""Pure functions of numbers: medians with intervals, rank tests, GPS-UP, and number formatting."""
