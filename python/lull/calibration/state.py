"""The observations of a calibration so far, on disk: only finished parts, so that an interrupt loses one part.

The file is $XDG_CACHE_HOME/lull/calibration/HOST.json. It is removed when the machine file is written.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.base.whole_file import write_whole
from lull.calibration.parts import Observed

LONGEST_S: Final = 24 * 3600.0  # age after which a calibration is not continued


class CalibrationConditions(BaseModel):
    """What must be the same for parts to belong together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lull: str
    boot_id: str
    cores: int
    launcher: str
    storage: str
    quick: bool


class CalibrationStateFile(BaseModel):
    """The file."""

    model_config = ConfigDict(extra="forbid")

    begun: CalibrationConditions
    when: float  # time.time()
    seconds: float = 0.0  # duration of the parts
    parts: dict[str, dict[str, Any]] = {}


class CalibrationState:
    """The parts of one calibration; they are not kept if there is no home folder.

    Args:
        begun: The conditions; parts kept for other conditions are discarded.
        fresh: Whether to discard all kept parts.
        environment: The environment, for XDG_CACHE_HOME and HOME.
    """

    def __init__(
        self, begun: CalibrationConditions, *, fresh: bool, environment: Mapping[str, str] = os.environ
    ) -> None:
        home = environment.get("HOME")
        base = environment.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
        self._path = Path(base, "lull", "calibration", f"{socket.gethostname()}.json") if base else None
        known = None if fresh else self._read()
        if known is None or known.begun != begun or not 0 <= time.time() - known.when < LONGEST_S:
            known = CalibrationStateFile(begun=begun, when=time.time())
        self._kept = known

    @property
    def parts(self) -> dict[str, Observed]:
        """The observations, by part."""
        return self._kept.parts

    @property
    def seconds(self) -> float:
        """The total duration of the parts."""
        return self._kept.seconds

    def keep(self, name: str, observed: Observed, seconds: float) -> None:
        """Keep a finished part."""
        self._kept.parts[name] = observed
        self._kept.seconds += seconds
        if self._path is not None:
            content = json.dumps(self._kept.model_dump(mode="json")).encode()
            write_whole(self._path, content, "state of the calibration", "XDG_CACHE_HOME")

    def done(self) -> None:
        """Remove the file, because the machine file is written."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _read(self) -> CalibrationStateFile | None:
        try:
            return None if self._path is None else CalibrationStateFile.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return None
