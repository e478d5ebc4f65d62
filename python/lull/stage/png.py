"""A plug-in of Lull that draws a slice of a variable as a picture.

[[plugins]]
python = "lull.stage.png:png_slice"
every = 10
options = { variable = "temperature", dimension = 0, index = 16 }
"""

from __future__ import annotations

import numpy as np
from matplotlib import image

from lull.stage.plugins import Iteration


def png_slice(
    iteration: Iteration,
    variable: str,
    dimension: int = 0,
    index: int | None = None,
    low: float | None = None,
    high: float | None = None,
    colours: str = "viridis",
) -> None:
    """Write FOLDER/NAME.VARIABLE.000010.png: the slice at `index` of a dimension, in colours from `low` to `high`.

    If several processes write, each draws its own data, and the name contains its lowest process: .p0003.png.

    Args:
        iteration: The data of the iteration.
        variable: A variable with two or three dimensions; with two, the slice is the variable itself.
        dimension: The dimension to cut, for three dimensions.
        index: Position of the cut; default: the middle.
        low: Value of the first colour; default: the minimum.
        high: Value of the last colour; default: the maximum.
        colours: A colour map of matplotlib.
    """
    blocks = iteration.of(variable)
    whole = iteration.whole(variable)
    if whole.ndim == 3:
        index = whole.shape[dimension] // 2 if index is None else index
        whole = np.take(whole, index, axis=dimension)
    if whole.ndim != 2:
        raise ValueError(f"{variable} has {whole.ndim} dimensions, a slice has 2")
    several = len({block.process for block in iteration.blocks}) < iteration.processes
    part = f".p{min(block.process for block in blocks):04}" if several else ""
    path = iteration.folder / f"{iteration.name}.{variable.replace('/', '_')}.{iteration.number:06}{part}.png"
    hidden = path.with_name(f".{path.name}.aside")
    image.imsave(hidden, whole.astype(np.float64), vmin=low, vmax=high, cmap=colours, format="png")
    hidden.replace(path)
