"""Lull loads no network library into programs that need none."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from test_stage_programs import HDF5, flags

from bounds import TIMEOUT_S
from lull.base.installed import package_folder
from lull.mpi.preload import preloaded
from mpi_libraries import MpiLibrary, each_library

NETWORK = ("libucp", "libucs", "libuct", "libucm")
OF_32_BITS = 1  # in the fifth byte of an ELF file


def test_no_library_of_lull_needs_a_network_library() -> None:
    libraries = sorted(package_folder().parents[2].rglob("liblull-*.so"))
    assert any(library.name == "liblull-stage-programs.so" for library in libraries)
    for library in libraries:
        if (
            library.stat().st_size == 0 or library.read_bytes()[4] == OF_32_BITS
        ):  # empty ones for loaders of other kinds
            continue
        needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
        assert not [line for line in needed.splitlines() if line.strip().startswith(NETWORK)], library


@each_library
@pytest.mark.skipif(not HDF5, reason="needs libhdf5-dev")
def test_a_program_under_thread_sanitizer_ends_well(mpi: MpiLibrary, tmp_path: Path) -> None:
    try:
        made = mpi.compiled(
            "stage/stage_threads.c",
            tmp_path,
            "-fsanitize=thread",
            *flags("--cflags", "--libs", HDF5),
            name="stage_threads",
        )
    except subprocess.CalledProcessError:
        pytest.skip("needs ThreadSanitizer")
    into = tmp_path / "files"
    into.mkdir()
    # Without the settings of other tests: with them Open MPI would keep UCX, whose hooks ThreadSanitizer does not
    # support.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "OMPI_MCA_"))}
    plain |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    plain["TSAN_OPTIONS"] = "exitcode=0"  # it finds races inside MPI libraries
    command = mpi.start(2, made, into)

    def run(env: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)

    if run(plain).returncode != 0:
        pytest.skip("it does not end well without Lull")
    done = run(preloaded(plain, tools={"LULL_STAGE": "time-partitioning"}))
    assert done.returncode == 0, done.stderr
    assert "ended well" in done.stdout
    assert len(list(into.iterdir())) == 4
