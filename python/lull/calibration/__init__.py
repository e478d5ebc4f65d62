"""Calibrating this machine: measuring programs part by part, and what they observed as a machine file."""
