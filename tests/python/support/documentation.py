"""The commands and examples of the documentation, and the rules in tests/documentation.toml for running them.

A page is a session: its blocks run in order, in their own folder with the files of docs/how-to/measure/examples, and a
block finds the variables, the folder and the files that earlier blocks have left. The output that a block shows must be
in what it prints, apart from numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

TOP = Path(__file__).resolve().parents[3]
TABLE = TOP / "tests" / "documentation.toml"
LANGUAGES = ("sh", "console", "python", "toml", "cpp", "cmake", "yaml")  # of examples; others show something
ELLIPSIS = re.compile(r"\[?\.\.\.\]?")
# A number with its sign, interval and unit: these differ from run to run.
NUMBER = re.compile(
    r"[<>~±]?\s*[+−-]?\d[\d.,]*(?:e[+-]?\d+)?(?:\s?(?:%|×|[yzafpnµmkKMGT]?(?:J·s²?|s|J|W|B)(?![\w/])|[kMGT](?=\s)))?"
)


@dataclass(frozen=True)
class Entry:
    """The entry of the table for a block."""

    holds: str = ""  # a text that only this block of its page contains; after ^ the one with which it begins
    skip: str = ""  # why it is not run
    before: str = ""  # shell, before it
    run: str = ""  # shell in its place
    replace: list[tuple[str, str]] = field(default_factory=list)
    why: str = ""  # why it is not run as it is
    needs: str = ""  # requirements on the machine: slurm, hosts, a program, a file of the checkout
    file: str = ""  # the name under which the block is written
    around: str = "@"  # the text that is written, with the block in place of @
    then: str = ""  # shell, after it was written
    study: str = ""  # the block is part of a study's file, of which this is the rest
    simulation: str = ""  # of a simulation's file
    output: bool = False  # a block of text: the output of the previous block
    varies: list[str] = field(default_factory=list)  # shown lines that are not compared
    ends_with: int = 0  # the exit code

    def fits(self, text: str) -> bool:
        """Whether the entry is about this block."""
        return text.startswith(self.holds[1:]) if self.holds.startswith("^") else self.holds in text


@dataclass(frozen=True)
class Block:
    """One example of a page."""

    page: str
    line: int
    language: str
    text: str
    entry: Entry

    @property
    def place(self) -> str:
        """Its place, for people."""
        return f"{self.page}:{self.line}"

    @property
    def first_line(self) -> str:
        """The first words that are no comment."""
        lines = [one for one in self.text.splitlines() if one.strip() and not one.startswith("#")]
        return (lines or self.text.splitlines() or [""])[0].removeprefix("$ ")

    @property
    def shrunk(self) -> bool:
        """Whether something else is run in its place."""
        return bool(self.entry.run or self.entry.replace)


@dataclass(frozen=True)
class Page:
    """A page with at least one example."""

    name: str  # from the top of the source
    before: str  # shell, before its first block
    blocks: tuple[Block, ...]
    unused: tuple[str, ...]  # entries of the table that match no block, or several

    @property
    def needs(self) -> set[str]:
        """The requirements on the machine of all its blocks."""
        return {block.entry.needs for block in self.blocks} - {""}


def sources() -> list[Path]:
    """Every page that users and developers read."""
    folders = (TOP / "docs", TOP / "skills")
    pages = [path for folder in folders for path in sorted(folder.rglob("*.md"))]
    return [TOP / "README.md", TOP / "CONTRIBUTING.md", *pages]


def pages() -> list[Page]:
    """All pages with examples, in order."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    shrink = [tuple(pair) for pair in table.pop("everywhere")["replace"]]
    found = [_page(path, table.pop(str(path.relative_to(TOP)), {}), shrink) for path in sources()]
    assert not table, f"{TABLE} names pages that are not there: {', '.join(table)}"
    return [page for page in found if page.blocks]


def _page(path: Path, table: dict[str, Any], shrink: list[tuple[str, ...]]) -> Page:
    entries = [Entry(**one) for one in table.get("blocks", [])]
    fitting: dict[str, int] = dict.fromkeys((one.holds for one in entries), 0)
    blocks = []
    name = str(path.relative_to(TOP))
    for line, language, text in _fences(path.read_text(encoding="utf-8")):
        of = [one for one in entries if one.fits(text)]
        for one in of:
            fitting[one.holds] += 1
        entry = of[0] if of else Entry()
        if language not in LANGUAGES and not (language == "text" and entry.output):
            continue
        rules = [(old, new) for old, new in (*entry.replace, *shrink) if re.search(old, text)]
        blocks.append(Block(name, line, language, text, Entry(**{**vars(entry), "replace": rules})))
    return Page(name, table.get("before", ""), tuple(blocks), tuple(one for one, n in fitting.items() if n != 1))


def _fences(text: str) -> Iterator[tuple[int, str, str]]:
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "fence" and token.map is not None:
            yield token.map[0] + 1, token.info.strip(), token.content


def inline_commands() -> Iterator[tuple[str, list[str]]]:
    """Calls of `lull` within sentences: the page, and the words."""
    for path in sources():
        for token in MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8")):
            for child in token.children or []:
                if child.type == "code_inline" and child.content.startswith("lull ") and "\n" not in child.content:
                    yield str(path.relative_to(TOP)), child.content.split()


def shell_of(block: Block) -> str:
    """The commands that are run in place of a shell block."""
    if block.entry.run:
        return block.entry.run
    text = block.text
    for old, new in block.entry.replace:
        text = re.sub(old, new, text)
    return text


def calls_of(block: Block) -> list[tuple[str, list[str]]]:
    """Commands with the lines that each shows: in a console one per prompt; otherwise the whole block, and nothing."""
    text = shell_of(block)
    if block.language != "console" or block.entry.run:
        shown = [] if block.language != "console" else [line for line in block.text.splitlines() if line[:2] != "$ "]
        return [(text, shown)]
    calls: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            calls.append((line[2:], []))
        else:
            calls[-1][1].append(line)
    return calls


def plain(text: str) -> str:
    """Text without the parts that differ from run to run, or with the width of the screen."""
    without = NUMBER.sub("#", text)
    without = re.sub(r"#(?:\s*[–-]\s*#)+", "#", re.sub(r"─+", "─", without))
    return " ".join(without.split())


def missing_lines(shown: list[str], printed: str, varies: list[str]) -> list[str]:
    """The shown lines that are missing in the printed text."""
    there = plain(printed)
    return [
        line
        for line in shown
        if not any(re.search(pattern, line) for pattern in varies)
        and not all(plain(part) in there for part in ELLIPSIS.split(line))
    ]
