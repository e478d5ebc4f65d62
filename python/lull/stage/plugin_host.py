"""The process in which a Python plug-in runs: `python -m lull.stage.plugin_host`, started by the writer of the output.

On descriptor 3 it reads lines of JSON, first the function, then each call, and answers each with a line, which is empty
or contains the error. It ends with the process that started it.
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
            raise ImportError(f"{place} is not a module")
        module = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str(Path(place).parent))
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(place)
    found: Callable[..., object] = getattr(module, function)
    if not callable(found):
        raise TypeError(f"{name} is not a function")
    return found


def block_of(told: dict[str, Any]) -> Block:
    """A block, mapped from its file."""
    shape = tuple(told["count"])
    data = np.memmap(told["file"], np.dtype(told["type"]), "r", told["position"], shape)
    return Block(told["variable"], told["unit"], told["process"], tuple(told["extents"]), tuple(told["offset"]), data)


def called(function: Callable[..., object], told: dict[str, Any]) -> None:
    """Call the plug-in with the received arguments."""
    blocks = [block_of(one) for one in told["blocks"]]
    iteration = Iteration(told["number"], told["processes"], Path(told["folder"]), told["name"], blocks)
    function(iteration, **told["options"])


def main() -> None:
    """Serve calls until the other end is closed."""
    with socket.socket(fileno=SOCKET) as connection, connection.makefile("rw", encoding="utf-8") as lines:
        function: Callable[..., object] | None = None
        for line in lines:
            told, said = json.loads(line), ""
            try:
                if function is None:
                    function = function_of(told["function"])
                else:
                    called(function, told)
            except (Exception, SystemExit) as problem:  # the simulation continues, whatever a plug-in raises
                said = " ".join(f"{type(problem).__name__}: {problem}".split())
            lines.write(said + "\n")
            lines.flush()


if __name__ == "__main__":
    main()
