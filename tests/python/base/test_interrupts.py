"""Signals that are recorded while a command runs, and restored afterwards."""

import fcntl
import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lull.base.abandoning import AbandonedError, run_until_interrupted
from lull.base.interrupts import Interrupts

# A library that is loaded before Python starts, as an MPI library may be: Python cannot name its handler.
LIBRARY = """
#include <signal.h>
static void handler(int number) { (void)number; }
__attribute__((constructor)) static void install(void) { signal(SIGUSR1, handler); }
"""
PROGRAM = """
import signal
from lull.base.interrupts import Interrupts
assert signal.getsignal(signal.SIGUSR1) is None
with Interrupts():
    pass
"""


def test_handlers_of_python_come_back():
    before = signal.getsignal(signal.SIGTERM)
    with Interrupts():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_handler_that_a_library_installed_does_no_harm(tmp_path: Path):
    (tmp_path / "library.c").write_text(LIBRARY)
    library = tmp_path / "library.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(tmp_path / "library.c"), "-o", str(library)], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)


def test_descriptors_may_have_any_number():
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    reader, writer = os.pipe()
    high = fcntl.fcntl(reader, fcntl.F_DUPFD_CLOEXEC, 2000)
    os.write(writer, b"x")
    with Interrupts() as interrupts:
        assert interrupts.wait(high, 60) == []
    for descriptor in (reader, writer, high):
        os.close(descriptor)


def test_work_that_does_not_listen_is_abandoned():
    never = threading.Event()
    with Interrupts() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(AbandonedError, match="simulate: interrupted by SIGINT"):
            run_until_interrupted("simulate", never.wait, interrupts)
    never.set()


def test_work_that_ends_gives_its_result_or_its_error():
    with Interrupts() as interrupts:
        assert run_until_interrupted("work", lambda: 7, interrupts) == 7
        with pytest.raises(ZeroDivisionError):
            run_until_interrupted("work", lambda: 1 // 0, interrupts)
