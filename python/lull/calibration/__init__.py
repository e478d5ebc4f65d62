"""Calibrate this machine: run measuring programs part by part, and write their observations as a machine file."""
