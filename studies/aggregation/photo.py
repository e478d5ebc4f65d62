"""Write the colours of a photograph as indices of a histogram: python photo.py OUTPUT.npy

The photograph is the portrait of Grace Hopper that ships with matplotlib (James S. Davis, United States Navy, 1984;
public domain). Every pixel becomes one 24-bit index, red * 65536 + green * 256 + blue, so that a histogram of the
indices counts how often each colour occurs: real data, far from uniform.
"""

import sys
from pathlib import Path

import matplotlib.cbook
import matplotlib.image
import numpy as np

with matplotlib.cbook.get_sample_data("grace_hopper.jpg") as file:
    pixels = matplotlib.image.imread(file, format="jpg").reshape(-1, 3).astype(np.uint32)
with Path(sys.argv[1]).open("wb") as output:
    np.save(output, pixels[:, 0] << 16 | pixels[:, 1] << 8 | pixels[:, 2])
