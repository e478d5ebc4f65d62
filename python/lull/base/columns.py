"""Columns of Arrow tables from arrays and texts, without pandas.

`pyarrow.array` imports pandas, if installed, to recognize its objects. This takes longer than everything else in a
short command, so commands build their tables from these columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: NDArray[Any]) -> pa.Array:
    """Integers or floats, shape (n,), as a column of the same type, which shares the memory of `values`."""
    assert values.dtype.kind in "iuf", values.dtype  # Arrow stores other types in another form
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def dtype_of(kind: pa.DataType) -> np.dtype[Any]:
    """The numpy type of a column of integers or floats; Arrow 17 would import pandas for this."""
    return np.dtype({"halffloat": "float16", "float": "float32", "double": "float64"}.get(str(kind), str(kind)))


def texts(values: Sequence[str]) -> pa.Array:
    """Texts as a column."""
    encoded = [value.encode() for value in values]
    ends = np.fromiter(accumulate(map(len, encoded), initial=0), dtype=np.int32, count=len(encoded) + 1)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(encoded), buffers)
