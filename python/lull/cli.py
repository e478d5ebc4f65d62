"""The command `lull`: its subcommands, each in its own module, and the one place that turns errors into lines.

Exit codes: 0 done, 1 failure, 2 usage, 130 interrupted. Commands that pass on the exit code of a program end with 125
if they fail themselves, as `env` and `timeout` do, so that a script knows whose failure it is.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import os
import sys
from typing import Any, Final, NoReturn

import click

from lull import __version__
from lull.base.abandoning import AbandonedError
from lull.base.configuration import apply_configuration, read_configuration
from lull.base.errors import OWN_FAILURE, LullError, describe_os_error
from lull.base.streams import configure_streams, give_up_output

CANNOT_BE_WRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)  # a stream, not a file of ours

# The groups in which help lists the subcommands. Each subcommand is the click command of its name in the module of its
# name in `lull.commands`, or in the folder of its group. The module is imported only when the subcommand is called or
# listed.
GROUPS: Final = {
    "Measure": ("measure", "trace", "top", "sources", "doctor"),
    "Look": ("show", "list", "compare", "report", "archive", "export"),
    "Run": ("run", "wait", "stage", "join", "hosts", "apps"),
    "Model": ("calibrate", "advise", "predict", "approaches", "simulate", "topology"),
    "Experiment": ("study",),
    "Every job of a site": ("jobs", "collect", "ship"),
    "Set up": ("help", "settings", "schema", "record", "completion"),
}
FOLDERS: Final = {"Every job of a site": "site", "Set up": "setup"}
FOLDER_OF: Final = {name: folder for group, folder in FOLDERS.items() for name in GROUPS[group]}
COMMANDS: Final = tuple(name for names in GROUPS.values() for name in names)
LONGEST: Final = max(map(len, COMMANDS))
PASS_ON: Final = frozenset(("measure", "trace", "run", "wait", "stage", "hosts"))  # a program's exit code


class Configured(click.Context):
    """The context of a subcommand: its callback runs with the settings of the configuration files in force.

    They are read only now, after the options, so that a mistake in a file does not stop the help.
    """

    def invoke(self, callback: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call `callback`, after the files were read unless a group only passes on to its subcommand."""
        if not isinstance(self.command, click.Group):
            root = self.find_root()
            root.obj = settings_of_files(root.invoked_subcommand)
        return super().invoke(callback, *args, **kwargs)


class LazyGroup(click.Group):
    """A group that imports a subcommand's module on demand, so that `lull --version` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The subcommands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand `cmd_name`, or None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(".".join(filter(None, ("lull.commands", FOLDER_OF.get(cmd_name), cmd_name))))
        command = getattr(module, cmd_name, None) or getattr(module, f"{cmd_name}_")  # list_, not to hide Python's list
        assert isinstance(command, click.Command)
        for one in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
            one.context_class = Configured
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands by group, each with its short help."""
        limit = formatter.width - 6 - LONGEST
        for group, names in GROUPS.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(group):
                formatter.write_dl(
                    [(name.ljust(LONGEST), one.get_short_help_str(limit)) for name, one in commands if one is not None]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that the arguments name; the error for an unknown one suggests the nearest."""
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {near[0]}" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"no command {args[0]!r}, {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="lull", message="%(prog)s %(version)s")
def lull() -> None:
    """Measure, compare, study and simulate the time and energy of moving data in parallel programs.

    Defaults of settings come from /etc/lull.toml and ~/.config/lull.toml; lull settings lists them.
    """


def settings_of_files(command: str | None) -> dict[str, str]:
    """Put the settings of the configuration files into the environment; returns their origins, by variable.

    `lull doctor` reports what is wrong with a file, and `lull help` needs none: both then do without the files.
    """
    try:
        return apply_configuration(read_configuration(os.environ), os.environ)
    except LullError:
        if command not in ("doctor", "help"):
            raise
        return {}


def main() -> NoReturn:
    """Run the command line, and turn every expected failure into one line on stderr."""
    configure_streams()
    code: object = 0
    try:
        code = lull.main(standalone_mode=False, prog_name="lull")
        sys.stdout.flush()
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # raised by click 8.2 and newer; before, help is no error
            error.show()
            sys.exit(2)
        where = error.ctx.command_path if error.ctx else "lull"
        fail(f"{error.format_message().rstrip('.')}; {where} --help shows how", own_code(2))
    except click.ClickException as error:
        fail(error.format_message(), own_code(error.exit_code))
    except AbandonedError as error:
        say_failure(str(error))
        os._exit(error.exit_code)
    except LullError as error:
        fail(str(error), own_code(error.exit_code))
    except MemoryError:
        fail("out of memory", own_code(1))
    except (KeyboardInterrupt, click.Abort):
        fail("interrupted", 130)
    except BrokenPipeError:
        give_up_output()
    except OSError as error:
        if error.errno not in CANNOT_BE_WRITTEN or error.filename is not None:
            raise
        give_up_output()
        fail(f"write to standard output: {describe_os_error(error)}", own_code(1))
    sys.exit(code if isinstance(code, int) else 0)


def own_code(code: int) -> int:
    """The exit code with which the present command fails itself: `code`, or OWN_FAILURE if it passes on a program's."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    return OWN_FAILURE if code in (1, 2) and verb in PASS_ON else code


def fail(line: str, code: int) -> NoReturn:
    """Print `line` on stderr as a message of Lull, and exit with `code`."""
    say_failure(line)
    sys.exit(code)


def say_failure(line: str) -> None:
    """Print `line` on stderr as a message of Lull."""
    print(f"lull: {' '.join(line.split())}", file=sys.stderr, flush=True)
