"""The command and the library below a prefix, in the layout of `cmake --install`, and in that of pip with lib64.

The Python here is the one from which the environment was made, with the packages that Lull needs but without Lull, so
only code that finds its own prefix finds the package.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from lull.base import installed
from lull.base.errors import LullError
from places import TOP
from small_sweep import NET, files

PYTHON = f"{sys.base_prefix}/bin/python3.{sys.version_info.minor}"
SITE = installed.package_folder().parent
NO_NUMPY = "raise SystemExit('the numpy.py of the working directory was imported')\n"


def fill(package: Path, libraries: Path) -> None:
    """Copy the package and the shared libraries, as an installation would."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(TOP / "python" / "lull", package, ignore=ignored)
    for part in installed.package_folder().iterdir():
        if part.is_dir():
            shutil.copytree(part, package / part.name, ignore=ignored)
        else:
            shutil.copy(part, package)
    libraries.mkdir(parents=True, exist_ok=True)
    for library in SITE.parents[1].glob("liblull-*"):
        shutil.copy(library, libraries)


@pytest.fixture(scope="module")
def cmake_prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("prefix")
    fill(prefix / "lib" / "lull" / "python" / "lull", prefix / "lib")
    command = prefix / "bin" / "lull"
    command.parent.mkdir()
    command.write_text((TOP / "python" / "lull.in").read_text().replace("@LULL_COMMAND_PYTHON@", PYTHON))
    command.chmod(0o755)
    return prefix


@pytest.fixture(scope="module")
def lib64_prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    prefix = tmp_path_factory.mktemp("lib64")
    fill(prefix / "lib64" / f"python3.{sys.version_info.minor}" / "site-packages" / "lull", prefix / "lib")
    return prefix


def run(*command: str | Path, cwd: Path, package: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with the packages that Lull needs; `package` is on Python's path, as a module file would add it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("LULL_", "PYTHON"))}
    path = ":".join(str(one) for one in (package, SITE) if one is not None)
    settings = {"LULL_METER_SOURCES": "estimate", "LULL_CONFIG": ""}
    env = {**inherited, **settings, "PYTHONPATH": path, "XDG_CONFIG_HOME": str(cwd / "config")}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def test_workers_of_a_sweep_run_below_a_prefix(cmake_prefix: Path, tmp_path: Path) -> None:
    files(tmp_path, 'base = "net.toml"\n[matrix]\n"jobs.0.load" = [0.1, 0.2]\n')
    (tmp_path / "numpy.py").write_text(NO_NUMPY)
    done = run(cmake_prefix / "bin" / "lull", "simulate", "--sweep", "sweep.toml", "--out", "swept", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "swept" / "load-0_2" / "run.json").is_file()


def test_a_load_of_the_calibration_starts_below_a_prefix(cmake_prefix: Path, tmp_path: Path) -> None:
    script = tmp_path / "load.py"
    package = cmake_prefix / "lib" / "lull" / "python"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(package)!r})\n"  # as the command does
        "from lull.base.interrupts import Interrupts\n"
        "from lull.calibration import power\n"
        "power.START_S = power.END_S = 0.0\n"
        "with Interrupts() as interrupts:\n"
        "    begin, end = power._load(1, 0.1, interrupts)\n"
        "print(end > begin)\n"
    )
    done = run(PYTHON, script, cwd=tmp_path)
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def test_a_script_without_a_guard_may_simulate_on_several_processes(cmake_prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "net.toml").write_text(NET)
    script = tmp_path / "script.py"
    script.write_text(
        "from lull.simulation.task import Task\n"
        "from lull.simulation.workers import LocalWorkers\n"
        "import json, pathlib, tomllib\n"
        "print('begun')\n"
        "workers = LocalWorkers(2)\n"
        "content = json.dumps(tomllib.loads(pathlib.Path('net.toml').read_text()))\n"
        "workers.submit(Task('one', 0, content, links=False))\n"
        "done = []\n"
        "while not done:\n"
        "    done = workers.finished(1.0)\n"
        "workers.close()\n"
        "print(done[0][1].failure or 'done')\n"
    )
    done = run(PYTHON, script, cwd=tmp_path, package=cmake_prefix / "lib" / "lull" / "python")
    assert done.stdout == "begun\ndone\n", done.stderr


def test_a_module_of_the_working_directory_is_never_imported(cmake_prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(NO_NUMPY)
    package = cmake_prefix / "lib" / "lull" / "python"
    done = run(PYTHON, "-m", "lull", "measure", "--out", "record", "true", cwd=tmp_path, package=package)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "record" / "run.json").read_text())["label"] == "true"


def test_libraries_are_found_where_python_has_lib64(lib64_prefix: Path, tmp_path: Path) -> None:
    package = next((lib64_prefix / "lib64").glob("*/site-packages"))
    script = "import lull\nwith lull.region('work'): pass\nfrom lull.mpi.preload import library; print(library())"
    done = run(PYTHON, "-c", script, cwd=tmp_path, package=package)
    assert done.stdout.strip() == str(lib64_prefix / "lib" / "liblull-mpi.so"), done.stderr


def test_a_machine_without_pmix_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(installed.ctypes, "CDLL", lacks)
    with pytest.raises(LullError, match=r"libpmix\.so\.2 is not on this machine.*pmix"):
        installed.launcher()


def test_a_machine_with_an_old_pmix_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed.ctypes, "CDLL", lambda name: object())
    with pytest.raises(LullError, match=r"libpmix\.so\.2 of this machine is older than PMIx 4\.2"):
        installed.launcher()
