"""`python -m lull` is the command `lull`."""

import sys
from pathlib import Path

if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
    del sys.path[0]  # the working directory, which -m puts there and which may contain, say, a numpy.py

from lull.start import main

if __name__ == "__main__":
    main()
