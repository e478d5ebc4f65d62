"""Measure commands in turn: repeats and records; also the resumable state and the progress of studies and sweeps."""
