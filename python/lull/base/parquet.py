"""Tables as Parquet files with any path: Arrow itself accepts only paths in UTF-8."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq


def write_table(table: pa.Table, path: Path) -> None:
    """Write a table.

    Raises:
        OSError: It cannot be written.
    """
    with path.open("wb") as file:
        pq.write_table(table, file, compression="zstd")


def read_table(path: Path) -> pa.Table:
    """Read a table.

    Raises:
        OSError: It cannot be read.
        pyarrow.ArrowException: It is not Parquet, or is damaged.
    """
    try:
        with path.open("rb") as file:
            return pq.ParquetFile(file).read()  # pq.read_table imports Arrow's datasets, and pandas
    except UnicodeDecodeError as error:  # a damaged name
        raise pa.ArrowInvalid(str(error)) from error
