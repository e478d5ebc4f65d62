"""`lull` without the half second of its imports: a process that has imported everything forks for each call.

The child has the arguments, folder, variables, files and end of a new process. It lacks its own command line and
variables in /proc: tests that look for `lull` itself among the processes start it cold (`Lull.start`).
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

# Variables that Python, the dynamic linker and the libraries read when they are loaded; a call that sets them starts
# cold.
READ_AT_START = ("PYTHON", "LD_", "MPL", "OMP_", "OPENBLAS_", "ARROW_")

# Modules that the package imports only where it needs them.
IMPORTED_LATE = (
    "jinja2",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.collections",
    "matplotlib.figure",
    "rich.table",
    "scipy.ndimage",
    "scipy.special",
)


class WarmLull:
    """The process that forks. It serves one call at a time, and ends when this object's process does."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def close(self) -> None:
        self._line.close()
        self._process.wait()

    def run(
        self, args: tuple[str, ...], folder: Path, env: dict[str, str], stdin: str, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Like `subprocess.run` of `lull ARGS` with captured output."""
        with self._turn:
            ends = [os.pipe() for _ in range(3)]
            (to_read, give), (out, to_write), (errors, to_complain) = ends
            theirs = [to_read, to_write, to_complain]
            request = json.dumps({"args": args, "folder": str(folder), "env": env}).encode()
            socket.send_fds(self._line, [request], theirs)
            for fd in theirs:
                os.close(fd)
            said: list[str] = ["", ""]
            talk = [
                threading.Thread(target=_write, args=(give, stdin)),
                threading.Thread(target=_read, args=(out, said, 0)),
                threading.Thread(target=_read, args=(errors, said, 1)),
            ]
            for thread in talk:
                thread.start()
            pid = int(self._line.recv(32))
            self._line.settimeout(timeout)
            try:
                code = int(self._line.recv(32))
            except TimeoutError:
                os.kill(pid, 9)
                self._line.settimeout(None)
                self._line.recv(32)
                raise subprocess.TimeoutExpired(["lull", *args], timeout) from None
            self._line.settimeout(None)
            for thread in talk:
                thread.join(timeout)
        return subprocess.CompletedProcess(["lull", *args], code, *said)


def _write(fd: int, text: str) -> None:
    try:
        with open(fd, "w", encoding="utf-8") as pipe:
            pipe.write(text)
    except BrokenPipeError:
        pass


def _read(fd: int, said: list[str], place: int) -> None:
    with open(fd, encoding="utf-8") as pipe:
        said[place] = pipe.read()


def _import_all() -> None:
    import lull

    for module in pkgutil.walk_packages(lull.__path__, "lull."):
        if not module.name.endswith(("__main__", "full_load")):
            importlib.import_module(module.name)
    for name in IMPORTED_LATE:
        importlib.import_module(name)


def _serve(line: socket.socket) -> None:
    """Fork for each request. Returns in the child, when it is set up; the parent ends with the line."""
    while True:
        request, files, _, _ = socket.recv_fds(line, 1 << 20, 3)
        if not request:
            sys.exit()
        pid = os.fork()
        if pid == 0:
            break
        for fd in files:
            os.close(fd)
        line.send(str(pid).encode())
        _, status = os.waitpid(pid, 0)
        line.send(str(os.waitstatus_to_exitcode(status)).encode())
    line.close()
    for place, fd in enumerate(files):
        os.dup2(fd, place)
        os.close(fd)
    call = json.loads(request)
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["env"])
    sys.argv = ["-c", *call["args"]]


def _run(main: Callable[[], None]) -> NoReturn:
    """Like a new process, to its end; but modules imported before the fork are not torn down: 0.4 s of CPU."""
    code: int | str | None = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    _import_all()
    gc.freeze()  # no collection after a fork touches, and so copies, the pages of imported modules
    sys.path.pop(0)  # this folder, which is not in the path of a call
    _serve(socket.socket(fileno=int(sys.argv[1])))
    from lull.cli import main

    _run(main)
