"""`lull topology`: list the networks that can be simulated, show the metrics of one, and draw it."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull import _core
from lull.base.completing import one_of
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.base.terminal import output


def _names() -> list[str]:
    return [one.name for one in _core.topologies()] + [one.name for one in _core.topology_presets()]


@click.command(short_help="List network topologies with their parameters and metrics, and draw them.")
@click.argument("name", required=False, shell_complete=one_of(_names))
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="Set a parameter, e.g. radix=8.")
@click.option("--draw", metavar="FILE.svg", type=click.Path(path_type=Path), help="Draw the network into this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def topology(name: str | None, assignments: tuple[str, ...], draw: Path | None, as_json: bool) -> None:
    """List the topologies and presets, or show the parameters and metrics of the topology NAME."""
    if name is None:
        if assignments or draw:
            raise UsageError("list the topologies", f"{'--draw' if draw else '--set'} needs a NAME", "name one of them")
        _list(as_json)
        return
    _one(name, assignments, draw, as_json)


def _list(as_json: bool) -> None:
    topologies, presets = _core.topologies(), _core.topology_presets()
    if as_json:
        content = {
            "topologies": [{"name": t.name, "meaning": t.meaning, "parameters": _parameters(t)} for t in topologies],
            "presets": [
                {"name": p.name, "topology": p.topology, "meaning": p.meaning, "parameters": p.parameters}
                for p in presets
            ],
        }
        click.echo(json.dumps(content, indent=1))
        return
    console = output()
    shown = _table("topology", "meaning")
    for one in topologies:
        shown.add_row(Text(one.name, style="bold"), one.meaning)
    console.print(shown)
    console.print()
    shown = _table("preset", "topology", "meaning")
    for preset in presets:
        shown.add_row(Text(preset.name, style="bold"), preset.topology, preset.meaning)
    console.print(shown)


def _one(name: str, assignments: tuple[str, ...], draw: Path | None, as_json: bool) -> None:
    from lull.simulation.settings_by_key import changed

    named = "preset" if name in {preset.name for preset in _core.topology_presets()} else "name"
    with native_errors():
        choice = _core.read_network_choice(changed({named: name}, assignments), f"show the topology {name}")
        figures = _core.topology_metrics(choice.name, choice.parameters)
    rows = {
        "nodes": figures.nodes,
        "switches": figures.switches,
        "radix": figures.radix,
        "node_cables": figures.node_cables,
        "switch_cables": figures.switch_cables,
        "diameter": figures.diameter,
        "mean_links": figures.mean_links,
        "bisection": figures.bisection,
    }
    if draw is not None:
        from lull.simulation.drawing import draw_network

        draw_network(choice, draw)
    if as_json:
        click.echo(json.dumps({"name": choice.name, "parameters": choice.parameters, **rows}, indent=1))
        return
    described = next(known for known in _core.topologies() if known.name == choice.name)
    _show(output(), choice.name, choice.parameters, figures, described)
    if draw is not None:
        output().print(Text(f"\ndrawing in {draw}"), soft_wrap=True)


def _show(
    console: Console,
    name: str,
    parameters: dict[str, list[int]],
    figures: _core.TopologyMetrics,
    described: _core.Topology,
) -> None:
    console.print(Text(f"{name}: {described.meaning}", style="bold"), soft_wrap=True)
    shown = _table("", "", "")
    shown.show_header = False
    cables = figures.node_cables + figures.switch_cables
    for label, value, meaning in (
        ("nodes", f"{figures.nodes:,}", ""),
        ("switches", f"{figures.switches:,}", f"of at most {figures.radix} ports"),
        ("cables", f"{cables:,}", f"{figures.switch_cables:,} between switches"),
        ("links", f"{2 * cables:,}", "one direction each; power is counted for these"),
        ("diameter", f"{figures.diameter}", "links of the longest shortest path, including those of the nodes"),
        ("mean links", f"{figures.mean_links:.3f}", "of a shortest path between two nodes"),
        ("bisection", f"{figures.bisection:,}", "links in one direction between the halves of the nodes"),
    ):
        shown.add_row(label, value, meaning)
    shown.columns[1].justify = "right"
    console.print(shown)
    console.print()
    table = _table("parameter", "value", "default", "allowed", "meaning")
    for parameter in described.parameters:
        values = (_words(parameters[parameter.name]), _words(parameter.default))
        table.add_row(Text(parameter.name, style="bold"), *values, parameter.allowed, parameter.meaning)
    console.print(table)


def _parameters(of: _core.Topology) -> list[dict[str, object]]:
    return [
        {"name": p.name, "meaning": p.meaning, "default": p.default, "allowed": p.allowed, "list": p.list}
        for p in of.parameters
    ]


def _words(values: list[int]) -> str:
    return ", ".join(str(value) for value in values)


def _table(*headings: str) -> Table:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading)
    return table
