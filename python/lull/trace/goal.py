"""Write a recorded program in GOAL, the language of the simulators LogGOPSim and ATLAHS."""

from __future__ import annotations

from pathlib import Path

from lull import _core
from lull.base.errors import LullError
from lull.base.interrupts import Interrupts
from lull.base.native import native_errors
from lull.present.messages import say
from lull.trace.account import require_otf2
from lull.trace.convert import RAW
from lull.trace.progress import TraceProgress


def is_converted(folder: Path) -> bool:
    """Whether `folder` has an archive, or is the file of one, and no recordings that have yet to become one."""
    return not (folder / RAW).is_dir() and (folder.is_file() or any(folder.glob("*.otf2")))


def make_goal(archive: Path, target: Path, interrupts: Interrupts) -> None:
    """Write the program of an archive as a GOAL text, and report what the replay leaves out.

    Args:
        archive: The folder of an OTF2 archive, or its .otf2 file.
        target: The file, which must not exist yet.
        interrupts: Signals that may ask to stop.

    Raises:
        LullError: The file exists or cannot be written, the trace cannot be replayed, or has one-sided operations;
            InterruptedBySignal if a signal asked to stop. Nothing is written then.
    """
    asked = f"convert {archive} to GOAL"
    require_otf2(asked)
    if target.exists():
        raise LullError(asked, f"{target} exists already", "name another file with --goal or remove it")
    try:
        with TraceProgress("converting", "events", interrupts) as progress, native_errors():
            made = _core.write_goal(str(archive), str(target), progress)
    except LullError:
        interrupts.check(asked)
        raise
    for line in made.remarks:
        say(line)
    size = target.stat().st_size / 1e6
    say(f"GOAL of {made.ranks} ranks, {made.operations} operations, {size:.3g} MB in {target}")
