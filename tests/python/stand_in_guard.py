"""A stand-in for lull-guard, for tests where the native part is not built: same options, same report, same promises."""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


def descendants(root: int) -> list[int]:
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(entry.parent.name)] = int(entry.read_text().rpartition(")")[2].split()[1])
    found, todo = [], [root]
    while todo:
        parent = todo.pop()
        children = [pid for pid, of in parents.items() if of == parent]
        found += children
        todo += children
    return found


def end_descendants() -> None:
    while found := descendants(os.getpid()):
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.005)


def kill_all_when_watch_ends(watch: int) -> None:
    os.read(watch, 1)
    end_descendants()
    os._exit(137)


def main() -> None:
    at = sys.argv.index("--")
    report, watch, command = int(sys.argv[2]), int(sys.argv[4]), sys.argv[at + 1 :]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin = time.monotonic_ns()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(report)
        os.close(watch)
        try:
            os.execvp(command[0], command)
        except OSError as error:
            print(f"lull: run {command[0]}: {error.strerror}", file=sys.stderr)
            os._exit(127 if isinstance(error, FileNotFoundError) else 126)
    stops = []

    def pass_on(signum: int, frame: object) -> None:
        if signum in (signal.SIGTERM, signal.SIGHUP):
            stops.append(signum)
        os.kill(pid, signum)

    for forwarded in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(forwarded, pass_on)
    threading.Thread(target=kill_all_when_watch_ends, args=(watch,), daemon=True).start()
    _, status = os.waitpid(pid, 0)
    end = time.monotonic_ns()
    if stops:
        end_descendants()
    code = os.waitstatus_to_exitcode(status)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    ending = {
        "exit_code": code if code >= 0 else 128 - code,
        "signal": -code if code < 0 else None,
        "begin_ns": begin,
        "end_ns": end,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "max_rss_bytes": usage.ru_maxrss * 1024,
    }
    os.write(report, json.dumps({"error": "not executable"} if code in (126, 127) else ending).encode() + b"\n")
    os._exit(ending["exit_code"])


main()
