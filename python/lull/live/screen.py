"""The screen of `lull top`: rows of power, updated every second; keys to sort, pause and quit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import DataTable, Footer, Static

from lull.base.errors import LullError
from lull.live.feed import Feed
from lull.live.node_reading import NodeReading
from lull.live.rows import HEADINGS, History, PowerRow, Sort, ordered, rows, what_is_measured
from lull.present.kinds import COLOURS

NUMBERS = ("power", "energy", "bytes/s")


class PowerScreen(App[None]):
    """Shows a feed until the user quits. The caller closes the feed."""

    TITLE = "lull top"
    CSS = "#state { height: 1; padding: 0 1; } #power { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "quit", "quit"),
        Binding("s", "sort", "sort"),
        Binding("p,space", "pause", "pause"),
    ]

    def __init__(self, feed: Feed, every_s: float) -> None:
        super().__init__()
        self._feed, self._every_s = feed, every_s
        self._history = History()
        self._found: list[PowerRow] = []
        self._readings: Sequence[NodeReading] = ()
        self.sort = Sort.PLACE
        self.is_paused = False
        self.problem = ""

    def compose(self) -> ComposeResult:
        """Compose the line of state, the table and the keys."""
        yield Static(id="state")
        yield DataTable(id="power", cursor_type="row", zebra_stripes=True)
        yield Footer()

    def on_mount(self) -> None:
        """Start to read the feed."""
        table = self.query_one(DataTable)
        for heading in HEADINGS:
            table.add_column(Text(heading, justify="right" if heading in NUMBERS else "left"), key=heading)
        self.refresh_rows()
        self.set_interval(self._every_s, self.refresh_rows)

    def refresh_rows(self) -> None:
        """Read the feed and show it, unless paused."""
        if self.is_paused:
            return
        try:
            self._readings = self._feed.read()
            self.problem = ""
        except LullError as error:
            self.problem = str(error)
        else:
            self._found = list(rows(self._readings))
            self._history.add(self._found)
        self._draw()

    def action_sort(self) -> None:
        """Change to the next order of rows."""
        self.sort = self.sort.following
        self._draw()

    def action_pause(self) -> None:
        """Pause or resume updates."""
        self.is_paused = not self.is_paused
        self._draw()

    def _draw(self) -> None:
        table = self.query_one(DataTable)
        at = table.cursor_coordinate
        table.clear()
        for row in ordered(self._found, self.sort):
            cells = zip(HEADINGS, row.cells(self._history.of(row)), strict=True)
            table.add_row(*(self._cell(row, heading, text) for heading, text in cells), key=row.key)
        if table.row_count:
            table.move_cursor(row=min(at.row, table.row_count - 1), animate=False)
        self.query_one("#state", Static).update(self.state)

    def _cell(self, row: PowerRow, heading: str, text: str) -> Text:
        style = "bold" if row.is_total else ""
        if heading == "kind":
            style = f"{style} {COLOURS[row.kind]}"
        return Text(text, style.strip(), justify="right" if heading in NUMBERS else "left")

    @property
    def state(self) -> Text:
        """One line: the measurement, the order of rows, and errors."""
        parts = [Text(self.problem, "red")] if self.problem else []
        if self.is_paused:
            parts.append(Text("paused", "reverse"))
        if not self._found and not self.problem:
            parts.append(Text("no readings yet", "yellow"))
        measured = what_is_measured(self._readings)
        nodes = len({row.node for row in self._found})
        words = [measured, f"{nodes} nodes" if nodes > 1 else "", f"by {self.sort.value}"]
        parts += [Text(text) for text in words if text]
        return Text("  ·  ").join(parts)
