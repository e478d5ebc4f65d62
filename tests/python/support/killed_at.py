"""`killed_at.py N ARG...` runs `lull ARG...` and kills it by SIGKILL at its Nth event; with N = 0, it counts them.

Events are what Python does below the working directory: it opens a file to write, renames, makes or removes something;
and it starts a process. At the end, their number goes to the file `events`. So tests kill at any moment,
without a clock.
"""

import itertools
import os
import signal
import sys
from pathlib import Path

CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir"}
WRITES = os.O_WRONLY | os.O_RDWR

at, here = int(sys.argv.pop(1)), str(Path.cwd())
numbers = itertools.count(1)


def _counts(event: str, args: tuple[object, ...]) -> bool:
    if event == "subprocess.Popen":
        return True
    writes = event == "open" and isinstance(args[2], int) and bool(args[2] & WRITES)
    if not writes and event not in CHANGES:
        return False
    return isinstance(args[0], str | bytes | Path) and str(Path(os.fsdecode(args[0])).absolute()).startswith(here)


def _hook(event: str, args: tuple[object, ...]) -> None:
    if _counts(event, args) and next(numbers) == at:
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(_hook)
try:
    from lull.cli import main

    main()
finally:
    total = next(numbers) - 1
    Path("events").write_text(str(total))
