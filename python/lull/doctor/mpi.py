"""Unmodified MPI programs: launchers, how their ranks wait, and the MPI libraries that Lull can interpose."""

from __future__ import annotations

import re
from pathlib import Path

from lull.base import installed
from lull.doctor.finding import Finding, Machine, last_line
from lull.doctor.mpi_waiting import waiting_of
from lull.mpi.preload import is_known

FLAVOURS = {"Open MPI": ("liblull-mpi-openmpi.so", "libmpi.so.40"), "MPICH": ("liblull-mpi-mpich.so", "libmpich.so.12")}

HEADERS = {"Open MPI": "openmpi-headers", "MPICH": "mpich-headers"}


def look(machine: Machine) -> list[Finding]:
    """Check the launchers, and which MPI programs Lull can interpose."""
    if not machine.is_this:
        return []
    found = [*_launcher(machine, "mpirun", f"{machine.system.install('openmpi')} (or MPICH)"), *_slurm(machine)]
    there = libraries_of_mpi(machine)
    for name, (ours, theirs) in FLAVOURS.items():
        found.append(_flavour(machine, name, installed.library(ours), there.get(theirs)))
    others = sorted(there.keys() - {theirs for _, theirs in FLAVOURS.values()})
    if others:
        found.append(Finding("other MPI libraries", "works", ", ".join(f"{name} in {there[name]}" for name in others)))
    return found


def _launcher(machine: Machine, name: str, fix: str) -> list[Finding]:
    """The launcher, and how the ranks that it starts wait."""
    path = machine.program(name)
    if path is None:
        return [Finding(name, "missing", "there is none on PATH", fix)]
    code, said = machine.output_of([path, "--version"])
    if code != 0:
        return [Finding(name, "missing", f"{path} --version: {last_line(said)}", fix)]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    hydra = next((line.partition(":")[2].strip() for line in lines if line.startswith("Version:")), None)
    there = Finding(name, "works", f"{f'MPICH (Hydra) {hydra}' if hydra else lines[0]} in {path}")
    return [there, *waiting_of(machine, Path(path), said)]


def _slurm(machine: Machine) -> list[Finding]:
    path = machine.program("srun")
    if path is None:
        return [Finding("srun", "missing", "there is none on PATH; jobs under Slurm need it")]
    code, said = machine.output_of([path, "--mpi=list"])
    if code != 0:
        return [Finding("srun", "limited", f"{path} --mpi=list: {last_line(said)}", "is this node of a Slurm cluster?")]
    if not re.search(r"\bpmix", said):
        words = f"{path} knows {', '.join(said.split()[-3:])}, no pmix"
        return [
            Finding("srun", "limited", words, "ask the site for Slurm's pmix plug-in, or use mpirun in the allocation")
        ]
    return [Finding("srun", "works", f"{path}, with pmix: lull run and srun --mpi=pmix")]


def libraries_of_mpi(machine: Machine) -> dict[str, Path]:
    """The MPI libraries that the loader knows: name → file."""
    _, said = machine.output_of([machine.program("ldconfig") or "/sbin/ldconfig", "-p"])
    lines = (re.match(r"\s*(\S+) \(.*\) => (/\S+)", line) for line in said.splitlines())
    return {match[1]: Path(match[2]) for match in lines if match and is_known(match[1])}


def _flavour(machine: Machine, name: str, ours: Path, theirs: Path | None) -> Finding:
    what = f"programs of {name}"
    if theirs is None and not ours.is_file():
        return Finding(what, "missing", f"{name} is not here, nor was it when Lull was built")
    if not ours.is_file():
        words = f"{theirs} is here, but Lull was built without it"
        fix = f"{machine.system.install(HEADERS[name])}, and install Lull again"
        return Finding(what, "missing", words, fix)
    if theirs is None:
        fix = machine.system.install(HEADERS[name].removesuffix("-headers"))
        return Finding(what, "limited", f"Lull knows them, and the loader knows no {name} here", fix)
    return Finding(what, "works", f"traced, waited for and staged; {theirs}")
