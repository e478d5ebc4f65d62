"""The energy meter of this node: around a piece of work, on the idle machine, and calibrated against full load."""
