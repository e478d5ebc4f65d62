"""One line of text in colours, as a sequence of bytes that a terminal understands."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from lull.present.document import Tone
from lull.present.kinds import colour_of
from lull.present.terminal import STYLES

Span = tuple[str, Tone]  # text, which has the colour of its kind if it is the name of one


def coloured(spans: Sequence[Span], columns: int) -> str:
    """The text with its colours, cut to `columns`."""
    text = Text.assemble(*((words, STYLES[tone] or colour_of(words.strip())) for words, tone in spans))
    text.truncate(columns, overflow="ellipsis")
    out = io.StringIO()
    Console(file=out, force_terminal=True, color_system="standard", width=columns + 1).print(text, end="")
    return out.getvalue()
