"""How Sphinx builds Lull's documentation: `make docs`, or `sphinx-build -W docs OUT`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.insert(0, str(Path(__file__).parents[1] / "src" / "shmem" / "interface"))

import lull

project = "Lull"
author = "The authors of Lull"
copyright = "the authors of Lull"
version = release = lull.__version__

extensions = ["myst_parser", "lull_reference"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"Lull {version}"
html_copy_source = False
pygments_style = "friendly"
highlight_language = "text"
