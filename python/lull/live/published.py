"""The readings that a measurement in progress publishes for `lull top` and `lull export`: a file for each node.

While `lull measure --publish` writes the record DIR, the folder `.DIR.live` next to it contains NODE.json, a
`NodeReading`. Each file is replaced as a whole, so a reader never sees an incomplete one. The measurement removes the
folder at its end; a killed measurement may leave it, which its age reveals.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from lull.base.errors import LullError, describe_os_error
from lull.live.node_reading import NodeReading

STALE_S = 30.0  # age of a file from which on its measurement counts as killed; clocks of nodes may differ by less


def folder_beside(record: Path) -> Path:
    """The folder of the readings of the measurement that writes `record`."""
    whole = record.absolute()
    return whole.with_name(f".{whole.name}.live")


class Publisher:
    """Writes the readings of this node next to the record in progress.

    Raises:
        LullError: The folder cannot be written.
    """

    def __init__(self, record: Path) -> None:
        self._folder = folder_beside(record)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            asked = f"publish readings in {self._folder}"
            raise LullError(asked, describe_os_error(error), "choose a folder you may write with --out") from error

    def show(self, reading: NodeReading) -> None:
        """Replace the file of the node; a full disk only loses the reading."""
        aside = self._folder / f".{reading.node}.new"
        with suppress(OSError):
            aside.write_text(reading.model_dump_json(by_alias=True), encoding="utf-8")
            aside.replace(self._folder / f"{reading.node}.json")

    def close(self) -> None:
        """Remove the published readings, because the measurement has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)


def read_published(record: Path) -> list[NodeReading]:
    """The newest reading of every node in the measurement that writes `record`.

    Raises:
        LullError: Nothing is published for it, or nothing new.
    """
    asked = f"read what is measured for {record}"
    folder = folder_beside(record)
    if not folder.is_dir():
        if (record / "run.json").exists():
            raise LullError(asked, "the measurement has ended", "see it with lull report")
        raise LullError(asked, "no measurement publishes its readings there", "start it with lull measure --publish")
    found = []
    for path in sorted(folder.glob("[!.]*.json")):
        try:
            found.append(NodeReading.model_validate_json(path.read_bytes()))
        except FileNotFoundError:  # the measurement has just ended
            continue
        except OSError as error:
            raise LullError(asked, f"{path}: {describe_os_error(error)}") from error
        except ValidationError as error:
            raise LullError(asked, f"{path} is not a reading of this version of Lull") from error
    now = datetime.now(UTC)
    fresh = [one for one in found if (now - one.time).total_seconds() < STALE_S]
    if found and not fresh:
        words = f"its last readings are {(now - max(one.time for one in found)).total_seconds():.0f} s old"
        raise LullError(asked, f"{words}: the measurement was killed", f"remove {folder}")
    return fresh
