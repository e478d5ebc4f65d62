"""The installed manual pages and completions: one for each verb and each routine, accepted by roff."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import man_pages
from lull import cli
from openshmem import Interface

PREFIX = Path(sys.executable).parents[1]
MAN = PREFIX / "share" / "man"


def verbs(name: str, command: click.Command) -> list[str]:
    """The command and its subcommands, joined by bars."""
    found = [name]
    if isinstance(command, click.Group):
        context = click.Context(command)
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            if below is not None:
                found += verbs(f"{name}-{verb}", below)
    return found


def test_every_command_has_a_page_and_no_page_is_of_another() -> None:
    there = {path.stem for path in (MAN / "man1").glob("lull*.1")}
    assert there == set(verbs("lull", cli.lull))


def test_a_page_tells_every_option_of_its_command() -> None:
    page = (MAN / "man1" / "lull-measure.1").read_text().replace("\\-", "-")
    command = cli.lull.get_command(click.Context(cli.lull), "measure")
    assert command is not None
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            assert parameter.opts[0] in page


def test_every_function_of_openshmem_has_a_page() -> None:
    there = {path.stem for path in (MAN / "man3").glob("*.3")}
    assert {function.name for function in Interface().functions()} <= there


def test_every_routine_and_argument_has_words_and_no_words_are_of_another() -> None:
    words = tomllib.loads(man_pages.WORDS.read_text())
    routines = man_pages.routines(Interface())
    assert set(words["does"]) == set(routines)
    assert set(words["arguments"]) == {name for routine in routines.values() for name in routine.arguments()}


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
@pytest.mark.parametrize("section", [1, 3])
def test_roff_takes_every_page(section: int) -> None:
    pages = sorted((MAN / f"man{section}").glob(f"*.{section}"))
    whole = [path for path in pages if not path.read_text().startswith(".so ") and "lull" in path.read_text()]
    assert whole
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", "-K", "utf8", *whole], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_completions_are_installed_for_each_shell() -> None:
    for path in (
        "bash-completion/completions/lull",
        "zsh/vendor-completions/_lull",
        "fish/vendor_completions.d/lull.fish",
    ):
        assert "_LULL_COMPLETE" in (PREFIX / "share" / path).read_text()


def options(name: str, command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    """Every option and argument of a command and its subcommands."""
    yield from ((name, one) for one in command.params)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            assert below is not None
            yield from options(f"{name} {verb}", below)


def test_a_folder_is_dir_and_a_file_is_file_in_every_usage() -> None:
    paths = [(name, one) for name, one in options("lull", cli.lull) if isinstance(one.type, click.Path)]
    assert len(paths) > 30
    words = re.compile(r"DIR|FILE|(FILE|SWEEP|POINTS)\.\w+|RECORD|A|A B")
    for name, one in paths:
        shown = one.make_metavar(click.Context(click.Command(name)))
        assert words.fullmatch(shown.strip("[]. ").replace("]...", "")), f"{name} {one.opts[0]}: {shown}"
