"""The descriptions of Lull's packages for other systems agree with its own build."""

import ast
import re
import shutil
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from places import TOP

PACKAGING = TOP / "packaging"
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())
SPACK = (PACKAGING / "spack" / "lull" / "package.py").read_text()
IN_SPACK = {
    "OTF2": "otf2",
    "ZSTD": "zstd",
    "HDF5": "hdf5",
    "PMIX": "pmix",
    "UCX": "ucx",
    "LIBFABRIC": "libfabric",
    "HWLOC": "hwloc",
}
IN_SPACK |= {"OPENMPI": "openmpi", "MPI_": "openmpi"}


def dependencies_of_recipe() -> set[str]:
    tree = ast.parse(SPACK)
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "depends_on"
    ]
    return {re.split(r"[@+~ ]", node.args[0].value)[0] for node in calls if isinstance(node.args[0], ast.Constant)}


def test_the_recipe_of_spack_names_every_python_package() -> None:
    needed = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    names = {re.split(r"[><=\[ ]", one)[0] for one in needed}
    assert {f"py-{name}" for name in names} <= dependencies_of_recipe()


def test_the_locks_hold_what_the_project_asks_for() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    asked = {
        "run": PROJECT["project"]["dependencies"],
        "build": PROJECT["build-system"]["requires"],
        "develop": extras["dev"],
        "packaging": extras["packaging"],
    }
    versions: dict[str, str] = {}
    for name, requirements in asked.items():
        locked = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (TOP / "locks" / f"{name}.txt").read_text(), re.MULTILINE))
        for needed in map(Requirement, requirements):
            assert needed.specifier.contains(locked[canonicalize_name(needed.name)]), "make lock"
        assert {**locked, **versions} == {**versions, **locked}, "two versions of one package: make lock"
        versions |= locked


def test_the_recipe_of_spack_names_every_library() -> None:
    cmake = "\n".join(path.read_text() for path in [TOP / "CMakeLists.txt", *TOP.glob("src/**/CMakeLists.txt")])
    asked = set(re.findall(r"pkg_check_modules\((\w+)", cmake))
    assert {IN_SPACK[name] for name in asked if name in IN_SPACK} <= dependencies_of_recipe()
    assert asked <= set(IN_SPACK), "a library that the recipe may lack"


@pytest.mark.parametrize("script", ["debian/make", "smoke", "try-in-chroot"])
def test_the_scripts_of_packages_are_ones_that_a_shell_reads(script: str) -> None:
    assert subprocess.run(["bash", "-n", PACKAGING / script], check=False).returncode == 0


def test_both_modules_set_the_same() -> None:
    lua = set(re.findall(r'prepend_path\("(\w+)"', (PACKAGING / "modulefiles" / "lull.lua").read_text()))
    tcl = set(re.findall(r"prepend-path (\w+)", (PACKAGING / "modulefiles" / "lull.tcl").read_text()))
    assert lua == tcl


@pytest.mark.skipif(shutil.which("luac") is None, reason="needs luac")
def test_the_module_of_lmod_is_lua() -> None:
    assert subprocess.run(["luac", "-p", PACKAGING / "modulefiles" / "lull.lua"], check=False).returncode == 0
