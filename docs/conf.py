"""How Sphinx builds Lull's documentation: `make docs`, or `sphinx-build -W docs OUT`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
sys.path.insert(0, str(Path(__file__).parents[1] / "src" / "shmem" / "interface"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "python" / "support"))  # what is run of the examples

import lull

project = "Lull"
author = "The authors of Lull"
copyright = "the authors of Lull"
version = release = lull.__version__

extensions = ["myst_nb", "sphinx_design", "lull_reference"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# The notebooks are kept without output and run in each build, in folders that are removed afterwards.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

html_theme = "furo"
html_title = f"Lull {version}"
html_static_path = ["_static"]
html_css_files = ["own.css"]
html_copy_source = False
pygments_style = "friendly"
highlight_language = "text"
