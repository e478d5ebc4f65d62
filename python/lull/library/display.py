"""Results as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lull.base.errors import LullError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def as_pandas(rows: pa.Table) -> pd.DataFrame:
    """An Arrow table as a DataFrame.

    Raises:
        LullError: pandas is not installed.
    """
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise LullError("make a DataFrame", "pandas is not installed", "pip install pandas") from error
    frame: pd.DataFrame = rows.to_pandas()
    return frame
