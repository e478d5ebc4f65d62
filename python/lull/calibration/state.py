"""The observations of a calibration so far, on disk: only finished parts, so that a kill loses the part in progress.

They are in $XDG_CACHE_HOME/lull/calibration/HOST, the state of an experiment whose points are the parts. It is removed
when the machine file is written.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from lull.calibration.parts import Observed
from lull.experiment.conditions import Conditions
from lull.experiment.state import CONDITIONS, STATE, ExperimentState

LONGEST_S: Final = 24 * 3600.0  # age after which a calibration is not continued


class CalibrationState:
    """The parts of one calibration; they are not kept if there is no home folder.

    Args:
        conditions: What must be the same for parts to belong together; parts of other conditions are discarded.
        fresh: Whether to discard all kept parts.
        environment: The environment, for XDG_CACHE_HOME and HOME.

    Raises:
        LullError: Another calibration of this host runs, or the folder cannot be written.
    """

    def __init__(
        self, conditions: Mapping[str, str], *, fresh: bool, environment: Mapping[str, str] = os.environ
    ) -> None:
        self._state: ExperimentState | None = None
        self._kept: dict[str, dict[str, Any]] = {}  # part -> seconds, observed
        home, host = environment.get("HOME"), socket.gethostname()
        base = environment.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
        if base is None:
            return
        now = Conditions(what="calibration", name=host, description="", settings=dict(conditions), node=host)
        self._state = state = ExperimentState(
            Path(base, "lull", "calibration", host), now.what, option="XDG_CACHE_HOME"
        )
        if fresh or state.conditions is None or state.conditions.differences(now) or not 0 <= _age_s(state) < LONGEST_S:
            state.clear([])
            state.begin(now)
        for path in (state.out / STATE).glob("*/000.json"):
            with suppress(ValueError, OSError):  # a damaged part is measured again
                self._kept[path.parent.name] = json.loads(path.read_bytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._state is not None:
            self._state.close()

    @property
    def parts(self) -> dict[str, Observed]:
        """The observations, by part."""
        return {name: part["observed"] for name, part in self._kept.items()}

    @property
    def seconds(self) -> float:
        """The total duration of the parts."""
        return sum(float(part["seconds"]) for part in self._kept.values())

    def keep(self, name: str, observed: Observed, seconds: float) -> None:
        """Keep a finished part."""
        self._kept[name] = {"seconds": seconds, "observed": observed}
        if self._state is not None:
            self._state.keep(name, 0, json.dumps(self._kept[name]).encode())

    def done(self) -> None:
        """Remove the parts from disk, because the machine file is written."""
        if self._state is not None:
            self._state.end()
            with suppress(OSError):  # something else is there
                self._state.out.rmdir()


def _age_s(state: ExperimentState) -> float:
    return time.time() - (state.out / STATE / CONDITIONS).stat().st_mtime
