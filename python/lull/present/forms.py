"""The option `--format`, and a result in the form that it names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from lull.present.document import Document

FORMS: Final = ("table", "json", "csv", "markdown", "html")


def format_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--format` of a command that shows a result; the argument is called `form`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(FORMS),
        default="table",
        show_default=True,
        help="Format of the output: a table, all figures as JSON, the table as CSV, everything as Markdown or HTML.",
    )(command)


def show_result(form: str, describe: Callable[[], Document], as_json: Callable[[], str]) -> None:
    """Print a result on stdout.

    Args:
        form: One of `FORMS`.
        describe: The result as a document.
        as_json: The result as JSON, with all its figures.
    """
    match form:
        case "json":
            click.echo(as_json())
        case "csv":
            from lull.present.csv_text import as_csv

            click.echo(as_csv(describe()), nl=False)
        case "markdown":
            from lull.present.markdown import as_markdown

            click.echo(as_markdown(describe()), nl=False)
        case "html":
            from lull import __version__
            from lull.present.page import as_page

            click.echo(as_page(describe(), __version__), nl=False)
        case _:
            from lull.present.terminal import print_document

            print_document(describe())
