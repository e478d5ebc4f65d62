"""Writing a file so that it is whole or as it was: aside first, synced, then renamed into place."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from lull.base.errors import LullError, describe_os_error


def write_whole(out: Path, content: bytes, what: str, option: str, *, sync: bool = True) -> None:
    """Write `content` to `out`, replacing what is there.

    Args:
        out: The file; its folder is made when it is not there.
        content: All of it.
        what: What it is, for the error: `report`.
        option: The option that chooses another place, for the error: `--out`; "" where none does.
        sync: Whether it must outlast a crash of the machine.

    Raises:
        LullError: It is a folder, or cannot be written.
    """
    asked = f"write the {what} {out}"
    if out.is_dir():
        raise LullError(asked, "it is a folder", f"name another place with {option}")
    aside: Path | None = None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
        aside = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        aside.chmod(0o644)
        aside.replace(out)
    except OSError as error:
        fix = f"choose a folder you may write with {option}" if option else "make its folder writable"
        raise LullError(asked, describe_os_error(error), fix) from error
    finally:
        if aside is not None:
            aside.unlink(missing_ok=True)
