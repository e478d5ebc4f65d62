"""Measuring commands in turn: their repeats and records; resumable state and progress, for studies and sweeps, too."""
