"""The words of options: one word means the same in every command that has it.

The meaning of a word is the type of its value and the first words of its help. A word of several commands has one
meaning, so that who knows it from one command can guess it in another.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lull.base.percents import Percent
from lull.cli import lull as whole

FIRST = 2  # so many words of a help say which thing the option is about

# A word -> its meanings, where commands need more than one; each with a reason.
SEVERAL: dict[str, set[tuple[str, str]]] = {
    # Processes of a job, or virtual hosts: what the command starts, counted as launchers do.
    "-n": {("integer range", "number of")},
    # The model behind `stage` and `approaches` has three objectives; advice also knows energy@slowdown=2%.
    "--objective": {("choice", "what to"), ("text", "what to")},
}

# A word -> why its default differs between commands.
DEFAULTS = {
    "--baseline": "it is the first of the records, which the usage of compare calls A",
    "--every": "a screen, a text file and a folder of rows change at different rates",
    "--label": "it is the name of what the command is about",
    "--out": "each command has its own kind of folder below results",
    "--runs": "advice needs the spread of several runs; measure and predict run a program once, as time does",
    "--to": "each command has its own kind of file",
    "--workers": "with threads in each simulation, fewer of them run at a time",
}


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command that runs something, and those below it."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for word in command.list_commands(context):
        below = command.get_command(context, word)
        assert below is not None
        yield from commands(f"{name} {word}".strip(), below)


def options() -> dict[str, dict[str, click.Option]]:
    """Every option word, with the commands that have it."""
    found: dict[str, dict[str, click.Option]] = defaultdict(dict)
    for name, command in commands("", whole):
        for option in command.params:
            if isinstance(option, click.Option):
                for word in (*option.opts, *option.secondary_opts):
                    found[word][name] = option
    return found


OPTIONS = options()
SHARED = sorted(word for word, of in OPTIONS.items() if len(of) > 1)


def meaning(option: click.Option) -> tuple[str, str]:
    """The type of the value, and the first words of the help."""
    words = (option.help or "").replace(",", "").replace(".", "").lower().split()
    kind = "flag" if option.is_flag else option.type.name
    if isinstance(option.type, click.Path):
        kind = "folder" if "DIR" in (option.metavar or "") else "file"
    return kind, " ".join(words[:FIRST])


def default_of(option: click.Option) -> str | None:
    """The default that the help names, or that click knows; None if there is none."""
    if (named := re.search(r"\[default: (.*?)\]", option.help or "")) is not None:
        return named[1]
    default = option.get_default(click.Context(whole))
    return str(default) if isinstance(default, str | int | float | Path) and not option.is_flag else None


@pytest.mark.parametrize("word", SHARED)
def test_a_word_means_the_same_in_every_command(word: str) -> None:
    found = {name: meaning(option) for name, option in OPTIONS[word].items()}
    if word in SEVERAL:
        assert set(found.values()) == SEVERAL[word], found
    else:
        assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("word", SHARED)
def test_a_word_has_the_same_default_in_every_command(word: str) -> None:
    found = {name: default for name, one in OPTIONS[word].items() if (default := default_of(one)) is not None}
    assert (len(set(found.values())) > 1) == (word in DEFAULTS), found


def test_a_percentage_has_its_sign_or_none() -> None:
    percent = Percent(min=0)
    assert percent.convert("2%", None, None) == percent.convert("2", None, None) == percent.convert(2, None, None) == 2
    for wrong in ("two", "-1%", "2%%"):
        with pytest.raises(click.BadParameter):
            percent.convert(wrong, None, None)


def test_the_tables_have_no_words_that_are_gone() -> None:
    assert not [word for word in (*SEVERAL, *DEFAULTS) if word not in SHARED]


def test_every_option_says_what_it_means() -> None:
    assert not [(word, name) for word, of in OPTIONS.items() for name, one in of.items() if not one.help]
