"""Lull from Python and notebooks: what a script or a cell calls, over the same functions as the command line.

`lull.load`, `lull.measure`, `lull.measuring` and `lull.compare` give objects that know their units and the kind of
their energies, show themselves in a notebook, draw themselves (`plot()` gives matplotlib's Axes) and become DataFrames.
"""
