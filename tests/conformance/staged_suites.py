"""The tests of HDF5, netCDF-C, PnetCDF, ROMIO and h5py, plain and under `lull stage`: equal exit codes and files.

    python tests/conformance/staged_suites.py [--suite REGEX] [--only REGEX] [--folder FOLDER]

is what `make conformance` runs.

The sources are those of the distribution (Debian; `apt-get source`), unpacked and built once in the folder, by default
build/conformance. Each program runs in its own folder; begin_mpi.c makes a serial program one of MPI. Files that differ
between two plain runs are not compared. Parallel programs write their files by MPI-IO, with one server and with two,
with Open MPI and with MPICH; with kept_files.c, they leave the files that they remove, and the time stands still for
libraries that write it into files.
"""

from __future__ import annotations

import argparse
import filecmp
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from lull.mpi.preload import preloaded

HERE = Path(__file__).parent
APPROACHES = ("time-partitioning", "dedicated-cores=1", "dedicated-nodes=1")
# That write files of several processes. Without LULL_STAGE_CLOSE=wait, a close does not wait.
SHARED = ("dedicated-cores=1", "dedicated-cores=2", "dedicated-cores=2+wait")
TIMED_OUT = 124
SECONDS = 600  # for a program; a program that needs more than half of it plainly is not compared
SETTINGS = {
    "LULL_CONFIG": "",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_osc": "^rdma",
    "HDF5_NOCLEANUP": "1",  # the files that the tests have written stay, for the comparison
    "HDF5TestExpress": "3",
    # Otherwise Open MPI fills holes with memory that was never set, also in plain runs.
    "OMPI_MCA_fbtl_posix_write_datasieving": "0",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


@dataclass(frozen=True)
class Suite:
    """A library's tests: its source package, how to build it, and where the programs and their data are."""

    package: str
    build: str  # a line of the shell, in the folder of the sources
    programs: str  # a pattern below that folder
    data: list[str] = field(default_factory=list)  # files that a program finds in its own folder; patterns
    settings: dict[str, str] = field(default_factory=dict)  # SOURCE means the folder of the sources
    left_out: str = ""  # programs: a regular expression
    name: str = ""  # the package's, unless it has several suites
    ranks: int = 1  # more than one: parallel programs
    mpi: str = "openmpi"  # or mpich, for which LIBRARY stands in `build` and `programs`
    arguments: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name, with that of the MPI library of parallel programs."""
        return f"{self.name or self.package}-{self.mpi}" if self.ranks > 1 else self.package

    @property
    def approaches(self) -> tuple[str, ...]:
        """The values of LULL_STAGE under which its programs run."""
        return SHARED if self.ranks > 1 else APPROACHES


def both(suite: Suite) -> list[Suite]:
    """The suite with each MPI library."""
    return [
        replace(
            suite, mpi=mpi, build=suite.build.replace("LIBRARY", mpi), programs=suite.programs.replace("LIBRARY", mpi)
        )
        for mpi in ("openmpi", "mpich")
    ]


# Left out: programs that write many GB, or no files for minutes, or are part of a script's test.
SUITES = [
    Suite(
        "hdf5",
        # From inside the folder: its checks run programs, which write into the current folder.
        'mkdir -p tests && cd tests && cmake .. -G Ninja -DCMAKE_C_FLAGS="-O1 -w" -DONLY_SHARED_LIBS=ON '
        "-DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_HL_LIB=OFF "
        "-DHDF5_TEST_PARALLEL=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON "
        "&& cmake --build .",
        "tests/bin/*",
        ["test/*.h5", "test/testfiles/*.h5", "tests/bin/accum_swmr_reader"],
        {"srcdir": "SOURCE/test"},
        r"H5.*|lib.*|big|.*swmr.*|use_.*|.*_env|atomic_.*|error_test|err_compat|filenotclosed|flushrefresh|filter_plugin"
        r"|dt_arith|mirror.*|del_many.*|vds_.*_gen|testmeta|tcheck_version",
    ),
    Suite(
        "netcdf",
        "mkdir -p serial && cd serial && ../configure --disable-dap --disable-shared --disable-nczarr "
        '"CPPFLAGS=$(pkg-config --cflags hdf5-serial)" "LDFLAGS=$(pkg-config --libs-only-L hdf5-serial)" '
        "'LIBS=-lhdf5_hl -lhdf5' && make -j2 && make -j2 -C nc_test4 check TESTS=",
        "serial/nc_test4/tst_*",
        ["nc_test4/ref_*", "nc_test4/*.cdl"],
        {},
        r".*\..*|tst_large|tst_files.|tst_chunks2|tst_camrun|tst_h_many_atts|tst_many.*|tst_mem.*",
    ),
    *both(
        Suite(
            "hdf5",
            "mkdir -p parallel-LIBRARY && cd parallel-LIBRARY && cmake .. -G Ninja -DCMAKE_C_COMPILER=mpicc.LIBRARY "
            '-DCMAKE_C_FLAGS="-O1 -w" -DONLY_SHARED_LIBS=ON -DHDF5_ENABLE_PARALLEL=ON -DHDF5_BUILD_CPP_LIB=OFF '
            "-DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_HL_LIB=OFF "
            "-DHDF5_ENABLE_Z_LIB_SUPPORT=ON && cmake --build . --target testphdf5 t_mpi t_pread t_pshutdown "
            "t_shapesame t_filters_parallel t_init_term",
            "parallel-LIBRARY/bin/t*",
            settings={"HDF5_PARAPREFIX": "."},
            name="hdf5-parallel",
            ranks=3,
        )
    ),
    # With Open MPI only, as Debian's libpnetcdf. Left out: programs of one process, whose files ranks would write at
    # once; tst_nc4perf, which writes for minutes.
    Suite(
        "netcdf",
        "mkdir -p parallel && cd parallel && ../configure CC=mpicc.openmpi --disable-dap --disable-shared "
        "--disable-nczarr --disable-byterange --enable-pnetcdf --enable-parallel-tests "
        '"CPPFLAGS=$(pkg-config --cflags hdf5-openmpi)" "LDFLAGS=$(pkg-config --libs-only-L hdf5-openmpi)" '
        "'LIBS=-lhdf5_hl -lhdf5 -lpnetcdf' && make -j2 && for folder in nc_test4 h5_test nc_test; "
        "do make -j2 -C $folder check TESTS= || exit 1; done",
        "parallel/*/tst_*",
        name="netcdf-parallel",
        ranks=4,
        left_out=r".*\..*|(?!tst_\w*par|tst_simplerw).*|tst_filterparser",
    ),
    # Left out: its Fortran programs, and the benchmarks.
    *both(
        Suite(
            "pnetcdf",
            "(test -e configure || autoreconf -i) && mkdir -p built-LIBRARY && cd built-LIBRARY && ../configure "
            "MPICC=mpicc.LIBRARY --disable-fortran --disable-cxx && make -j2 "
            "&& make -j2 -C test/testcases check TESTS= && make -j2 -C test/nonblocking check TESTS=",
            "built-LIBRARY/test/*/*",
            ranks=4,
            left_out=r".*\..*|Makefile",
        )
    ),
    *both(
        Suite(
            "mpich",
            "mkdir -p romio-LIBRARY && for file in src/mpi/romio/test/*.c; do "
            "mpicc.LIBRARY -O1 -w -o romio-LIBRARY/$(basename $file .c) $file || true; done",
            "romio-LIBRARY/*",
            ranks=4,
            arguments=("-fname", "file"),
            # They write in an order that a plain run does not keep, or need 2 ranks, hints, or much memory.
            left_out="shared_fp|coll_perf|big_extents|large_array|perf|syshints|error|atomicity",
            name="romio",
        )
    ),
]


def unpacked(suite: Suite, folder: Path) -> Path:
    """Unpack the sources of the distribution."""
    folder.mkdir(parents=True, exist_ok=True)
    if not list(folder.glob(f"{suite.package}-*/")):
        release = dict(re.findall(r'^(\w+)="?([^"\n]*)', Path("/etc/os-release").read_text(), re.MULTILINE))
        if release.get("ID") != "debian":
            sys.exit(
                f"lull: conformance: get the sources of {suite.package}: this is not Debian; unpack them in {folder}"
            )
        sources = folder / "sources.list"
        keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
        line = f"deb-src [signed-by={keys}] http://deb.debian.org/debian {release['VERSION_CODENAME']} main\n"
        sources.write_text(line)
        (folder / "lists").mkdir(exist_ok=True)
        own = [
            f"-oDir::Etc::SourceList={sources}",
            "-oDir::Etc::SourceParts=-",
            f"-oDir::State::Lists={folder / 'lists'}",
        ]
        subprocess.run(["apt-get", "-qq", *own, "update"], check=True)
        subprocess.run(["apt-get", "-qq", *own, "source", suite.package], cwd=folder, check=True)
    return next(path for path in sorted(folder.glob(f"{suite.package}-*")) if path.is_dir())


def built(suite: Suite, folder: Path) -> Path:
    """The sources, with the tests built in them."""
    source = unpacked(suite, folder)
    done = source / f"lull-built-{suite.label}"
    if not done.exists():
        print(f"==> building {suite.label} in {source.name}", flush=True)
        log = folder / f"{suite.label}.log"
        with log.open("w") as out:
            made = subprocess.run(["sh", "-c", suite.build], cwd=source, stdout=out, stderr=out, check=False)
        if made.returncode != 0:
            sys.exit(f"lull: conformance: build {source.name}: it fails; see {log}")
        done.touch()
    return source


def programs(suite: Suite, source: Path) -> Iterator[Path]:
    """The programs that can be run alone."""
    there = sorted(source.glob(suite.programs))
    if not there:
        sys.exit(
            f"lull: conformance: run {suite.label}: {source} has no {suite.programs}; remove {source} to build it again"
        )
    for path in there:
        if path.is_file() and os.access(path, os.X_OK) and not re.fullmatch(suite.left_out, path.name):
            yield path


def run(program: Path, suite: Suite, source: Path, folder: Path, approach: str) -> int:
    """Run it and return its exit code; plainly if there is no approach."""
    folder.mkdir(parents=True)
    for pattern in suite.data:
        for path in source.glob(pattern):
            shutil.copy(path, folder)
    own = {name: value.replace("SOURCE", str(source)) for name, value in suite.settings.items()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LULL_")} | SETTINGS | own
    how, _, waits = approach.partition("+")
    servers = int(how.partition("cores=")[2] or 0) if suite.ranks > 1 else int("=" in how)
    before = str(folder.parents[2] / ("kept_files.so" if suite.ranks > 1 else "begin_mpi.so"))
    if approach:
        tools = {"LULL_STAGE": how} | ({"LULL_STAGE_CLOSE": waits} if waits else {})
        environment = preloaded(environment, tools=tools) | ({"LULL_NODES": "2"} if "nodes" in how else {})
        before = ":".join(filter(None, [before, environment.pop("LD_PRELOAD")]))
    limit = SECONDS if approach else SECONDS // 2
    start = ["timeout", "-k9", str(limit), f"mpirun.{suite.mpi}", "-n", str(suite.ranks + servers)]
    start += ["--oversubscribe", "--bind-to", "none"] if suite.mpi == "openmpi" else []
    words = [
        *start,
        "env",
        f"LD_PRELOAD={before}",
        "BEGIN_MPI=1",
        f"KEPT_FILES={folder}",
        str(program),
        *suite.arguments,
    ]
    with (folder.parent / f"{folder.name}.log").open("w") as log:
        code = subprocess.run(
            words, env=environment, cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, check=False
        ).returncode
    number_removed_files(folder)
    return code


def number_removed_files(folder: Path) -> None:
    """Number the files of kept_files.c without gaps: ranks that remove a file at once keep it several times."""
    seen: Counter[str] = Counter()
    inodes = set()
    for path in sorted(folder.glob("*.removed*"), key=lambda path: int(path.name.rpartition(".removed")[2])):
        name = path.name.rpartition(".removed")[0]
        if (inode := path.stat().st_ino) in inodes:
            path.unlink()
        else:
            path.rename(folder / f"{name}.removed{seen[name]}")
            seen[name] += 1
            inodes.add(inode)


def same(one: Path, other: Path) -> bool:
    """Whether the contents are equal; HDF5's files may contain different times."""
    if not one.exists() or not other.exists():
        return one.exists() == other.exists()
    if one.is_dir() or filecmp.cmp(one, other, shallow=False):
        return True
    # In this folder, because names of external files are relative to the current folder.
    command = ["timeout", "30", "h5diff", str(one), str(other)]  # it walks through sparse datasets of any size
    return subprocess.run(command, cwd=one.parent, capture_output=True, check=False).returncode == 0


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def differences(program: Path, suite: Suite, source: Path, into: Path) -> tuple[str, list[str]]:
    """The exit code of a plain run, and the differences under the approaches."""
    codes = []
    for plain in ("plain", "again"):
        time.sleep(1.1)  # files that contain the time in seconds differ the second time
        codes.append(run(program, suite, source, into / plain, ""))
        if codes[-1] == TIMED_OUT or codes[-1] != codes[0]:
            return "too slow or unsteady plainly", []
    unsteady = {
        name
        for name in names(into / "plain") | names(into / "again")
        if not same(into / "plain" / name, into / "again" / name)
    }
    wrong = []
    for approach in suite.approaches:
        code = run(program, suite, source, into / approach, approach)
        if code != codes[0]:
            wrong.append(f"{approach}: it ends with {code}, plainly with {codes[0]}; see {into / approach}.log")
        there = names(into / "plain") | names(into / approach)
        other = sorted(name for name in there - unsteady if not same(into / "plain" / name, into / approach / name))
        if other:
            wrong.append(f"{approach}: {len(other)} files differ in {into}: {' '.join(other[:5])}")
    if not wrong:
        shutil.rmtree(into)
    return "passes" if codes[0] == 0 else f"ends with {codes[0]} plainly", wrong


def main() -> int:
    """Run every program of every suite; not 0 if anything differs from the plain run."""
    options = argparse.ArgumentParser()
    options.add_argument("--suite", default="", help="a regular expression; the others are not built")
    options.add_argument("--only", default="", help="a regular expression, of SUITE/PROGRAM")
    options.add_argument("--folder", type=Path, default=Path("build/conformance"))
    asked = options.parse_args()
    folder: Path = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("begin_mpi", "kept_files"):
        words = ["mpicc.openmpi", "-O1", "-shared", "-fPIC", str(HERE / f"{name}.c"), "-o", str(folder / f"{name}.so")]
        subprocess.run(words, check=True)
    failed = False
    for suite in (one for one in SUITES if re.search(asked.suite, one.label)):
        source = built(suite, folder)
        ends: Counter[str] = Counter()
        shutil.rmtree(folder / suite.label, ignore_errors=True)
        for program in programs(suite, source):
            if not re.search(asked.only, f"{suite.label}/{program.name}"):
                continue
            began = time.monotonic()
            how, wrong = differences(program, suite, source, folder / suite.label / program.name)
            ends[how] += 1
            failed = failed or bool(wrong)
            print(f"{suite.label}/{program.name}: {how}, {time.monotonic() - began:.0f} s", flush=True)
            for line in wrong:
                print(f"  {shlex.quote(program.name)} under {line}", flush=True)
        print(f"==> {suite.label}: {', '.join(f'{number} {how}' for how, number in ends.items())}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
