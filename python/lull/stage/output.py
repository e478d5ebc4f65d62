"""The output of a Python simulation as blocks of variables: lull/stage.h with numpy arrays.

    with Output("output.toml", rank, size) as output:
        output.set("nx", 512)
        for step in range(steps):
            ...
            output.write("temperature", temperature)
            output.end_iteration(step)

It calls the library liblull-stage, which C, C++ and Fortran parts of a process use, too. Under `lull stage`, servers
write; otherwise each process writes its own data.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt

from lull.base import installed
from lull.base.errors import LullError, UsageError

LIBRARY = "liblull-stage.so.0"
DROPPED, INCOMPLETE, FAILED = 1, 2, -1  # LULL_STAGE_...


class Output:
    """The output of this process until `close()` or the end of `with`. A process has at most one at a time.

    Args:
        description: The path of a TOML file, or, if it contains a line break, the TOML itself.
        process: The number of this process, from 0.
        processes: Number of processes that write.

    Raises:
        LullError: The description is wrong, or the output's folder cannot be created.
    """

    def __init__(self, description: str | Path, process: int, processes: int) -> None:
        _check(_library().lull_stage_open(_text(str(description)), process, processes))

    def __enter__(self) -> Output:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def set(self, parameter: str, value: int) -> None:
        """Set a parameter of the description; not allowed within an iteration."""
        _check(_library().lull_stage_set(_text(parameter), value))

    def place(self, variable: str, offset: Sequence[int], count: Sequence[int]) -> None:
        """Set the position and size of this process's block of a variable, in the order of its layout's extents."""
        dimensions = _check(_library().lull_stage_dimensions(_text(variable)))
        if len(offset) != dimensions or len(count) != dimensions:
            raise UsageError(
                f"place the block of {variable}",
                f"it has {dimensions} dimensions, not {len(offset)} and {len(count)}",
                "give one number for each",
            )
        numbers = ctypes.c_int64 * dimensions
        _check(_library().lull_stage_place(_text(variable), numbers(*offset), numbers(*count)))

    def write(self, variable: str, data: npt.ArrayLike) -> None:
        """Copy this process's block of a variable.

        Raises:
            LullError: The type or size of `data` differs from that of the description.
        """
        library = _library()
        kind = library.lull_stage_type(_text(variable))
        if kind is None:
            _check(FAILED)
        given = np.asarray(data)
        if given.dtype != np.dtype(kind.decode()):
            raise UsageError(
                f"write the variable {variable}", f"its type is {kind.decode()}, not {given.dtype}", "convert it"
            )
        wanted = _check(library.lull_stage_bytes(_text(variable)))
        if given.nbytes != wanted:
            raise UsageError(
                f"write the variable {variable}",
                f"this process's block has {wanted} bytes, not {given.nbytes}",
                "see `cut` of its layout",
            )
        copied = np.ascontiguousarray(given)
        _check(library.lull_stage_write(_text(variable), copied.ctypes.data_as(ctypes.c_void_p)))

    def end_iteration(self, iteration: int) -> bool:
        """Submit what was written since the last call; False if it was dropped because the buffer was full."""
        return _check(_library().lull_stage_end_iteration(iteration)) != DROPPED

    def close(self) -> None:
        """End the output; data of an unfinished iteration is lost."""
        _check(_library().lull_stage_close())


def join(folder: Path) -> list[str]:
    """Join the files of all processes for all iterations in a folder that lack such a file; return what is missing.

    Raises:
        LullError: There are no iterations, or a file cannot be written.
    """
    library = _library()
    if _check(library.lull_stage_join(_text(str(folder)))) != INCOMPLETE:
        return []
    said: bytes = library.lull_stage_error()
    return said.decode().splitlines()


def _text(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("a zero byte ends no name")
    return text.encode()


def _check(result: int) -> int:
    if result >= 0:
        return result
    said: bytes = _library().lull_stage_error()
    asked, _, found = said.decode().partition(": ")
    raise LullError(asked, found)


@functools.cache
def _library() -> ctypes.CDLL:
    path = installed.library(LIBRARY)
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise LullError("write output", f"{path} cannot be loaded: {error}", "install Lull again") from error
    name, number, numbers = ctypes.c_char_p, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)
    for function, arguments in {
        "lull_stage_open": [name, ctypes.c_int, ctypes.c_int],
        "lull_stage_set": [name, number],
        "lull_stage_place": [name, numbers, numbers],
        "lull_stage_write": [name, ctypes.c_void_p],
        "lull_stage_bytes": [name],
        "lull_stage_dimensions": [name],
        "lull_stage_type": [name],
        "lull_stage_end_iteration": [number],
        "lull_stage_close": [],
        "lull_stage_join": [name],
        "lull_stage_error": [],
    }.items():
        getattr(library, function).argtypes = arguments
    library.lull_stage_bytes.restype = ctypes.c_int64
    library.lull_stage_type.restype = ctypes.c_char_p
    library.lull_stage_error.restype = ctypes.c_char_p
    return library
