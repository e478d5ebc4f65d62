"""What works on this machine and what does not, with the fix: one module for each area, all of them in `areas.py`."""
