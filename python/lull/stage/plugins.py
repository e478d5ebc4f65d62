"""What a plug-in in Python is given: an iteration that has been written, with its blocks as arrays.

    def look(iteration: Iteration, variable: str) -> None:
        print(iteration.number, iteration.whole(variable).mean())

A function is called with the iteration, and by keywords with the options of its description. The arrays are the memory
of the simulation's output itself: they may only be read, and only during the call.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Block:
    """What one process has written of a variable."""

    variable: str
    unit: str
    process: int
    extents: tuple[int, ...]  # of the whole variable
    offset: tuple[int, ...]  # where the block begins in it
    data: npt.NDArray[Any]


@dataclass(frozen=True)
class Iteration:
    """What was written together: under `lull stage` by all clients of a server, else by one process."""

    number: int
    processes: int  # of the simulation
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
        """A variable in all its extents, copied; what others have is NaN, or 0 where the type has none."""
        blocks = self.of(variable)
        kind = blocks[0].data.dtype
        made = np.full(blocks[0].extents, np.nan if kind.kind == "f" else 0, kind)
        for block in blocks:
            made[tuple(slice(at, at + n) for at, n in zip(block.offset, block.data.shape, strict=True))] = block.data
        return made
