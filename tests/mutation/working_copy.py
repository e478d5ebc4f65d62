"""A copy of the checkout, in which mutants are built and run: the checkout itself is never changed.

The copy has its own folder and is updated at the start: only files that differ are written, so that object files of the
others stay valid. Each process started here is ended, with all its descendants, when its time is over or the caller is
interrupted.
"""

from __future__ import annotations

import fcntl
import math
import os
import resource
import shlex
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

MEMORY_KB = 4 << 20  # of address space: a mutant that allocates without end fails instead of filling the machine
ASLEEP = 20  # a command may take this many times its CPU time
QUICKLY = "-Og"  # compiles as fast as -O0, and the result runs several times faster


class CopyError(Exception):
    """What could not be done, in one line."""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit status, None if its time was over; its output; its CPU time."""

    status: int | None
    output: str
    cpu_s: float


class WorkingCopy:
    """The copy in the folder `tree` and its build in `build`; one process at a time uses them."""

    def __init__(self, checkout: Path, tree: Path, build: Path) -> None:
        tree.mkdir(parents=True, exist_ok=True)
        self._lock = tree.with_suffix(".lock").open("w")  # until the process ends, however it does
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CopyError(f"use {tree}: another call is using it; wait until it has ended") from None
        self.checkout, self.tree, self.build = checkout, tree, build

    def update(self) -> None:
        """Copy the files of the checkout that git knows or would know, in their current state, and delete others."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=self.checkout,
            capture_output=True,
            text=True,
            check=False,
        )
        if listed.returncode != 0:
            raise CopyError(f"copy {self.checkout}: git cannot list its files; run this in a checkout of git")
        names = {name for name in listed.stdout.split("\0") if (self.checkout / name).is_file()}
        for name in sorted(names):
            source, target = self.checkout / name, self.tree / name
            if target.is_file() and target.read_bytes() == source.read_bytes():
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
            target.chmod(source.stat().st_mode)
        for path in self.tree.rglob("*"):
            if path.is_file() and str(path.relative_to(self.tree)) not in names:
                path.unlink()

    def configure(self) -> None:
        """Configure the build if there is none yet: each source by itself, hardly optimised."""
        if (self.build / "build.ninja").exists():
            return
        done = self.run(
            [
                *("cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja"),
                *("-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG={QUICKLY}"),
                *("-DCMAKE_UNITY_BUILD=OFF", "-DLULL_BUILD_PYTHON=OFF", f"-DPython_EXECUTABLE={sys.executable}"),
            ]
        )
        if done.status != 0:
            raise CopyError(f"configure {self.build}: cmake fails: {last_line(done.output)}; run make develop first")

    def compile(self, target: str) -> Ended:
        """Build a target, with CMAKE_BUILD_PARALLEL_LEVEL jobs if the environment sets it."""
        return self.run(["cmake", "--build", str(self.build), "--target", target])

    def run(self, command: list[str], cpu_limit_s: float | None = None) -> Ended:
        """Run a command in the copy, for at most this CPU time, and a multiple of it in elapsed time."""
        # `python -S` finds the package of the copy: the site module would find the checkout's first. Compiled modules
        # are identified by size and second, by which one mutant may look like another, so none are kept.
        settings = {
            "PYTHONPATH": os.pathsep.join([str(self.tree / "python"), sysconfig.get_path("purelib")]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        # CPU time, because other load on the machine may stop any process for long.
        cpu_limit = f"ulimit -S -t {math.ceil(cpu_limit_s)}; " if cpu_limit_s is not None else ""
        words = ["sh", "-c", f"ulimit -v {MEMORY_KB}; {cpu_limit}exec {shlex.join(command)}"]
        before = _cpu_s_of_children()
        with subprocess.Popen(
            words,
            cwd=self.tree,
            env=os.environ | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=None if cpu_limit_s is None else ASLEEP * cpu_limit_s)
                status = None if process.returncode == -signal.SIGXCPU else process.returncode
            except subprocess.TimeoutExpired:
                output, status = "", None
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        return Ended(status, output, _cpu_s_of_children() - before)


def _cpu_s_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def last_line(output: str) -> str:
    """The last line that is not empty."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "it printed nothing")
