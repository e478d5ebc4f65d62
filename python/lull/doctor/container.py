"""The container in which this process runs, by the files and variables that its engine leaves."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Container:
    """A container.

    Args:
        engine: The name of what made it.
        name: Its image, if the engine says it.
        image: In words, what packages must be added to.
    """

    engine: str
    name: str
    image: str


def container_of(sysroot: Path, environment: Mapping[str, str]) -> Container | None:
    """The container whose root is `sysroot`; the environment counts if that is /."""
    if sysroot == Path("/"):
        for variable, engine in (("APPTAINER_CONTAINER", "Apptainer"), ("SINGULARITY_CONTAINER", "Singularity")):
            if file := environment.get(variable):
                return Container(engine, Path(file).name, f"the %post of {Path(file).name}")
    if (sysroot / ".singularity.d").is_dir():
        return Container("Apptainer", "", "the %post of its definition")
    try:
        said = (sysroot / "run/.containerenv").read_text(encoding="utf-8", errors="replace")
    except OSError:
        pass
    else:
        image = re.search(r'^image="(.*)"$', said, re.MULTILINE)  # only privileged containers have it
        return Container("Podman", image[1] if image else "", "the Containerfile")
    if (sysroot / ".dockerenv").exists() and _has_files_of_docker(sysroot):
        return Container("Docker", "", "the Dockerfile")
    return None


def _has_files_of_docker(sysroot: Path) -> bool:
    """Whether Docker has mounted files into it, as into every container: a virtual machine may be made of an image."""
    try:
        mounts = (sysroot / "proc/self/mountinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True  # a copy of a machine without it
    return any(mount.split()[4] in ("/etc/hosts", "/etc/resolv.conf") for mount in mounts)
