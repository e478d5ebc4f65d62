"""Measured repeats in the state of an experiment: NNN.json is the repeat, NNN.parquet its samples."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from lull.base.parquet import read_table
from lull.experiment.state import ExperimentState
from lull.record import Repeat


def keep_repeat(state: ExperimentState, point: str, repeat: Repeat, samples: pa.Table) -> None:
    """Keep a finished repeat.

    Raises:
        LullError: It cannot be written.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(samples, sink, compression="zstd")
    state.keep(point, repeat.index, repeat.model_dump_json().encode(), {"parquet": sink.getvalue().to_pybytes()})


def load_repeats(state: ExperimentState, point: str, runs: int) -> tuple[list[Repeat], pa.Table]:
    """The first `runs` repeats of a point, and their samples.

    Raises:
        LullError: One of them is missing or damaged.
    """
    try:
        repeats = [Repeat.model_validate_json(state.path(point, index).read_bytes()) for index in range(runs)]
        samples = pa.concat_tables([read_table(state.path(point, index, "parquet")) for index in range(runs)])
    except (OSError, ValidationError, pa.ArrowException) as error:
        raise state.damaged(point) from error
    return repeats, samples
