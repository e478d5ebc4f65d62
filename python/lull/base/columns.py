"""Columns of Arrow tables from arrays and texts, without pandas.

`pyarrow.array` imports pandas where that is installed, to see whether it is given one of its objects. That takes
longer than all else that a short command does, so tables that commands write are made of these columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[Any]) -> pa.Array:
    """Integers or floats, shape (n,), as a column of the same type; it keeps the memory of `values`."""
    assert values.dtype.kind in "iuf", values.dtype  # Arrow keeps other types in another form
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def dtype_of(kind: pa.DataType) -> np.dtype[Any]:
    """The type of the array of a column of integers or floats; Arrow 17 itself asks pandas."""
    return np.dtype({"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind)))


def texts(values: Sequence[str]) -> pa.Array:
    """Texts as a column."""
    encoded = [value.encode() for value in values]
    ends = np.fromiter(accumulate(map(len, encoded), initial=0), dtype=np.int32, count=len(encoded) + 1)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
