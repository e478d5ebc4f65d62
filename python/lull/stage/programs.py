"""The environment that stages the files that a command's MPI programs write by HDF5 or MPI-IO."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.base import installed
from lull.base.errors import UsageError
from lull.mpi.preload import preloaded

AUTO = "auto"  # the model chooses
APPROACHES = ("time-partitioning", "dedicated-cores=N", "dedicated-nodes=N", AUTO)


@dataclass(frozen=True)
class StageRequest:
    """The requested settings; None: the value in the environment."""

    approach: str
    buffer: str | None = None
    when_full: str | None = None
    sync: bool | None = None
    storage_limit: str | None = None
    figures: tuple[Path, ...] = ()
    objective: str | None = None
    close: str | None = None
    file_sync: str | None = None
    verify: Path | None = None

    def settings(self) -> dict[str, str]:
        """The environment variables of the request.

        Raises:
            UsageError: There is no such approach.
        """
        if not re.fullmatch(rf"{AUTO}|time-partitioning|dedicated-(cores|nodes)(=0*[1-9]\d*)?", self.approach):
            choice = ", ".join(APPROACHES)
            raise UsageError(
                f"stage --approach {self.approach}",
                "there is no such approach",
                f"choose one of {choice}, with N from 1",
            )
        if self.verify is not None and not self.approach.startswith("dedicated-cores"):
            raise UsageError(
                f"stage --approach {self.approach} --checksums {self.verify}",
                "no server writes files that all processes write together",
                "choose --approach dedicated-cores=N",
            )
        given = {
            "LULL_STAGE": self.approach,
            "LULL_STAGE_BUFFER": self.buffer,
            "LULL_STAGE_WHEN_FULL": self.when_full,
            "LULL_STAGE_PYTHON": sys.executable,
            "LULL_STAGE_PACKAGE": str(installed.import_folder()),
            "LULL_STAGE_FSYNC": None if self.sync is None else str(int(self.sync)),
            "LULL_STAGE_STORAGE_LIMIT": self.storage_limit,
            "LULL_STAGE_FIGURES": ":".join(str(path.absolute()) for path in self.figures) or None,
            "LULL_STAGE_OBJECTIVE": self.objective,
            "LULL_STAGE_CLOSE": self.close,
            "LULL_STAGE_SYNC": self.file_sync,
            "LULL_STAGE_VERIFY": None if self.verify is None else str(self.verify.absolute()),
        }
        return {variable: value for variable, value in given.items() if value is not None}


def staged_by(request: StageRequest, environment: Mapping[str, str], *, command: Sequence[str] = ()) -> dict[str, str]:
    """`environment`, changed so that the output of a command's MPI programs is written as requested.

    Args:
        request: The approach, the buffer and further settings.
        environment: The environment of the command.
        command: The command, for `preloaded`.

    Raises:
        LullError: The interposer is missing, or there is no such approach.
    """
    return preloaded(environment, tools=request.settings(), command=command)
