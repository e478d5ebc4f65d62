"""The first steps on machines with other settings: locales, umask, home, network, names of folders.

`scripts/elsewhere` runs all tests in such settings; two of these short forms run for every commit.
"""

import os
import shutil
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bounds import TIMEOUT_S
from conftest import Lull
from lull import record
from small_sweep import NET

STEPS = [
    ["measure", "--runs", "2", "--out", "short", "--", "sh", "-c", "echo häufig"],
    ["measure", "--runs", "2", "--out", "long", "--", "sleep", "0.1"],
    ["compare", "short", "long"],
    ["simulate", "--out", "net", "net.toml"],
    ["report", "--to", "report.html", "short", "long"],
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


def first_steps(folder: Path, env: dict[str, str], before: str) -> None:
    """A user's first commands; `before` is shell code that runs in each command's process."""
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
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == 0, (step, done.stderr)
        assert b"Traceback" not in done.stderr
        assert b"Warning" not in done.stderr
    assert len(record.read(folder / "short").repeats) == 2
    assert (folder / "report.html").stat().st_size > 0


@dataclass(frozen=True)
class Place:
    """The settings of a machine: variables, where an empty one is unset, and shell code before each command."""

    env: dict[str, str] = field(default_factory=dict)
    before: str = ""
    folder: str | bytes = "here"


PLACES = {
    "C": Place({"LC_ALL": "C"}, folder="Büro 2"),
    "ASCII": Place({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, folder="Büro 2"),
    "missing locale": Place({"LC_ALL": "no_SUCH.locale"}, folder="Büro 2"),
    "Latin-1": Place({"LC_ALL": "de_DE.ISO-8859-1"}, folder="Büro 2".encode("latin-1")),
    "missing home": Place({"HOME": "/proc/nonexistent", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}),
    "no home": Place({"HOME": "", "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": ""}),
    "private umask": Place(before="umask 077;"),
    "no network": Place(before="exec unshare --net -- sh -c 'ip link set lo up && exec \"$@\"' sh"),
}


@pytest.mark.in_turn(4)
@pytest.mark.parametrize("name", PLACES)
def test_the_first_steps(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    place = PLACES[name]
    env = dict(place.env)
    if name == "Latin-1":
        env |= request.getfixturevalue("latin_1_locale")
    if (
        name == "no network"
        and subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode
    ):
        pytest.skip("needs root")
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/" + os.fsencode(place.folder)))
    first_steps(folder, env, place.before)
    if name == "private umask":
        written = [path for path in folder.rglob("*") if path.name != "net.toml"]
        assert written
        assert not [path for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077]
