"""`lull topology`: the list, a network in numbers, its drawing."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from conftest import Lull
from lull import _core
from lull.simulation.topology.contraction import graph_of
from lull.simulation.topology.drawing import MOST_DOTS, draw_network


def test_without_a_name_it_lists_topologies_and_presets(lull: Lull):
    done = lull.run("topology")
    for words in ("fat-tree", "three levels", "fat-tree-4608"):
        assert words in done.stdout
    listed = json.loads(lull.run("topology", "--format", "json").stdout)
    assert [one["name"] for one in listed["topologies"]] == [one.name for one in _core.topologies()]
    assert {"name", "meaning", "default", "allowed", "list"} == set(listed["topologies"][0]["parameters"][0])


def test_a_name_or_preset_is_shown_in_numbers(lull: Lull):
    shown = lull.run("topology", "fat-tree-4608").stdout
    for words in ("4,608", "480", "diameter", "bisection", "edge_uplinks", "2 to 1024"):
        assert words in shown
    found = json.loads(lull.run("topology", "fat-tree", "--set", "radix=4", "--format", "json").stdout)
    assert (found["nodes"], found["switches"], found["node_cables"], found["switch_cables"]) == (16, 20, 16, 32)
    assert found["diameter"] == 6
    assert found["bisection"] == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fattree"], "did you mean fat-tree?"),
        (["fat-tree", "--set", "rdx=4"], "topology.rdx is not a parameter of fat-tree; did you mean radix?"),
        (["fat-tree", "--set", "radix=1"], "topology.radix is 1; it must be a whole number, 2 to 1024"),
        (["dragonfly", "--draw", "x.svg"], "it has 6,936 switches in 289 groups; draw one of at most 200 groups"),
        (["--draw", "x.svg"], "--draw needs a NAME"),
        (["--set", "radix=4"], "--set needs a NAME"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2(lull: Lull, arguments, words):
    failed = lull.run("topology", *arguments)
    assert failed.returncode == 2
    assert words in failed.stderr
    assert len(failed.stderr.splitlines()) == 1
    assert list(lull.folder.iterdir()) == []


@pytest.mark.parametrize("name", [topology.name for topology in _core.topologies()])
def test_every_topology_can_be_drawn_and_says_what_it_is(lull: Lull, name: str):
    [topology] = [one for one in _core.topologies() if one.name == name]
    settings = [
        word
        for key, value in topology.small.items()
        for word in ("--set", f"{key}={value if len(value) > 1 else value[0]}")
    ]
    done = lull.run("topology", name, *settings, "--draw", "deep/net.svg")
    assert done.returncode == 0, done.stderr
    text = (lull.folder / "deep" / "net.svg").read_text()
    assert re.search(r'aria-label="[\w-]+: \d+ nodes?, \d+ switches', text)
    assert text.rstrip().endswith("</svg>")


@pytest.mark.parametrize(
    ("network", "words", "dots"),
    [
        ({"preset": "fat-tree-4608"}, "480 switches, 9,216 cables between them; a dot is 24 to 96 switches", 17),
        ({"preset": "dragonfly-rows-4608"}, "a dot is 96 switches", 6),
        ({"preset": "hyperx-4608"}, "a dot is 8 switches", 48),
        ({"name": "torus", "dimensions": [16, 16, 8]}, "a dot is 16 switches", 128),
        ({"name": "leaf-spine", "leaves": 300, "spines": 8}, "a dot is 8 to 300 switches", 2),
    ],
)
def test_a_large_network_is_drawn_by_groups(tmp_path: Path, network: dict[str, object], words: str, dots: int) -> None:
    choice = _core.read_network_choice(network, "draw")
    draw_network(choice, tmp_path / "net.svg")
    assert words in (tmp_path / "net.svg").read_text()
    cables = _core.topology_links(choice.name, choice.parameters)
    ends = zip(cables.from_switch.tolist(), cables.to_switch.tolist(), strict=True)
    joined = Counter((min(pair), max(pair)) for pair in ends)
    switches = 1 + max(map(max, joined))
    graph = graph_of(choice, switches, Counter(cables.attach_switch.tolist()), joined, MOST_DOTS)
    assert (len(graph.switches), sum(graph.switches)) == (dots, switches)
    assert sum(graph.nodes_at.values()) == len(cables.attach_switch)
    assert 0 < sum(graph.joined.values()) <= sum(joined.values())
