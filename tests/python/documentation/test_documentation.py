"""Every command and example of the documentation is run as it is; tests/documentation.toml has the exceptions."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
import yaml

import slurm
from bounds import TIMEOUT_S
from documentation import TOP, Block, Page, calls_of, inline_commands, missing_lines, pages, shell_of
from lull import cli
from lull.simulation.description import read_description as read_simulation
from lull.study.kinds import read_study

EXAMPLES = TOP / "docs" / "how-to" / "measure" / "examples"
BIN = Path(sys.executable).parent
PAGES = pages()
LEAST_RUN = 0.85  # of all blocks


def marks(page: Page) -> list[pytest.MarkDecorator]:
    if "slurm" not in page.needs:
        return []
    return [pytest.mark.xdist_group("slurm"), pytest.mark.skipif(bool(slurm.missing()), reason=slurm.missing())]


def lacking(needs: str) -> str:
    """The reason why a block cannot be run on this machine; empty if it can."""
    if needs == "hosts":
        probe = ["unshare", "--net", "--uts", "true"]
        return "" if os.geteuid() == 0 and subprocess.run(probe, check=False).returncode == 0 else "needs root"
    if needs in {"", "slurm"}:
        return ""
    return "" if shutil.which(needs) or (TOP / needs).exists() else f"needs {needs}"


class Session:
    """A page's folder and environment, and the results of its blocks."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "work"
        self.state, self.where = folder / "state", folder / "where"
        self.printed = ""
        self.names: dict[str, object] = {"__name__": "__main__"}
        shutil.copytree(EXAMPLES, self.folder)
        self.where.write_text(str(self.folder))
        for name in [name for name in os.environ if name.startswith("LULL_") and name != "LULL_CONFIG"]:
            monkeypatch.delenv(name)
        shims = folder / "shims"
        shims.mkdir()
        make = shims / "make"  # the targets must exist, with their prerequisites; running them takes minutes
        make.write_text(f'#!/bin/sh\nexec /usr/bin/make --dry-run --directory "{TOP}" "$@"\n')
        make.chmod(0o755)
        self.env = {
            "PATH": f"{shims}:{BIN}:{os.environ['PATH']}",
            "PREFIX": str(BIN.parent),
            "CHECKOUT": str(TOP),
            "COLUMNS": "100",
            "STARTED_IN": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),  # without a calibration of this host
            "XDG_CACHE_HOME": str(folder / "cache"),
            "LULL_METER_SOURCES": "estimate,net",
            "SLURM_MPI_TYPE": "pmix",  # as on sites with Open MPI
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # the same for Open MPI 5
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        }
        for name, value in self.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(self.folder)

    def shell(self, script: str, place: str, ends_with: int = 0) -> str:
        """Run a script where the last one has ended, with its variables, and return its output."""
        before = f'[ -e "{self.state}" ] && . "{self.state}"; cd "$(cat "{self.where}")"'
        after = f'trap \'code=$?; export -p > "{self.state}"; pwd > "{self.where}"; exit $code\' EXIT'
        done = subprocess.run(
            ["bash", "-c", f"{before}\n{after}\nset -e\n{script}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        assert done.returncode == ends_with, f"{place}: exit code {done.returncode}\n{script}\n{done.stdout}"
        self.printed = done.stdout
        return done.stdout

    def run(self, block: Block) -> None:
        entry = block.entry
        if entry.before:
            self.shell(entry.before, block.place)
        if block.language in {"sh", "console"}:
            for script, shown in calls_of(block):
                self.compare(block, shown, self.shell(script, block.place, entry.ends_with))
        elif block.language == "text":
            self.compare(block, block.text.splitlines(), self.printed)
        elif block.language == "python" and not entry.file:
            exec(compile(shell_of(block), block.place, "exec"), self.names)
        else:
            self.keep(block)

    def keep(self, block: Block) -> None:
        """Write or check a block that is part of a file."""
        entry = block.entry
        text = entry.around.replace("@", shell_of(block))
        if block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "yaml":
            yaml.safe_load(block.text)
        if entry.file:
            (self.folder / entry.file).write_text(text)
            self.shell(entry.then or "true", block.place)
        elif entry.study:
            path = self.folder / "part.toml"
            path.write_text(f"{entry.study.strip()}\n{block.text}" if entry.study != "all" else block.text)
            read_study(path)
        elif entry.simulation:
            read_simulation(tomllib.loads(f"{entry.simulation}\n{block.text}"), block.place)
        else:
            assert block.language == "yaml", f"{block.place}: nothing says how this is tried"

    def compare(self, block: Block, shown: list[str], printed: str) -> None:
        missing = missing_lines(shown, printed, block.entry.varies)
        assert not missing, f"{block.place}: shown, but not printed:\n" + "\n".join(missing) + f"\n--- of\n{printed}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm.Cluster]:
    with slurm.slurm_cluster(["one", "two"]) as running:
        yield running


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("page", [pytest.param(one, marks=marks(one), id=one.name) for one in PAGES])
def test_the_examples_of_a_page_work(
    page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    session = Session(tmp_path, monkeypatch)
    if "slurm" in page.needs:
        folder = request.getfixturevalue("cluster").folder
        monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    session.shell(page.before or "true", page.name)
    for block in page.blocks:
        if not block.entry.skip and not lacking(block.entry.needs):
            session.run(block)


def test_what_is_not_run_as_it_stands_has_a_reason() -> None:
    unused = [f"{page.name}: {one!r}" for page in PAGES for one in page.unused]
    assert not unused, "entries of tests/documentation.toml that fit no block, or several"
    own = [block for page in PAGES for block in page.blocks if block.entry.run and not block.entry.why]
    assert not [block.place for block in own], "blocks in whose place another script is run have no `why`"


def test_few_examples_are_not_run(record_property: Callable[[str, object], None]) -> None:
    blocks = [block for page in PAGES for block in page.blocks]
    left_out = [block for block in blocks if block.entry.skip]
    record_property("examples", len(blocks))
    for block in left_out:
        record_property(block.place, block.entry.skip)
    assert len(left_out) <= (1 - LEAST_RUN) * len(blocks)


def test_every_file_of_the_examples_is_used_by_a_command() -> None:
    files = {path.name: path.read_text() for path in EXAMPLES.iterdir()}
    blocks = [block for page in PAGES for block in page.blocks]  # also those that only a reader runs
    commands = "\n".join([*(block.text + block.entry.before for block in blocks), *files.values()])
    unused = [name for name in files if name not in commands and name != "CMakeLists.txt"]
    assert not unused


def options_of(words: list[str]) -> tuple[set[str], list[str]]:
    """The options of the called command, and those in the call before the program that it starts."""
    group = cli.lull
    command: click.Command = group
    has: set[str] = set()
    named: list[str] = []
    for word in words[1:]:
        if word == "--":
            break
        if isinstance(command, click.Group) and (below := command.get_command(click.Context(command), word)):
            command = below
            everything = [command, *(command.commands.values() if isinstance(command, click.Group) else [])]
            has |= {
                name
                for one in everything
                for parameter in one.get_params(click.Context(one))
                for name in (*parameter.opts, *parameter.secondary_opts)
            }
        elif word.startswith("--"):
            named.append(word.partition("=")[0].rstrip(",;"))
    return has, named


@pytest.mark.parametrize(("page", "words"), [(page, words) for page, words in inline_commands()])
def test_commands_within_sentences_have_their_options(page: str, words: list[str]) -> None:
    has, named = options_of(words)
    if words[1].rstrip("…,") and words[1][0].islower():
        assert words[1] in cli.COMMANDS, f"{page}: {' '.join(words)}"
        assert not [one for one in named if one not in has], f"{page}: {' '.join(words)}"
