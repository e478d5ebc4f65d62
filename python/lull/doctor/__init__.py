"""Check what works on this machine, with fixes for what does not: one module per area, listed in `areas.py`."""
