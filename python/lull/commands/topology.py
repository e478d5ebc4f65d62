"""`lull topology`: list the networks that can be simulated, show the metrics of one, and draw it."""

from __future__ import annotations

from pathlib import Path

import click

from lull import _core
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.present import cells
from lull.present.document import Cell, Column, Document, row, table
from lull.present.forms import format_option, show_result
from lull.present.messages import say
from lull.schemas.networks import METRICS, NetworkFigures, Topologies
from lull.schemas.text import json_text


def _names() -> list[str]:
    return [one.name for one in _core.topologies()] + [one.name for one in _core.topology_presets()]


@click.command(short_help="List network topologies with their parameters and metrics, and draw them.")
@click.argument("name", required=False, shell_complete=one_of(_names))
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Set a parameter, e.g. radix=8.")
@click.option("--draw", metavar="FILE.svg", type=click.Path(path_type=Path), help="Draw the network into this file.")
@format_option
def topology(name: str | None, assignments: tuple[str, ...], draw: Path | None, form: str) -> None:
    """List the topologies and presets, or show the parameters and metrics of the topology NAME."""
    if name is None:
        if assignments or draw:
            raise UsageError("list the topologies", f"{'--draw' if draw else '--set'} needs a NAME", "name one of them")
        _list(form)
        return
    _one(name, assignments, draw, form)


def _list(form: str) -> None:
    topologies, presets = _core.topologies(), _core.topology_presets()
    meaning = Column("meaning", words=True, wraps=True)
    of_topologies = table(
        ["topology", meaning], [row(Cell(one.name, tone="strong"), one.meaning) for one in topologies]
    )
    of_presets = table(
        ["preset", Column("topology", words=True), meaning],
        [row(Cell(one.name, tone="strong"), one.topology, one.meaning) for one in presets],
    )
    show_result(
        form,
        lambda: Document("", (of_topologies, of_presets), "Topologies"),
        lambda: json_text(Topologies, {"topologies": topologies, "presets": presets}),
    )


def _one(name: str, assignments: tuple[str, ...], draw: Path | None, form: str) -> None:
    from lull.simulation.settings_by_key import changed

    named = "preset" if name in {preset.name for preset in _core.topology_presets()} else "name"
    with native_errors():
        choice = _core.read_network_choice(changed({named: name}, assignments), f"show the topology {name}")
        figures = _core.topology_metrics(choice.name, choice.parameters)
    if draw is not None:
        from lull.simulation.topology.drawing import draw_network

        draw_network(choice, draw)
    described = next(known for known in _core.topologies() if known.name == choice.name)
    show_result(
        form,
        lambda: describe(choice.parameters, figures, described),
        lambda: json_text(NetworkFigures, _as_data(choice.name, choice.parameters, figures)),
    )
    if draw is not None:
        say(f"drawing in {draw}")


def _as_data(name: str, parameters: dict[str, list[int]], figures: _core.TopologyMetrics) -> dict[str, object]:
    return {"name": name, "parameters": parameters, **{metric: getattr(figures, metric) for metric in METRICS}}


def describe(parameters: dict[str, list[int]], figures: _core.TopologyMetrics, described: _core.Topology) -> Document:
    """The metrics of a network, and its parameters."""
    cables = figures.node_cables + figures.switch_cables
    metrics = [
        row("nodes", cells.count(figures.nodes), ""),
        row("switches", cells.count(figures.switches), f"of at most {figures.radix} ports"),
        row("cables", cells.count(cables), f"{figures.switch_cables:,} between switches"),
        row("links", cells.count(2 * cables), "one direction each; power is counted for these"),
        row(
            "diameter",
            cells.count(figures.diameter),
            "links of the longest shortest path, including those of the nodes",
        ),
        row("mean links", cells.decimal(figures.mean_links, 3), "of a shortest path between two nodes"),
        row("bisection", cells.count(figures.bisection), "links in one direction between the halves of the nodes"),
    ]
    keys = [
        row(Cell(one.name, tone="strong"), _words(parameters[one.name]), _words(one.default), one.allowed, one.meaning)
        for one in described.parameters
    ]
    words = [Column(name, words=True) for name in ("parameter", "value", "default", "allowed")]
    return Document(
        f"{described.name}: {described.meaning}",
        (
            table(["metric", "value", Column("meaning", words=True, wraps=True)], metrics, headings=False),
            table([*words, Column("meaning", words=True, wraps=True)], keys),
        ),
    )


def _words(values: list[int]) -> str:
    return ", ".join(str(value) for value in values)
