"""Plots as SVG text for inlining, or as PDF: one style, reproducible bytes, identifiers that never collide.

Text and axes are drawn in `currentColor`, so that a plot adapts to the dark mode of its page and is black when
standalone. This module does not change matplotlib's global settings.
"""

from __future__ import annotations

import html
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lull.statistics import formatting

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

INK = "#010203"  # stands for currentColor while matplotlib draws
SAVES = "#009e73"  # of the palette of Okabe and Ito, which is safe for colour-blind readers
WASTES = "#d55e00"
NEITHER = "#767676"
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
WIDTH_IN = 6.6
MOST_LINEAR = 20  # largest ratio of two figures on a linear axis
FONTS = "system-ui, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"

_STYLE: Any = {  # matplotlib types its settings one literal at a time
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # TrueType: text remains text; publishers reject type 3 fonts
    "font.family": "DejaVu Sans",  # comes with matplotlib: the layout is the same on every machine
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.7,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Apply the style of Lull's plots while one is drawn and written."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


@dataclass(frozen=True)
class Plot:
    """A drawn figure, its description in words, and the tips of its marks.

    A figure is laid out once, and each SVG text is made once: pages and files show the same plots.
    """

    figure: Figure
    description: str
    tips: list[str] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def svg(self, ident: str) -> str:
        """The plot as SVG text; see `text_of`. Marks with a tip can be reached with the keyboard."""
        if ident not in self._texts:
            self._texts[ident] = self._svg(ident)
        return self._texts[ident]

    def _svg(self, ident: str) -> str:
        with drawing():
            text = text_of(self.figure, ident, self.description)
            self.figure.set_layout_engine("none")  # keeps the layout
        for place, words in enumerate(self.tips):
            tip = html.escape(words, quote=True)
            opened = f'<g id="{ident}-tip-{place}" class="tip" tabindex="0" role="img" aria-label="{tip}">'
            text = text.replace(f'<g id="{ident}-tip-{place}">', f"{opened}<title>{tip}</title>", 1)
        return text.replace('role="img"', 'role="group"', 1) if self.tips else text

    def pdf(self) -> bytes:
        """The plot as a PDF of one page; black replaces the text colour of the page."""
        out = io.BytesIO()
        with drawing():
            self.figure.savefig(out, format="pdf", metadata={"CreationDate": None, "Title": self.description[:200]})
        return out.getvalue()


class Tips:
    """The tips of marks, collected while these are drawn."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def add(self, mark: Artist, words: str) -> None:
        """Show `words` when the user points at `mark`."""
        mark.set_gid(f"tip-{len(self.words)}")
        self.words.append(words)


def panels(count: int, height_in: float) -> tuple[Figure, list[Axes]]:
    """A figure of full width with `count` panels side by side, without pyplot and its global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    axes = figure.subplots(1, count, squeeze=False)
    return figure, list(axes[0])


def legend_below(figure: Figure, axes: Axes) -> None:
    """Draw the legend of one panel below all panels, in as many rows as it needs."""
    handles, labels = axes.get_legend_handles_labels()
    letter_in, handle_in = 0.085, 0.55  # approximate, at the font size of legends
    longest = max((len(label) for label in labels), default=0) * letter_in + handle_in
    columns = max(1, min(len(labels), int(figure.get_figwidth() / longest)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)


def wants_logarithm(values: Iterable[float]) -> bool:
    """Whether a linear axis would hide some of the values, and a logarithmic one can show all."""
    found = list(values)
    return min(found, default=0) > 0 and max(found) > MOST_LINEAR * min(found)


def prefixed_ticks(axis: Axis, unit: str, *, logarithmic: bool) -> None:
    """Set exact tick labels: in the prefixed unit of the upper end, or powers of ten, each with its own prefix."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    def prefixed(value: float) -> str:
        factor, name = formatting.scale(value, unit)
        return f"{value / factor:.9g} {name}"

    if logarithmic:
        axis.set_major_locator(LogLocator(10, numticks=6))
        axis.set_major_formatter(FuncFormatter(lambda value, _: prefixed(value)))
        axis.set_minor_formatter(NullFormatter())
        return
    factor, name = formatting.scale(axis.get_view_interval()[1], unit)
    axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:.9g} {name}"))


def text_of(figure: Figure, ident: str, description: str) -> str:
    """The figure as SVG, without prologue, metadata and date.

    Args:
        figure: A figure drawn inside `drawing()`, in which this must be called, too.
        ident: Prefix of every id in it; unique in the page.
        description: Description of the plot for readers who cannot see it.
    """
    import matplotlib as mpl

    out = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": ident}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{ident}-', text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{ident}-", text)
    text = re.sub(r"'DejaVu Sans'[^;\"]*", FONTS, text)
    text = text.replace(INK, "currentColor")
    label = html.escape(description, quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).strip() + "\n"
