"""Run a command under `lull-guard`, so that none of its processes outlives this one.

The guard holds the reading end of a pipe, and this process the other end. When this process dies in any way, the guard
sees the end of the pipe and kills every descendant of the command. It also takes the time stamps around the command, so
that neither the start of Python nor its wake-up counts as the command's time.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from lull.base import installed
from lull.base.errors import LullError, describe_os_error
from lull.base.interrupts import FOR_THE_COMMAND, InterruptedBySignal, Interrupts

GRACE_S = 5.0  # time for a command to end by itself before the next, stronger signal

Stream = int | IO[bytes] | None


class LeftBehind(BaseModel):
    """Processes of a command that still ran after it had ended."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    processes: int = 0
    names: list[str] = []  # names of the first ones

    @property
    def words(self) -> str:
        """A warning about them, in one line."""
        more = ", ..." if self.processes > len(self.names) else ""
        are = "a process of it runs" if self.processes == 1 else f"{self.processes} processes of it run"
        return f"{are} on after the command has ended ({', '.join(self.names)}{more}): what that costs is in no figure"


class Ending(BaseModel):
    """How a command ended. Times are CLOCK_MONOTONIC in nanoseconds; CPU time is of all descendants, in seconds."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    exit_code: int  # 128 + n for signal n
    signal: int | None
    begin_ns: int
    end_ns: int
    user_s: float
    system_s: float
    max_rss_bytes: int
    left_behind: LeftBehind = LeftBehind()


class CannotExecuteError(Exception):
    """The command could not start; the guard has printed the reason. `exit_code` is 127 or 126, as in a shell."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def run_guarded(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    interrupts: Interrupts | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
) -> Ending:
    """Run `command` under the guard until it ends.

    Args:
        command: Program and arguments.
        env: Its whole environment.
        cwd: The folder it runs in; None: ours.
        interrupts: Signals to pass on; None leaves signals alone.
        stdin: As for `subprocess.Popen`; None inherits ours.
        stdout: Likewise.
        stderr: Likewise.

    Raises:
        CannotExecuteError: The command does not exist or is not executable.
        InterruptedBySignal: A signal asked to stop; the command and all its descendants have ended.
        LullError: The guard itself failed.
    """
    asked = f"run {command[0]}"
    guard = installed.executable("lull-guard")
    report_reader, report_writer = os.pipe()
    watch_reader, watch_writer = os.pipe()
    watch = GuardPipe(watch_writer)
    try:
        try:
            process = subprocess.Popen(
                [guard, "--report-fd", str(report_writer), "--watch-fd", str(watch_reader), "--", *command],
                env=dict(env),
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=(report_writer, watch_reader),
            )
        except OSError as error:
            raise LullError(asked, describe_os_error(error)) from error
        finally:
            os.close(report_writer)
            os.close(watch_reader)
        _wait(process, watch, interrupts)
        if interrupts is not None and interrupts.stop is not None:
            raise InterruptedBySignal(asked, interrupts.stop)
        return _read_report(asked, report_reader, process.returncode)
    finally:
        watch.close()
        os.close(report_reader)


@dataclass
class GuardPipe:
    """Our end of the pipe that keeps the command alive; closing it kills the command."""

    descriptor: int

    def close(self) -> None:
        """Close the pipe; a second call does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def _wait(process: subprocess.Popen[bytes], watch: GuardPipe, interrupts: Interrupts | None) -> None:
    """Wait for the guard to end; pass signals on, and send a stronger one after each grace period."""
    if interrupts is None:
        process.wait()
        return
    descriptor = os.pidfd_open(process.pid)
    deadline: float | None = None
    asked_to_end = False
    stops = 0
    try:
        while process.poll() is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            for signum in interrupts.wait(descriptor, left):
                if signum in FOR_THE_COMMAND:
                    process.send_signal(signum)
                    continue
                stops += 1
                if stops > 1:  # after the second request, kill it
                    watch.close()
                elif signum != signal.SIGINT or not _is_in_foreground():
                    process.send_signal(signal.SIGTERM if signum == signal.SIGINT else signum)
                    asked_to_end = True
                deadline = time.monotonic() + GRACE_S
            if deadline is not None and time.monotonic() >= deadline:
                if asked_to_end:
                    watch.close()
                    deadline = None
                else:
                    process.terminate()
                    asked_to_end = True
                    deadline = time.monotonic() + GRACE_S
    finally:
        os.close(descriptor)


def _is_in_foreground() -> bool:
    """Whether the terminal's interrupt key reaches the command directly, in the same process group."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _read_report(asked: str, reader: int, exit_code: int) -> Ending:
    os.set_blocking(reader, False)  # a descendant that kept the pipe must not block us
    try:
        content = os.read(reader, 65536)
    except BlockingIOError:
        content = b""
    try:
        report = json.loads(content)
        if isinstance(report, dict) and "error" in report:
            raise CannotExecuteError(exit_code)
        return Ending.model_validate(report)
    except (json.JSONDecodeError, ValidationError) as error:
        raise LullError(asked, f"lull-guard ended with code {exit_code} and without a report") from error
