"""A simulation on emulated nodes whose output is written by one approach; `auto` has seen the simulation once before.

    stencil.py MEMORY NODESxCORES APPROACH STEPS EVERY STEPS_OF_AN_OUTPUT

MEMORY is the folder in which `auto` keeps what it has learned of earlier runs. The rest is that of io/run.py, whose
`simulate` this is. It reports the time to the end of the output: no meter could see cores that are not there.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import lull
from lull.hosts.program import run_to_its_end

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "io"))
from run import simulate


def run() -> int:
    """Reports what was found."""
    memory, architecture, approach = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    steps, every, steps_of_output = int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6])
    own = memory / ("auto" if approach == "auto" else "others")
    own.mkdir(exist_ok=True)
    os.environ["XDG_CACHE_HOME"] = str(own)
    seen = own / f"{architecture}.{steps}.{every}.{steps_of_output}"
    if approach == "auto" and not seen.exists():
        record = os.environ.pop("LULL_RECORD", None)  # what it learns here is no part of the run that is measured
        simulate(architecture, approach, steps, every, steps_of_output)
        seen.touch()
        os.environ |= {} if record is None else {"LULL_RECORD": record}
    clients = simulate(architecture, approach, steps, every, steps_of_output)["clients"]
    lull.metric_mean("seconds", clients["wall_s"] / clients["processes"], "s")
    return 0


if __name__ == "__main__":
    sys.exit(run_to_its_end("stencil", run))
