"""`lull.load`: load a result of Lull from its folder."""

from __future__ import annotations

from pathlib import Path

from lull import record
from lull.library.predicted import PredictionResult, load_prediction
from lull.library.recorded import Recorded, load_record
from lull.library.simulated import SimulationResult, load_simulation
from lull.library.traced import Traced, load_trace
from lull.prediction.account import PREDICTION_FILE
from lull.simulation.account import SIMULATION_FILE
from lull.trace.convert import is_trace


def load(path: str | Path) -> Recorded | SimulationResult | PredictionResult | Traced:
    """Load the content of a folder: the record of a run or of a simulation, a prediction, or a trace.

    A traced run is both: `load` returns its record, and `lull.load_trace` the analysis of its trace.

    Args:
        path: A folder that a command of Lull wrote, or an OTF2 archive of another tool.

    Raises:
        LullError: The folder contains none of these, or it is damaged.
    """
    folder = Path(path)
    if (folder / PREDICTION_FILE).is_file():
        return load_prediction(folder)
    if (folder / SIMULATION_FILE).is_file():
        return load_simulation(folder)
    if (folder / record.RUN_FILE).is_file() or not is_trace(folder):
        return load_record(folder)
    return load_trace(folder)
