"""Predict a program on another machine: trace a small run, extrapolate it, and simulate it there."""
