"""The entry point of the command `lull`: a missing Python package gives one line instead of a traceback."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line (lull.cli)."""
    try:
        from lull.cli import main as run

        run()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "lull"):
            raise  # this installation is incomplete, not the user's Python
        line = f"start: Python package {package} is missing; {sys.executable} -m pip install {package}"
        print(f"lull: {line}", file=sys.stderr)
        sys.exit(1)
