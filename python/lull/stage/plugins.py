"""The argument of a Python plug-in: an iteration that has been written, with its blocks as arrays.

    def look(iteration: Iteration, variable: str) -> None:
        print(iteration.number, iteration.whole(variable).mean())

The function is called with the iteration, and with the options of its description as keyword arguments. The arrays
refer to the memory of the simulation's output: they may only be read, and only during the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Block:
    """The part of a variable that one process has written."""

    variable: str
    unit: str
    process: int
    extents: tuple[int, ...]  # of the whole variable
    offset: tuple[int, ...]  # position of the block in it
    data: npt.NDArray[Any]


@dataclass(frozen=True)
class Iteration:
    """The data of one iteration: under `lull stage` from all clients of a server, otherwise from one process."""

    number: int
    processes: int  # number of processes of the simulation
    folder: Path  # of the output
    name: str  # of the output
    blocks: list[Block]

    def of(self, variable: str) -> list[Block]:
        """The blocks of one variable.

        Raises:
            KeyError: There are none.
        """
        found = [block for block in self.blocks if block.variable == variable]
        if not found:
            raise KeyError(f"no block of {variable}")
        return found

    def whole(self, variable: str) -> npt.NDArray[Any]:
        """A copy of a variable in its full extents; parts that others have are NaN, or 0 if the type has no NaN."""
        blocks = self.of(variable)
        kind = blocks[0].data.dtype
        made = np.full(blocks[0].extents, np.nan if kind.kind == "f" else 0, kind)
        for block in blocks:
            made[tuple(slice(at, at + n) for at, n in zip(block.offset, block.data.shape, strict=True))] = block.data
        return made
