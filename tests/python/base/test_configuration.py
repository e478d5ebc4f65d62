"""The files that set defaults of settings: what wins, what is refused, and that commands and programs obey."""

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Lull
from lull.base.configuration import Configuration, apply_configuration, files_to_read, read_configuration
from lull.base.errors import LullError
from lull.base.native import checked_settings, problem_of_setting
from lull.record import read

# In one write: two PEs print at the same time.
PRINT = 'import os; os.write(1, "{LULL_WAIT} {LULL_METER_HZ}\\n".format_map(os.environ).encode())'


def read_two(folder: Path, site: str | None = None, user: str | None = None, **more: str) -> Configuration:
    """The configuration of a site's file and a user's file."""
    environment = {"HOME": str(folder), **more}
    (folder / ".config").mkdir()
    if user is not None:
        (folder / ".config" / "lull.toml").write_text(user)
    if site is not None:
        (folder / "site.toml").write_text(site)
        (folder / "site.toml").chmod(0o644)
    return read_configuration(environment, folder / "site.toml")


def refused(folder: Path, text: str) -> str:
    """The line with which a user's file is refused."""
    with pytest.raises(LullError) as caught:
        read_two(folder, user=text)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("environment", "files"),
    [
        ({"HOME": "/h"}, ["/etc/lull.toml", "/h/.config/lull.toml"]),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, ["/etc/lull.toml", "/x/lull.toml"]),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "relative"}, ["/etc/lull.toml", "/h/.config/lull.toml"]),
        ({"HOME": ""}, ["/etc/lull.toml"]),
        ({"HOME": "/h", "LULL_CONFIG": "/c.toml"}, ["/c.toml"]),
        ({"HOME": "/h", "LULL_CONFIG": ""}, []),
    ],
)
def test_which_files_are_read(environment: dict[str, str], files: list[str]) -> None:
    assert [str(path) for path in files_to_read(environment)] == files


def test_the_user_wins_over_the_site_and_the_environment_over_both(tmp_path: Path) -> None:
    site = "LULL_METER_HZ = 4\nLULL_WAIT = 'poll'\nLULL_STATS = 1\nLULL_WAIT_THRESHOLD = '64K'\n"
    user = "# mine\n\nLULL_WAIT = 'adaptive'\nLULL_STATS = ''\nLULL_WAIT_SPIN_US = 7\n"
    found = read_two(tmp_path, site, user)
    assert found.files == {"~/site.toml": 4, "~/.config/lull.toml": 3}
    environment = {"LULL_WAIT_SPIN_US": "9", "LULL_WAIT_THRESHOLD": ""}
    origins = apply_configuration(found, environment)
    assert origins == {"LULL_METER_HZ": "~/site.toml:1", "LULL_WAIT": "~/.config/lull.toml:3"}
    assert environment == {
        "LULL_WAIT_SPIN_US": "9",
        "LULL_WAIT_THRESHOLD": "",
        "LULL_METER_HZ": "4",
        "LULL_WAIT": "adaptive",
    }


def test_the_old_name_of_a_variable_of_openshmem_wins_too(tmp_path: Path) -> None:
    environment = {"SMA_SYMMETRIC_SIZE": "1M"}
    assert apply_configuration(read_two(tmp_path, user="SHMEM_SYMMETRIC_SIZE = '2M'"), environment) == {}
    assert environment == {"SMA_SYMMETRIC_SIZE": "1M"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\nLULL_WIAT = 'poll'", ":2: LULL_WIAT is not a setting that a file can have; did you mean LULL_WAIT"),
        ("wait = 'poll'", ":1: wait is not a setting"),
        ("LULL_CONFIG = '/x'", ":1: LULL_CONFIG is not a setting"),
        ("#\n#\n[mpi]\nwait = 'poll'", ':3: mpi is a table; write each setting as NAME = "VALUE"'),
        ("LULL_WAIT = ['poll']", ":1: LULL_WAIT is a list"),
        ("LULL_STATS = true", ":1: LULL_STATS = true is neither a text nor a number"),
        ("LULL_STATS = 2026-01-01", ":1: LULL_STATS = 2026-01-01 is neither a text nor a number"),
        ("a_text = '''\nLULL_WAIT = 1\n'''", ":1: a_text is not a setting"),
        ("LULL_WAIT = 'dream'", ":1: LULL_WAIT: 'dream' is not one of "),
        ("LULL_METER_HZ = 1e9", ":1: LULL_METER_HZ: '1000000000.0' is not in the range "),
        ("LULL_WAIT_SPIN_US = 1.5", ":1: LULL_WAIT_SPIN_US: '1.5' is not a whole number"),
        ('LULL_SITE = """a\nb"""', ":1: the value of LULL_SITE has several lines"),
        ("LULL_WAIT = 'poll'\nLULL_WAIT = 'poll'", ":2: it is not TOML: "),
        ("LULL_WAIT = 'poll'\nLULL_STATS =\n", ":2: it is not TOML: "),
        ("LULL_WAIT = [\n", ":1: it is not TOML: "),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, says: str) -> None:
    assert refused(tmp_path, text).startswith(f"read ~/.config/lull.toml{says}")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "named").write_bytes(b"LULL_WAIT = '\xff'")
    with pytest.raises(LullError, match="named:1: it is not TOML"):
        read_configuration({"LULL_CONFIG": str(tmp_path / "named")})


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o666])
def test_a_site_s_file_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    site = tmp_path / "site.toml"
    site.write_text("LULL_WAIT = 'poll'")
    site.chmod(mode)
    with pytest.raises(LullError, match="others than root can write it; chown root and chmod 644"):
        read_configuration({}, site)
    user = tmp_path / ".config" / "lull.toml"
    user.parent.mkdir()
    user.write_bytes(site.read_bytes())
    user.chmod(mode)
    assert read_configuration({"HOME": str(tmp_path)}, tmp_path / "none").entries["LULL_WAIT"].text == "poll"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to change the owner of a file")
def test_a_site_s_file_of_another_user_is_refused(tmp_path: Path) -> None:
    site = tmp_path / "site.toml"
    site.write_text("LULL_WAIT = 'poll'")
    os.chown(site, 64001, -1)
    with pytest.raises(LullError, match="others than root can write it"):
        read_configuration({}, site)


def test_what_is_no_file_is_refused_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(LullError, match=r"it is not a file|Is a directory"):
            read_configuration({"LULL_CONFIG": str(tmp_path / name)})
    with pytest.raises(LullError, match="there is no such file, which LULL_CONFIG names"):
        read_configuration({"LULL_CONFIG": str(tmp_path / "none")})


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")  # root, too, cannot open it
    with pytest.raises(LullError, match=r"loop: .*symbolic links"):
        read_configuration({"LULL_CONFIG": str(tmp_path / "loop")})


def test_the_check_of_a_value_leaves_the_environment_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_WAIT", "adaptive")
    monkeypatch.delenv("LULL_STATS", raising=False)
    assert problem_of_setting("LULL_WAIT", "dream") and not problem_of_setting("LULL_STATS", "1")
    assert os.environ["LULL_WAIT"] == "adaptive" and "LULL_STATS" not in os.environ
    assert "LULL_CONFIG" not in checked_settings()


# The command


@pytest.fixture
def configured(lull: Lull) -> Lull:
    """A `lull` whose file sets how MPI programs wait, and the rate of readings."""
    (lull.folder / "lull.toml").write_text("LULL_WAIT = 'poll'\nLULL_METER_HZ = 5\n")
    lull.env |= {"LULL_CONFIG": str(lull.folder / "lull.toml"), "HOME": str(lull.folder)}
    return lull


def test_settings_name_file_and_line_in_every_form(configured: Lull) -> None:
    configured.env["LULL_WAIT"] = "adaptive"
    rows = {one["variable"]: one for one in json.loads(configured.run("settings", "--format", "json").stdout)}
    found = {name: (rows[name]["value"], rows[name]["origin"]) for name in ("LULL_WAIT", "LULL_METER_HZ", "LULL_STATS")}
    assert found == {
        "LULL_WAIT": ("adaptive", "environment"),
        "LULL_METER_HZ": ("5", "~/lull.toml:2"),
        "LULL_STATS": ("0", "default"),
    }
    for form in ("table", "csv", "markdown", "html"):
        assert "~/lull.toml:2" in configured.run("settings", "--format", form).stdout
    lines = csv.DictReader(io.StringIO(configured.run("settings", "--format", "csv").stdout))
    assert {one["origin"] for one in lines} == {"environment", "default", "~/lull.toml:2"}


def test_programs_and_records_have_the_settings_of_the_file(configured: Lull) -> None:
    done = configured.run("measure", "--out", "m", "--", sys.executable, "-c", PRINT)
    assert (done.returncode, done.stdout) == (0, "poll 5\n"), done.stderr
    run = read(configured.folder / "m")
    assert (run.sampling_hz, run.settings["LULL_WAIT"]) == (5, "poll")
    assert "LULL_CONFIG" not in run.settings
    done = configured.run("measure", "--hz", "20", "--out", "n", "--", "true")
    assert read(configured.folder / "n").sampling_hz == 20, done.stderr


def test_run_wait_and_stage_obey(configured: Lull) -> None:
    done = configured.run("run", "-n", "2", sys.executable, "-c", PRINT)
    assert (done.returncode, done.stdout) == (0, "poll 5\n" * 2), done.stderr
    done = configured.run("wait", "interrupt", "--", sys.executable, "-c", PRINT)
    assert done.stdout == "interrupt 5\n", "the command line wins"
    done = configured.run("stage", "--approach", "dedicated-cores=1", "--", sys.executable, "-c", PRINT)
    assert done.stdout == "poll 5\n", done.stderr


@pytest.mark.parametrize(("verb", "code"), [("measure", 125), ("run", 125), ("sources", 1), ("settings", 1)])
def test_a_wrong_file_fails_each_command_with_its_own_code(configured: Lull, verb: str, code: int) -> None:
    (configured.folder / "lull.toml").write_text("LULL_WAIT = 'dream'\n")
    words = {"measure": ["true"], "run": ["-n", "1", "true"]}.get(verb, [])
    done = configured.run(verb, *words)
    assert done.returncode == code
    [line] = done.stderr.splitlines()
    assert line.startswith("lull: read ~/lull.toml:1: LULL_WAIT: 'dream' is not one of ")


@pytest.mark.parametrize(
    "words", [["--version"], ["measure", "--help"], ["archive", "info", "--help"], ["help", "measure"], ["hosts", "-h"]]
)
def test_a_wrong_file_keeps_no_help_back(configured: Lull, words: list[str]) -> None:
    (configured.folder / "lull.toml").write_text("LULL_WAIT = 'dream'\n")
    done = configured.run(*words)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_wrong_file_fails_a_subcommand_of_a_group_and_help_of_a_program_is_not_that_of_lull(
    configured: Lull,
) -> None:
    (configured.folder / "lull.toml").write_text("LULL_WAIT = 'dream'\n")
    for words, code in ((["archive", "info", "t"], 1), (["measure", "echo", "--help"], 125)):
        done = configured.run(*words)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.startswith("lull: read ~/lull.toml:1: ")


def test_doctor_lists_the_files_and_what_is_wrong_with_them(configured: Lull) -> None:
    def finding() -> tuple[str, str]:
        areas = json.loads(configured.run("doctor", "--format", "json").stdout)["areas"]
        [one] = [one for one in areas["Lull"] if one["what"] == "files of settings"]
        return one["state"], one["found"]

    assert finding() == ("works", "~/lull.toml with 2 settings")
    (configured.folder / "lull.toml").write_text("LULL_WAIT = 1")
    state, found = finding()
    assert state == "missing" and found.startswith("read ~/lull.toml:1: LULL_WAIT: '1' is not one of ")


@pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("unshare") is None
    or subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode != 0,
    reason="needs root and a mount namespace, to have an /etc of its own",
)
def test_the_site_s_file_is_read_by_the_command(lull: Lull) -> None:
    etc = lull.folder / "etc"
    shutil.copytree("/etc", etc, symlinks=True, ignore_dangling_symlinks=True)
    (etc / "lull.toml").write_text("LULL_WAIT = 'poll'\nLULL_METER_HZ = 5\n")
    (etc / "lull.toml").chmod(0o644)
    (lull.folder / "config").mkdir()
    (lull.folder / "config" / "lull.toml").write_text("LULL_METER_HZ = 6\n")
    inside = 'mount --bind "$0" /etc && exec "$@"'
    environment = {name: value for name, value in lull.environment().items() if name != "LULL_CONFIG"}
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", inside, str(etc), *lull.argv("settings", "--format", "json")],
        env=environment | {"HOME": str(lull.folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = {one["variable"]: one for one in json.loads(done.stdout)}
    found = {name: (rows[name]["value"], rows[name]["origin"]) for name in ("LULL_WAIT", "LULL_METER_HZ")}
    assert found == {
        "LULL_WAIT": ("poll", "/etc/lull.toml:1"),
        "LULL_METER_HZ": ("6", "~/config/lull.toml:1"),
    }
