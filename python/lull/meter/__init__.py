"""The energy meter of this node: for a piece of work, on the idle machine, and for calibration under full load."""
