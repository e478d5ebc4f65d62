"""Signals that are noted while a command runs, and left as they were."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from lull.base.interrupts import Interrupts

# A library that is loaded before Python starts, as an MPI library may be: its handler is none that Python can name.
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
