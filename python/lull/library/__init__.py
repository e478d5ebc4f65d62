"""Lull for Python scripts and notebooks, based on the same functions as the command line.

`lull.load`, `lull.measure`, `lull.measuring` and `lull.compare` return objects that have units and kinds of energy,
display themselves in a notebook, draw plots (`plot()` returns matplotlib's Axes) and convert to DataFrames.
"""
