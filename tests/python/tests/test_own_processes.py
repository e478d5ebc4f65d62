"""Tests see only what they have started on the machine; state shared with other tests is as good as new."""

import os
import subprocess
import threading
from pathlib import Path

import pytest

from conftest import Lull, kill_all, processes_with, wait_until
from lull.cli import COMMANDS
from own_segments import separate_segments, shared_segments


def made_by(*enter: str) -> str:
    """The number of a new System V segment."""
    made = subprocess.run([*enter, "ipcmk", "-M", "4096"], capture_output=True, text=True, check=True)
    return made.stdout.split()[-1]


@pytest.mark.skipif(not separate_segments(), reason="namespaces need root")
def test_segments_of_other_programs_are_not_seen_and_our_own_are() -> None:
    outside = ("nsenter", f"--target={os.getppid()}", "--ipc")
    before = shared_segments()
    theirs = made_by(*outside)
    assert shared_segments() == before
    ours = made_by()
    assert shared_segments() - before == {ours}
    subprocess.run(["ipcrm", "-m", ours], check=True)
    subprocess.run([*outside, "ipcrm", "-m", theirs], check=True)


def test_processes_that_end_meanwhile_are_none(tmp_path: Path) -> None:
    env = {**os.environ, "MARK": str(tmp_path)}
    enough = threading.Event()

    def come_and_go() -> None:
        while not enough.is_set():
            subprocess.run(["true"], env=env, check=True)

    others = threading.Thread(target=come_and_go)
    others.start()
    for _ in range(50):
        kill_all(processes_with(str(tmp_path), name="sleep"))
    enough.set()
    others.join()


def test_a_process_is_found_by_all_its_marks_and_its_name(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "600"], env={**os.environ, "MARK": f"{tmp_path}/one"}) as sleeping:
        assert wait_until(lambda: processes_with(str(tmp_path), name="sleep") == [sleeping.pid])
        assert processes_with(f"{tmp_path}/one", "600") == [sleeping.pid]
        assert processes_with(f"{tmp_path}/one", f"{tmp_path}/two") == []
        assert processes_with(str(tmp_path), name="cat") == []
        sleeping.kill()


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (("--version",), ""),
        (("measure", "--out", "r", "cat"), "through\n"),
        (("measure", "sh", "-c", "pwd; echo $EXTRA; exit 3"), ""),
        (("compare", "nothing", "nowhere"), ""),
        (("run", "-n", "2", "sh", "-c", "kill -9 $$"), ""),
    ],
)
def test_a_warm_start_is_like_a_cold_one(lull: Lull, args: tuple[str, ...], stdin: str) -> None:
    def said(caller: Lull) -> tuple[int, str]:
        done = caller.run(*args, stdin=stdin)
        for path in caller.folder.glob("r*"):
            path.rename(caller.folder / f"was-{len(list(caller.folder.iterdir()))}")
        return done.returncode, done.stdout

    lull.env["EXTRA"] = "an extra"
    assert said(lull) == said(lull.cold)


def test_each_command_is_listed_once() -> None:
    assert len(set(COMMANDS)) == len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_imports_what_it_needs(lull: Lull, command: str) -> None:
    done = lull.cold.run(command, "--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"Usage: lull {command}")
