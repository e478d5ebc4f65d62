"""Write the files that accompany the command: command_files.py EXTENSION INTO makes INTO/man1 and INTO/completions.

The manual pages, lull(1) and one for each subcommand, and the completions of the shells are generated from the click
commands, so they are never stale. EXTENSION is the native module lull._core, which is in the build tree at this point.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

TITLE = "Lull"
COMPLETIONS = {"bash": "lull", "zsh": "_lull", "fish": "lull.fish"}
EXIT_CODES = (
    "0 done, 1 failure, 2 usage, 130 interrupted. measure and run pass on the exit code of the program; 126 and 127 "
    "mean that it is not executable or not there, 128 + n that signal n ended it. Errors are one line on stderr."
)


def escaped(text: str) -> str:
    """Text escaped for roff."""
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a help text; those after a backspace keep their lines, as in click."""
    for part in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        if part.startswith("\b"):
            yield f".PP\n.nf\n{escaped(part[1:].strip(chr(10)))}\n.fi"
        else:
            yield f".PP\n{escaped(' '.join(part.split()))}"


def options(command: click.Command, context: click.Context) -> list[str]:
    """The options with their meanings."""
    lines = []
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and (record := parameter.get_help_record(context)):
            lines += [".TP", f".B {escaped(record[0])}", escaped(" ".join(record[1].split()))]
    return lines


def page(name: str, command: click.Command, version: str, beside: list[str]) -> str:
    """The manual page of a command; `name` is its full name, `lull record upgrade`."""
    context = click.Context(command, info_name=name)
    short = (command.get_short_help_str(200) or name).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH {name.upper().replace(" ", "-")} 1 "" "{TITLE} {version}" "{TITLE}"',
        ".SH NAME",
        f"{escaped(name.replace(' ', '-'))} \\- {escaped(short[0].lower() + short[1:])}",
        ".SH SYNOPSIS",
        f".B {escaped(name)}",
        escaped(usage),
        ".SH DESCRIPTION",
        *paragraphs(command.help or ""),
    ]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for verb in command.list_commands(context):
            one = command.get_command(context, verb)
            if one is not None:
                page_name = f"{name} {verb}".replace(" ", "-")
                lines += [".TP", f"\\fB{escaped(page_name)}\\fR(1)", escaped(one.get_short_help_str(200))]
    if found := options(command, context):
        lines += [".SH OPTIONS", *found]
    lines += [
        ".SH ENVIRONMENT",
        "lull settings lists every variable with its meaning, its value and where the value comes from.",
        ".SH FILES",
        ".TP",
        ".I /etc/lull.toml",
        'Defaults of settings on this machine, as lines NAME = "VALUE". Only root may be able to write it.',
        ".TP",
        ".I ~/.config/lull.toml",
        "Those of the user, which win over the site's. Variables in the environment win over both. The folder is"
        " $XDG_CONFIG_HOME if that is set; LULL_CONFIG names another file instead of both, or none if it is empty.",
        ".SH EXIT STATUS",
        escaped(EXIT_CODES),
        ".SH SEE ALSO",
        ", ".join(f"\\fB{escaped(other)}\\fR(1)" for other in beside),
    ]
    return "\n".join(lines) + "\n"


def commands(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    """A command and its subcommands."""
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for verb in command.list_commands(context):
            below = command.get_command(context, verb)
            if below is not None:
                yield from commands(f"{name} {verb}", below)


def write(into: Path) -> None:
    """Write all files into the folder, which then contains nothing else."""
    from click.shell_completion import get_completion_class

    from lull import __version__
    from lull.cli import COMMANDS, lull

    shutil.rmtree(into, ignore_errors=True)
    (into / "man1").mkdir(parents=True)
    for name, command in commands("lull", lull):
        parent = name.rpartition(" ")[0].replace(" ", "-")
        beside = [parent] if parent else [f"lull-{verb}" for verb in COMMANDS[:6]]
        text = page(name, command, __version__, beside)
        (into / "man1" / f"{name.replace(' ', '-')}.1").write_text(text, encoding="utf-8")
    for shell, file in COMPLETIONS.items():
        of = get_completion_class(shell)
        assert of is not None
        made = of(lull, {}, "lull", "_LULL_COMPLETE")
        path = into / "completions" / shell / file
        path.parent.mkdir(parents=True)
        path.write_text(made.source_template % made.source_vars(), encoding="utf-8")


def load(extension: Path) -> None:
    """Let the package in this folder use the native module in the build tree."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    loader = importlib.machinery.ExtensionFileLoader("lull._core", str(extension))
    spec = importlib.util.spec_from_file_location("lull._core", extension, loader=loader)
    assert spec is not None
    import lull

    module = importlib.util.module_from_spec(spec)
    sys.modules["lull._core"] = module
    loader.exec_module(module)
    lull._core = module  # type: ignore[attr-defined]


if __name__ == "__main__":
    load(Path(sys.argv[1]))
    write(Path(sys.argv[2]))
