"""Locks of files: one holder at a time, nothing left, and file systems without locks."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lull.base.file_lock import FileLock, Taken

COUNTING = """
import sys, time
from pathlib import Path
from lull.base.file_lock import FileLock, Taken
folder, times = Path(sys.argv[1]), int(sys.argv[2])
number = folder / "number"
while times > 0:
    try:
        with FileLock(folder / "lock"):
            number.write_text(str(int(number.read_text()) + 1))
            times -= 1
    except Taken:
        time.sleep(0.001)
"""


def test_only_one_holds_it_and_nothing_is_left(tmp_path: Path) -> None:
    with FileLock(tmp_path / "lock") as held:
        assert held.works
        with pytest.raises(Taken):
            FileLock(tmp_path / "lock")
    assert not list(tmp_path.iterdir())
    FileLock(tmp_path / "lock").release()


def test_no_increment_of_four_processes_is_lost(tmp_path: Path) -> None:
    (tmp_path / "number").write_text("0")
    counting = [subprocess.Popen([sys.executable, "-c", COUNTING, str(tmp_path), "20"]) for _ in range(4)]
    assert [process.wait() for process in counting] == [0] * 4
    assert (tmp_path / "number").read_text() == "80"


def test_a_file_that_a_killed_holder_left_can_be_locked(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    with FileLock(tmp_path / "lock") as held:
        assert held.works
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK])
def test_a_file_system_without_locks_is_no_other_holder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuses(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuses)
    with FileLock(tmp_path / "lock") as held:
        assert not held.works
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_missing_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FileLock(tmp_path / "missing" / "lock")
