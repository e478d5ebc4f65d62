"""The two pictures of the front page, as SVG: `python docs/_ext/front_pictures.py` writes them into docs/images.

`first-result.svg` is a terminal: the commands that made the two kept records of docs/results/first, and the output of
`lull compare` of them as this Lull prints it. `overview.svg` shows what becomes of a program. Both have a ground of
their own, so that they are readable on light and dark pages.
"""

from __future__ import annotations

import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from rich.console import Console
from rich.text import Text

from lull import record

TOP = Path(__file__).resolve().parents[2]
IMAGES = TOP / "docs" / "images"
KEPT = TOP / "docs" / "results" / "first"
LABELS = ("direct", "aggregated")
COMPARE = ("lull", "compare", *LABELS, "--region", "updates", "--per", "updates")
COLUMNS = 76
NOTES = 1  # of the notes at the end, those that are shown
FONT = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)  # rich's format loads a font from the network
TITLE = "lull compare: aggregated messages against one operation for each item"


def terminal_picture() -> str:
    """The terminal with the first result."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in terminal_lines():
        console.print(line, soft_wrap=True)
    drawn = inspect.signature(Console.export_svg).parameters["code_format"].default
    size = 'width="{width}" height="{height}"'
    code = FONT.sub("", drawn).replace("xmlns=", f'{size} role="img" aria-label="{escape(TITLE)}" xmlns=', 1)
    picture = console.export_svg(title="", code_format=code, unique_id="first-result")
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def terminal_lines() -> list[Text]:
    """What the terminal shows: the commands, and the result without most of its notes."""
    lines = []
    for label in LABELS:
        run = record.read(KEPT / label)
        lines.append(_typed(f"lull measure --runs {len(run.repeats)} --label {label} --out {label} -- \\"))
        lines.append(Text(f"    {shlex.join(run.command)}", "bold"))
    lines.append(_typed(shlex.join(COMPARE)))
    printed = Text.from_ansi(_compared()).split("\n")
    notes = [place for place, line in enumerate(printed) if line.plain.startswith("note: ")]
    left_out = len(notes) - NOTES
    return [*lines, *printed[: notes[NOTES]], Text(f"[{left_out} more notes]", "dim italic")]


def _typed(command: str) -> Text:
    return Text.assemble(("$ ", "green"), (command, "bold"))


def _compared() -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    env |= {"FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "lull", *COMPARE[1:]]
    return subprocess.run(command, cwd=KEPT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()


WIDTH, MARGIN = 660, 30
BOX_HEIGHT, GAP = 66, 36
STYLE = """
.ground { fill: #f7f7f9; stroke: #d5d7de; }
.box { fill: #ffffff; stroke: #5c677d; stroke-width: 1.5; }
.kept { fill: #e3eefb; stroke: #2563a8; stroke-width: 1.5; }
.name { fill: #16202e; font-weight: 600; font-size: 20px; }
.words { fill: #3f4a5a; font-size: 17px; }
.arrow { stroke: #5c677d; stroke-width: 2; fill: none; }
.head { fill: #5c677d; }
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #1b1f27; stroke: #3a4150; }
  .box { fill: #262c37; stroke: #94a0b4; }
  .kept { fill: #1d3550; stroke: #7fb2ea; }
  .name { fill: #f1f4f9; }
  .words { fill: #c9d1de; }
  .arrow { stroke: #94a0b4; }
  .head { fill: #94a0b4; }
}
"""
OVERVIEW = (
    "A program is measured or traced into a record, from which Lull compares, reports, advises, predicts and simulates"
)
# Rows of boxes: name, words below it, and whether it is what Lull keeps.
ROWS: tuple[tuple[tuple[str, str, bool], ...], ...] = (
    (("your program", "any command; MPI programs unmodified", False),),
    (("lull measure", "time and energy", False), ("lull trace", "every MPI call", False)),
    (("record", "each run with samples, kinds, messages", True),),
    (
        ("lull compare", "is it better?", False),
        ("lull report", "one HTML page", False),
        ("lull advise", "what would pay?", False),
    ),
    (("lull predict", "another machine", False), ("lull simulate", "links that sleep", False)),
)
HEIGHT = 2 * MARGIN + len(ROWS) * BOX_HEIGHT + (len(ROWS) - 1) * GAP


def overview_picture() -> str:
    """Program, measurement and trace, record, and what is made of it."""
    parts = [f'<rect class="ground" x="1" y="1" width="{WIDTH - 2}" height="{HEIGHT - 2}" rx="14"/>']
    for number, row in enumerate(ROWS):
        top = MARGIN + number * (BOX_HEIGHT + GAP)
        if number:
            narrower = min(row, ROWS[number - 1], key=_width)
            parts += _arrows(top, _middles(narrower), from_record=number == len(ROWS) - 1)
        parts += [_box(middle, top, _width(row), *box) for middle, box in zip(_middles(row), row, strict=True)]
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
    defined = f'<defs>{head}<path class="head" d="M0 0 8 4 0 8z"/></marker></defs>'
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{OVERVIEW}">'
    return "\n".join([svg, f"<style>{STYLE}</style>", defined, *parts, "</svg>"]) + "\n"


def _width(row: tuple[tuple[str, str, bool], ...]) -> float:
    return 420 if len(row) == 1 else 186


def _middles(row: tuple[tuple[str, str, bool], ...]) -> list[float]:
    """The places of the boxes; two are in the columns between those of three."""
    return {1: [WIDTH / 2], 2: [WIDTH / 2 - 104, WIDTH / 2 + 104], 3: [WIDTH / 2 - 207, WIDTH / 2, WIDTH / 2 + 207]}[
        len(row)
    ]


def _arrows(top: float, middles: list[float], *, from_record: bool) -> list[str]:
    """An arrow down to each box; to those of the last row they pass between the boxes of the row above it."""
    start = top - GAP - (BOX_HEIGHT + GAP if from_record else 0)
    return [f'<path class="arrow" marker-end="url(#head)" d="M{x:g} {start:g}V{top - 2:g}"/>' for x in middles]


def _box(middle: float, top: float, width: float, name: str, words: str, kept: bool) -> str:
    kind = "kept" if kept else "box"
    return (
        f'<rect class="{kind}" x="{middle - width / 2:g}" y="{top:g}" width="{width:g}" height="{BOX_HEIGHT}" rx="8"/>'
        f'<text class="name" x="{middle:g}" y="{top + 28:g}">{escape(name)}</text>'
        f'<text class="words" x="{middle:g}" y="{top + 52:g}">{escape(words)}</text>'
    )


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for name, made in (("first-result.svg", terminal_picture()), ("overview.svg", overview_picture())):
        (IMAGES / name).write_text(made, encoding="utf-8")
        print(f"docs/images/{name}")
