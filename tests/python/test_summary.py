"""The table after a measurement: energies are summed over nodes, one column for each domain."""

from __future__ import annotations

from rich.console import Console

from lull.measurement.summary import summary_table
from records import repeat


def shown(*repeats) -> str:
    console = Console(width=160)
    with console.capture() as capture:
        console.print(summary_table(repeats))
    return capture.get()


def test_nodes_are_one_column_that_says_how_many() -> None:
    text = shown(repeat(0, 10, 1000, nodes=("a", "b"), wire_bytes=10**9), repeat(1, 10, 1200, nodes=("a", "b")))
    assert "node J on 2 nodes" in text
    assert text.count("vendor-model") == 1
    assert "1000" in text
    assert "1100" in text  # the median of the sums


def test_one_node_is_not_counted_in_words() -> None:
    text = shown(repeat(0, 10, 1000))
    assert "node J" in text
    assert "nodes" not in text
