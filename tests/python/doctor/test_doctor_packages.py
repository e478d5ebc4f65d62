"""The fixes that `lull doctor` names: in the words of each distribution, of modules and Spack, and in containers."""

from pathlib import Path

import pytest

from lull.base.packages import IN_EPEL, OF_LIBRARIES, PACKAGES, System
from lull.doctor.container import container_of
from lull.doctor.finding import Machine
from places import TOP

# /etc/os-release as the distributions have it.
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n'
UBUNTU = 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n'
ROCKY = 'NAME="Rocky Linux"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n'
FEDORA = 'NAME="Fedora Linux"\nID=fedora\nVERSION_ID=40\n'
CENTOS_7 = 'NAME="CentOS Linux"\nID="centos"\nID_LIKE="rhel fedora"\nVERSION_ID="7"\n'
SLES = 'NAME="SLES"\nVERSION_ID="15.6"\nID="sles"\nID_LIKE="suse"\n'
LEAP = 'NAME="openSUSE Leap"\nVERSION_ID="15.6"\nID="opensuse-leap"\nID_LIKE="suse opensuse"\n'
ARCH = 'NAME="Arch Linux"\nID=arch\n'


@pytest.mark.parametrize(
    ("os_release", "fix"),
    [
        (DEBIAN, "apt install libhdf5-dev"),
        (UBUNTU, "apt install libhdf5-dev"),
        (ROCKY, "dnf install hdf5-devel (of EPEL)"),
        (FEDORA, "dnf install hdf5-devel"),
        (CENTOS_7, "yum install hdf5-devel (of EPEL)"),
        (SLES, "zypper install hdf5-devel"),
        (LEAP, "zypper install hdf5-devel"),
        (ARCH, "install hdf5 with its headers"),
        ("", "install hdf5 with its headers"),
    ],
)
def test_a_fix_is_in_the_words_of_the_distribution(os_release: str, fix: str) -> None:
    assert System(os_release).install("hdf5-headers") == fix


def test_libraries_are_named_by_what_rpm_packages_provide() -> None:
    files = ["libucp.so.0", "libucs.so.0"]
    assert System(DEBIAN).install_libraries(files) == "apt install libucx0"
    assert System(ROCKY).install_libraries(files) == "dnf install 'libucp.so.0()(64bit)' 'libucs.so.0()(64bit)'"
    assert System(SLES).install_libraries(["libother.so.3"]) == "zypper install 'libother.so.3()(64bit)'"
    assert System(DEBIAN).install_libraries(["libother.so.3"]) == ""


def test_without_root_what_the_user_can_do_comes_first() -> None:
    lmod = {"LMOD_CMD": "/usr/share/lmod/lmod/libexec/lmod", "MODULESHOME": "/usr/share/lmod/lmod"}
    modules, spack = {"MODULESHOME": "/usr/share/Modules"}, {"SPACK_ROOT": "/home/me/spack"}
    assert System(SLES, {}, is_root=False).install("ucx") == "as root: zypper install libucp0"
    assert System(ARCH, {}, is_root=False).install("ucx") == "install ucx"
    assert System(SLES, lmod, is_root=False).install("ucx") == (
        "load the module that `module spider ucx` shows, or as root: zypper install libucp0"
    )
    assert System(ROCKY, {**modules, **spack}, is_root=False).install("ucx", "pmix") == (
        "load the module that `module avail ucx pmix` shows, or spack install ucx pmix && spack load ucx pmix, "
        "or as root: dnf install ucx pmix"
    )
    assert System(ROCKY, spack, is_root=False).install_libraries(["libpmix.so.2"]) == (
        "spack install pmix && spack load pmix, or as root: dnf install 'libpmix.so.2()(64bit)'"
    )
    assert System(ROCKY, {**modules, **spack}, is_root=True).install("ucx") == "dnf install ucx"
    # SUSE has no OTF2: even root takes what there is
    assert System(SLES, spack, is_root=True).install("otf2-headers") == "spack install otf2 && spack load otf2"


def test_spack_is_also_found_by_its_command(tmp_path: Path) -> None:
    command = tmp_path / "spack"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    assert "spack install ucx" in System(ARCH, {"PATH": str(tmp_path)}, is_root=False).install("ucx")


def test_the_tables_name_the_same_things_and_debians_names_are_those_that_setup_installs() -> None:
    assert set(OF_LIBRARIES.values()) <= set(PACKAGES)
    assert set(IN_EPEL) <= set(PACKAGES)
    lists = "\n".join(path.read_text() for path in (TOP / "packages").glob("*.txt")).split()
    compiled = [package.apt for thing, package in PACKAGES.items() if thing.endswith("-headers")]
    assert set(compiled) <= set(lists)


def container(folder: Path, files: dict[str, str]) -> Machine:
    for name, text in {"etc/os-release": DEBIAN, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Machine(folder)


MOUNT = "623 611 254:1 /var/lib/docker/containers/0/hosts /etc/hosts rw,relatime - ext4 /dev/vda1 rw\n"
PODMAN = 'engine="podman-5.6.2"\nname="a"\nid="0"\nimage="docker.io/library/debian:12"\n'


@pytest.mark.parametrize(
    ("files", "engine", "fix"),
    [
        ({".dockerenv": ""}, "Docker", "in the Dockerfile: apt install libucx0"),
        ({".dockerenv": "", "proc/self/mountinfo": MOUNT}, "Docker", "in the Dockerfile: apt install libucx0"),
        ({"run/.containerenv": ""}, "Podman", "in the Containerfile: apt install libucx0"),
        ({"run/.containerenv": PODMAN}, "Podman", "in the Containerfile: apt install libucx0"),
        ({".singularity.d/runscript": ""}, "Apptainer", "in the %post of its definition: apt install libucx0"),
    ],
)
def test_packages_of_a_container_go_into_its_image(
    tmp_path: Path, files: dict[str, str], engine: str, fix: str
) -> None:
    machine = container(tmp_path, files)
    assert machine.container is not None
    assert machine.container.engine == engine
    assert machine.system.install("ucx") == fix


def test_a_container_of_apptainer_names_its_image_in_the_environment() -> None:
    found = container_of(Path("/"), {"APPTAINER_CONTAINER": "/images/tools.sif"})
    assert found is not None
    assert (found.engine, found.name, found.image) == ("Apptainer", "tools.sif", "the %post of tools.sif")
    older = container_of(Path("/"), {"SINGULARITY_CONTAINER": "/images/tools.sif"})
    assert older is not None and older.engine == "Singularity"


def test_a_machine_made_of_an_image_is_no_container(tmp_path: Path) -> None:
    root = "36 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    machine = container(tmp_path, {".dockerenv": "", "proc/self/mountinfo": root})
    assert machine.container is None
    assert machine.system.install("ucx") == "apt install libucx0"
