"""The process in which a plug-in in Python runs: `python -m lull.stage.plugin_host`, started by who writes the output.

By its descriptor 3 it is told, in lines of JSON, first the function, then each call; it answers each with a line:
empty, or what was wrong. It ends with who has started it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lull.stage.plugins import Block, Iteration

SOCKET = 3


def function_of(name: str) -> Callable[..., object]:
    """The function of `file.py:function` or `module:function`."""
    place, _, function = name.rpartition(":")
    if place.endswith(".py"):
        spec = importlib.util.spec_from_file_location(Path(place).stem, place)
        if spec is None or spec.loader is None:
            raise ImportError(f"{place} is no module")
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(Path(place).parent))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found: Callable[..., object] = getattr(module, function)
    if not callable(found):
        raise TypeError(f"{name} is no function")
    return found


def block_of(told: dict[str, Any]) -> Block:
    """A block, mapped from the file that holds it."""
    shape = tuple(told["count"])
    data = np.memmap(told["file"], np.dtype(told["type"]), "r", told["position"], shape)
    return Block(told["variable"], told["unit"], told["process"], tuple(told["extents"]), tuple(told["offset"]), data)


def called(function: Callable[..., object], told: dict[str, Any]) -> None:
    """Call the plug-in with what was told."""
    blocks = [block_of(one) for one in told["blocks"]]
    iteration = Iteration(told["number"], told["processes"], Path(told["folder"]), told["name"], blocks)
    function(iteration, **told["options"])


def main() -> None:
    """Serve until the other end is closed."""
    with socket.socket(fileno=SOCKET) as connection, connection.makefile("rw", encoding="utf-8") as lines:
        function: Callable[..., object] | None = None
        for line in lines:
            told, said = json.loads(line), ""
            try:
                if function is None:
                    function = function_of(told["function"])
                else:
                    called(function, told)
            except (Exception, SystemExit) as problem:  # whatever a plug-in raises: its simulation goes on
                said = " ".join(f"{type(problem).__name__}: {problem}".split())
            lines.write(said + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
