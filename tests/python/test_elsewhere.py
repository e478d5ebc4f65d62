"""The first steps on machines that are set up in other ways: locales, umask, home, network, names of folders.

`scripts/elsewhere` runs all tests in such places; these few minutes of it belong to every commit.
"""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from conftest import Lull
from lull import record
from test_simulate_sweep import NET

STEPS = [
    ["measure", "--runs", "2", "--out", "short", "--", "sh", "-c", "echo häufig"],
    ["measure", "--runs", "2", "--out", "long", "--", "sleep", "0.1"],
    ["compare", "short", "long"],
    ["simulate", "--out", "net", "net.toml"],
    ["report", "--out", "report.html", "short", "long"],
    ["run", "-n", "2", "histogram", "--updates", "1000"],
]


@pytest.fixture(scope="session")
def latin_1_locale(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables of a locale whose encoding is Latin-1."""
    folder = tmp_path_factory.mktemp("locales")
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("needs the sources of locales")
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "ISO-8859-1", folder / "de_DE.ISO-8859-1"], capture_output=True, check=False
    )
    assert made.returncode <= 1, made.stderr  # 1: with warnings
    return {"LOCPATH": str(folder), "LC_ALL": "de_DE.ISO-8859-1"}


def first_steps(folder: Path, env: dict[str, str], before: str = "") -> None:
    """What a user does first; `before` is for a shell, and runs in each command's process."""
    folder.mkdir()
    (folder / "net.toml").write_text(NET)
    here = Lull(folder)
    removed = {name for name, value in env.items() if not value}
    environment = {name: value for name, value in {**here.environment(), **env}.items() if name not in removed}
    for step in STEPS:
        done = subprocess.run(
            ["sh", "-c", f'{before} "$@"', "sh", *here.argv(*step)],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, (step, done.stderr)
        assert b"Traceback" not in done.stderr
        assert b"Warning" not in done.stderr
    assert len(record.read(folder / "short").repeats) == 2
    assert (folder / "report.html").stat().st_size > 0


@pytest.mark.parametrize(
    "env",
    [
        {"LC_ALL": "C"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "no_SUCH.locale"},
    ],
    ids=["c", "ascii", "missing"],
)
def test_the_first_steps_in_a_locale_without_umlauts(tmp_path: Path, env: dict[str, str]) -> None:
    first_steps(tmp_path / "Büro 2", env)


def test_the_first_steps_in_latin_1(tmp_path: Path, latin_1_locale: dict[str, str]) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + "/Büro 2".encode("latin-1")))
    first_steps(folder, latin_1_locale)


@pytest.mark.parametrize("home", ["/nonexistent", ""], ids=["missing", "unset"])
def test_the_first_steps_without_a_home(tmp_path: Path, home: str) -> None:
    first_steps(tmp_path / "here", {"HOME": home, "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""})


def test_a_private_umask_is_kept(tmp_path: Path) -> None:
    first_steps(tmp_path / "here", {}, before="umask 077;")
    written = [path for path in (tmp_path / "here").rglob("*") if path.name != "net.toml"]
    assert written
    assert not [path for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077]


def test_the_first_steps_without_a_network(tmp_path: Path) -> None:
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("needs root")
    with_loopback = 'ip link set lo up && exec "$@"'
    first_steps(tmp_path / "here", {}, before=f"exec unshare --net -- sh -c '{with_loopback}' sh")
