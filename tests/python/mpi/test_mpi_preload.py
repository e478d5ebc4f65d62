"""How the interposer gets into the programs of a command, and which programs it cannot reach."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lull.base.errors import LullError
from lull.mpi import preload
from places import TOP

FORWARDS = preload.OPENMPI_FORWARDS


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installation that contains only the interposer."""
    package = tmp_path / "lib" / "python" / "site-packages" / "lull"
    package.mkdir(parents=True)
    monkeypatch.setattr("lull.base.installed.package_folder", lambda: package)
    made = tmp_path / "lib" / preload.LIBRARY
    made.touch()
    (tmp_path / "lib" / preload.SHMEM_LIBRARY).touch()
    (tmp_path / "lib" / preload.HDF5_LIBRARY).touch()
    return str(made)


def program(folder: Path, *arguments: str) -> Path:
    source = folder / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-o", folder / "program", source, *arguments], check=True)
    return folder / "program"


def test_the_loader_is_told_and_the_tools_are_asked_for(library: str) -> None:
    made = preload.preloaded({"HOME": "/root"}, tools={"LULL_TRACE": "/t"}, command=["mpirun", "-n", "2", "./app"])
    assert made == {
        "HOME": "/root",
        "LULL_TRACE": "/t",
        "LD_PRELOAD": f"{library}:{library.replace(preload.LIBRARY, preload.SHMEM_LIBRARY)}",
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        FORWARDS: "LD_PRELOAD;ASAN_OPTIONS;LULL_TRACE",
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"), ("verify_asan_link_order=1",) * 2],
)
def test_a_program_with_address_sanitizer_is_not_ended_for_what_is_preloaded(
    library: str, before: str, after: str
) -> None:
    assert preload.preloaded({"ASAN_OPTIONS": before}, tools={})["ASAN_OPTIONS"] == after


@pytest.mark.parametrize("is_there", [True, False])
def test_loaders_of_other_kinds_of_programs_are_led_past_the_libraries(library: str, is_there: bool) -> None:
    folders = Path(library).parent / "lull" / "preload"
    for name in ("lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64", "lib") if is_there else ("another",):
        (folders / name).mkdir(parents=True, exist_ok=True)
        (folders / name / "here").touch()
    found = preload.preloaded({}, tools={})["LD_PRELOAD"]
    assert found == (str(folders / "$LIB" / preload.LIBRARY) if is_there else library)


def test_a_program_whose_output_is_staged_has_something_before_its_hdf5(library: str) -> None:
    made = preload.preloaded({}, tools={"LULL_STAGE": "dedicated-cores=1"})
    assert made["LD_PRELOAD"] == f"{library}:{library.replace(preload.LIBRARY, preload.HDF5_LIBRARY)}"


@pytest.mark.parametrize("before", ["/a.so /b.so", "/a.so:/b.so", "/a.so::/b.so:"])
def test_what_is_preloaded_already_stays_in_front(library: str, before: str) -> None:
    assert preload.preloaded({"LD_PRELOAD": before}, tools={})["LD_PRELOAD"] == f"/a.so:/b.so:{library}"


def test_tools_compose_when_one_command_is_started_by_another(library: str) -> None:
    command = ["/usr/bin/mpirun.openmpi", "./app"]
    outer = preload.preloaded({}, tools={"LULL_WAIT": "adaptive"}, command=["lull", "trace", "--", *command])
    inner = preload.preloaded(outer, tools={"LULL_TRACE": "/t"}, command=command)
    assert inner["LD_PRELOAD"].split(":")[0] == library
    assert inner["LD_PRELOAD"].count(preload.LIBRARY) == 1
    assert inner["LULL_WAIT"] == "adaptive"
    assert sorted(inner[FORWARDS].split(";")) == ["ASAN_OPTIONS", "LD_PRELOAD", "LULL_TRACE", "LULL_WAIT"]


@pytest.mark.parametrize("mpirun", ["mpirun", "/opt/bin/mpiexec.openmpi", "orterun", "prterun"])
def test_what_a_user_forwards_is_forwarded_still(library: str, mpirun: str) -> None:
    before = {FORWARDS: "PATH;LULL_SPIN=3", "LULL_SPIN": "4"}
    made = preload.preloaded(before, tools={}, command=[mpirun, "./app"])
    assert made[FORWARDS] == "PATH;LULL_SPIN=3;LD_PRELOAD;ASAN_OPTIONS"


@pytest.mark.parametrize("command", [["mpirun", "-x", "HOME", "./app"], ["sh", "job.sh"], []])
def test_an_mpirun_that_may_be_told_itself_what_to_forward_gets_no_list(library: str, command: list[str]) -> None:
    assert FORWARDS not in preload.preloaded({}, tools={"LULL_TRACE": "/t"}, command=command)


def test_without_the_interposer_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.base.installed.package_folder", lambda: tmp_path / "a" / "b" / "c")
    with pytest.raises(LullError, match=r"find liblull-mpi.so: .* is missing; install Lull again"):
        preload.preloaded({}, tools={})


def test_a_path_that_the_loader_would_split_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "my programs"
    folder.mkdir()
    (folder / preload.LIBRARY).touch()
    monkeypatch.setattr("lull.base.installed.package_folder", lambda: folder / "a" / "b" / "c")
    with pytest.raises(LullError, match="space"):
        preload.preloaded({}, tools={})


def test_a_shared_program_and_what_is_no_program_are_within_reach(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "broken").write_bytes(b"\x7fELF\x02")
    (tmp_path / "broken").chmod(0o755)
    words = [str(program(tmp_path)), str(tmp_path / "script"), str(tmp_path / "broken"), "-n", "2", "no-such-program"]
    assert preload.out_of_reach(words) is None


def test_the_library_that_stands_for_the_front_elsewhere_is_a_shared_library_of_32_bits(tmp_path: Path) -> None:
    writer = TOP / "src" / "mpi" / "front" / "other_word_size.py"
    for machine, name in (("x86_64", "Intel 80386"), ("aarch64", "ARM")):
        subprocess.run([sys.executable, writer, machine, tmp_path / "library"], check=True)
        shown = subprocess.run(
            ["readelf", "-hlW", tmp_path / "library"], capture_output=True, text=True, check=True
        )  # fmt: skip
        assert not shown.stderr
        assert all(word in shown.stdout for word in ("ELF32", "DYN", name, "GNU_STACK"))
        assert "RWE" not in shown.stdout


@pytest.mark.parametrize("more", [[], ["sh", "-c", "true; true; /bin/true"]])
def test_a_program_that_starts_where_the_front_is_not_is_named_once_and_runs(tmp_path: Path, more: list[str]) -> None:
    front = preload.library()
    root = tmp_path / "root"
    root.mkdir()
    hidden = f"mount --bind / {root} && mount -t tmpfs none {root}{front.parent} && exec chroot {root} "
    command = ["unshare", "--mount", "sh", "-c", hidden + '"$@"', "sh", *(more or ["/bin/true"])]
    environment = {**os.environ, "LD_PRELOAD": str(front), "LULL_TRACE": str(tmp_path / "trace")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: attach to the program's MPI: ")
    assert f"starts where {front} does not exist" in line


def test_a_static_program_is_out_of_reach_wherever_it_is_named(tmp_path: Path) -> None:
    made = str(program(tmp_path, "-static"))
    said = preload.out_of_reach(["sh", "-n", "2", made])
    assert said is not None and said.startswith(f"{made} is linked statically")


def test_a_set_uid_program_is_out_of_reach(tmp_path: Path) -> None:
    made = program(tmp_path)
    made.chmod(0o4755)
    assert "set-uid" in str(preload.out_of_reach([str(made)]))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("libmpi.so.12", True),
        ("libmpi_gnu_123.so.12", True),
        ("libmpi.so.40", True),
        ("libmpi.so.20", False),
        ("libmpi_abi.so.1", True),
        ("libmpi_abi.so.2", False),
    ],
)
def test_a_program_of_another_mpi_library_is_out_of_reach(tmp_path: Path, name: str, known: bool) -> None:
    source = tmp_path / "library.c"
    source.write_text("int MPI_Init(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / name, source, f"-Wl,-soname,{name}"], check=True)
    made = program(tmp_path, "-Wl,--no-as-needed", str(tmp_path / name))
    said = preload.out_of_reach([str(made)])
    assert said is None if known else said is not None and name in said
