"""The commands of Lull by name: whether they work here, and what those that do not would take."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

from lull import _core
from lull.base import installed
from lull.doctor.finding import Finding, Machine
from lull.doctor.mpi import FLAVOURS, libraries_of_mpi
from lull.doctor.parts import libraries_of

ALWAYS = ("measure", "compare", "report", "export", "simulate", "predict")


def look(machine: Machine) -> list[Finding]:
    """Look at each command that needs more than Lull itself."""
    if not machine.is_this:
        return []
    return [
        Finding("lull " + ", ".join(ALWAYS), "works", "need nothing more; see Energy for what is measured"),
        _run(machine),
        _mpi(machine, "lull trace", "OTF2", _core.HAS_OTF2, "otf2-headers"),
        _mpi(machine, "lull wait", "", True, ""),
        _stage(machine),
        _hosts(machine),
    ]


def _run(machine: Machine) -> Finding:
    what = "lull run"
    if not installed.library("liblull-shmem.so").is_file():
        return Finding(what, "missing", "Lull was built without its OpenSHMEM library", "install Lull again")
    if not _loads("libpmix.so.2"):
        return Finding(
            what, "missing", "it needs PMIx, by which processes find each other", machine.system.install("pmix")
        )
    if not _loads("libucp.so.0"):
        fix = machine.system.install("ucx")
        return Finding(what, "limited", "processes of one node only: between nodes it needs UCX", fix)
    return Finding(what, "works", "OpenSHMEM programs, on one node and between nodes")


def _mpi(machine: Machine, what: str, needs: str, is_there: bool, thing: str) -> Finding:
    """A command that observes unmodified MPI programs."""
    if not installed.library("liblull-mpi.so").is_file():
        return Finding(what, "missing", "Lull was built without liblull-mpi.so", "install Lull again")
    if not is_there:
        fix = f"{machine.system.install(thing)}, and install Lull again"
        return Finding(what, "missing", f"Lull was built without {needs}", fix)
    libraries = libraries_of_mpi(machine)
    known = [
        name for name, (ours, theirs) in FLAVOURS.items() if installed.library(ours).is_file() and theirs in libraries
    ]
    if not known:
        fix = machine.system.install("openmpi")
        return Finding(what, "limited", "the loader knows no MPI library here that Lull was built for", fix)
    return Finding(what, "works", f"programs of {' and '.join(known)}")


def _stage(machine: Machine) -> Finding:
    what = "lull stage"
    if not installed.library("liblull-stage-programs.so").is_file():
        return Finding(what, "missing", "Lull was built without it", "install Lull again")
    module = installed.library("liblull-stage-hdf5.so")
    if not module.is_file() or not any(name.startswith("libhdf5") for name in libraries_of(machine, module)):
        fix = f"{machine.system.install('hdf5-headers')}{'' if module.is_file() else ', and install Lull again'}"
        return Finding(what, "limited", "files, but no blocks of variables: those need HDF5", fix)
    return Finding(what, "works", "files, and blocks of variables in HDF5")


def _hosts(machine: Machine) -> Finding:
    what = "lull hosts"
    path = machine.environment.get("PATH", "")
    if lacking := [name for name in ("ip", "tc", "nsenter", "unshare") if shutil.which(name, path=path) is None]:
        return Finding(what, "missing", f"there is no {', '.join(lacking)}", machine.system.install("namespaces"))
    if not Path("/proc/self/ns/net").exists() or not machine.system.is_root:
        return Finding(what, "missing", "it makes namespaces", "root, or CAP_SYS_ADMIN and CAP_NET_ADMIN, make them")
    return Finding(what, "works", "see Virtual hosts")


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True
