"""OpenSHMEM programs on Lull's runtime, recorded: who moved what to whom."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from conftest import Lull, compiled
from lull.mpi.preload import preloaded
from raw_records import RawProcess, read_raw

PES = 4


def recorded(source: str, folder: Path) -> list[RawProcess]:
    """The records of a program's run with PES PEs."""
    program = compiled(source, folder)
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("LULL_") or name == "LULL_CONFIG"
    }
    env = preloaded(inherited, tools={"LULL_TRACE": str(folder / "trace")})
    done = Lull(folder, env=env).run("run", "-n", str(PES), str(program))
    assert (done.returncode, done.stderr) == (0, "")
    return read_raw(folder / "trace")


@pytest.fixture(scope="module")
def processes(tmp_path_factory: pytest.TempPathFactory) -> list[RawProcess]:
    return recorded("shmem_traffic.c", tmp_path_factory.mktemp("shmem"))


def test_every_pe_is_there_with_its_rank(processes: list[RawProcess]) -> None:
    assert [process.rank for process in processes] == list(range(PES))
    for process in processes:
        assert (process.records[0].function, process.records[-1].function) == ("shmem_init", "shmem_finalize")


def test_transfers_have_target_and_bytes(processes: list[RawProcess]) -> None:
    for process in processes:
        right = (process.rank + 1) % PES
        moved = [(one.function, one.peer, one.bytes) for one in process.of("put", "get", "atomic")]
        assert moved == [
            ("shmem_long_put", right, 64),
            ("shmem_putmem", right, 20),
            ("shmem_put32", right, 12),
            ("shmem_long_p", right, 8),
            ("shmem_get64", right, 32),
            ("shmem_long_g", right, 8),
            ("shmem_long_atomic_add", 0, 8),
            ("shmem_int_atomic_fetch_inc", right, 4),
            ("shmem_long_p", right, 8),
            ("shmem_ctx_long_p", process.rank % 2, 8),  # its context counts PEs of the team
        ]
        assert len(process.of("completed_at_target")) == 2


def test_collectives_are_of_their_teams(processes: list[RawProcess]) -> None:
    for process in processes:
        world, half = process.defined("communicator")
        assert (world["number"], world["name"]) == (0, "SHMEM_TEAM_WORLD")
        collectives = [(one.function, one.comm, one.peer, one.bytes) for one in process.of("collective")]
        first = process.rank < 2
        assert collectives == [
            ("shmem_barrier_all", 0, -1, 0),
            ("shmem_long_sum_reduce", 0, -1, 16),
            ("shmem_broadcastmem", half["number"], 0, 8 if first else 0),
            ("shmem_team_sync", half["number"], -1, 0),
        ]


def test_what_the_library_does_inside_is_not_recorded(processes: list[RawProcess]) -> None:
    for process in processes:
        functions = Counter(record.function for record in process.records if record.function)
        assert functions["shmem_barrier_all"] == 1
        assert functions["shmem_long_wait_until"] == 1
        assert "shmem_my_pe" not in functions


def test_a_nested_finalize_is_a_barrier_and_ends_no_trace(tmp_path: Path) -> None:
    for process in recorded("shmem_nested.c", tmp_path):
        right = (process.rank + 1) % PES
        assert [one.function for one in process.records if one.function and one.function.endswith("init")] == [
            "shmem_init",
            "shmem_init",
        ]
        assert [(one.function, one.peer, one.bytes) for one in process.of("put", "get", "atomic")] == [
            ("shmem_long_ibput", right, 48),
            ("shmem_ibget16", right, 20),
            ("shmem_signal_add", right, 8),
        ]
        assert [(one.function, one.comm, one.bytes) for one in process.of("collective")] == [
            ("shmem_long_sum_inscan", 0, 8),
            ("shmem_barrier_all", 0, 0),
        ]
        assert process.records[-1].function == "shmem_finalize"


ASKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
void shmem_init(void) __attribute__((weak));
static void* kept[] = {(void*)shmem_init};
int main(void) {
  printf("%d%d%d\\n", shmem_init != NULL, kept[0] != NULL, dlsym(RTLD_DEFAULT, "shmem_quiet") != NULL);
  return 0;
}
"""


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_a_program_without_openshmem_does_not_find_its_functions(tmp_path: Path, binding: str) -> None:
    (tmp_path / "asks.c").write_text(ASKS)
    subprocess.run(["cc", "-o", tmp_path / "asks", tmp_path / "asks.c", f"-Wl,-z,{binding}", "-ldl"], check=True)
    environment = preloaded(dict(os.environ), tools={"LULL_TRACE": str(tmp_path / "trace")})
    done = subprocess.run([tmp_path / "asks"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "000\n", "")
