"""What a simulation's file may say: quantities, defaults, presets, and every mistake in one line that names the key."""

from __future__ import annotations

import tomllib

import pytest

from lull import _core
from lull.base.errors import UsageError
from lull.simulation.description import Description, read_description
from lull.simulation.mapping import place
from lull.simulation.settings_by_key import changed, value_of

NET = """
[topology]
name = "fat-tree"
radix = 4
"""
JOB = "[[jobs]]\n"


def read(text: str, *assignments: str) -> Description:
    return read_description(changed(tomllib.loads(text), assignments), "read net.toml")


def test_what_is_left_out_has_its_default_and_the_whole_reads_as_the_same():
    content = read(NET + JOB).content
    assert content["network"]["bandwidth"] == content["network"]["nic_bandwidth"] == "100 Gbit/s"
    assert content["network"]["packet"] == "4 KiB"
    assert content["network"]["virtual_channels"] == "auto"
    assert "hold" not in content["power"], "what does not apply is not there"
    assert read_description(content, "again").content == content


def test_the_rate_of_nodes_links_follows_that_of_the_others():
    assert read(NET + JOB, "network.bandwidth=40 Gbit/s").content["network"]["nic_bandwidth"] == "5 GB/s"
    kept = read(NET + JOB, "network.bandwidth=40 Gbit/s", "network.nic_bandwidth=1 GB/s").content["network"]
    assert kept["nic_bandwidth"] == "8 Gbit/s"


def test_a_preset_of_links_gives_the_defaults_and_a_key_overrides_it():
    power = read(NET + JOB, "power.mode=deep-sleep", "power.preset=25GBASE-R", "power.deep_share=0.2").content["power"]
    assert (power["wake_deep"], power["sleep_time"], power["deep_share"]) == ("14.25 us", "1.1 us", 0.2)


def test_a_hold_may_be_told_in_sleep_times():
    power = read(NET + JOB, "power.mode=hybrid", "power.hold=2 Ts").content["power"]
    assert (power["hold"], power["hybrid_hold"]) == ("2.2 us", "2.2 us")
    assert read(NET + JOB, "power.mode=hybrid", "power.hold=2 Ts", "power.sleep_time=1 us").hold_ps == 2_000_000


def test_a_preset_of_networks_may_be_overridden():
    network = read('[topology]\npreset = "fat-tree-4608"\npods = 2\n' + JOB).network
    assert (network.name, network.preset) == ("fat-tree", "fat-tree-4608")
    assert network.parameters["pods"] == [2]
    assert network.parameters["radix"] == [48]


@pytest.mark.parametrize("name", [preset.name for preset in _core.power_presets()])
def test_every_preset_of_links_is_valid_in_each_of_its_modes(name: str):
    [preset] = [one for one in _core.power_presets() if one.name == name]
    for mode in preset.modes:
        given_too = [f"power.{key}=0.5" for key in preset.must_be_given]
        read(NET + JOB, f"power.mode={mode}", f"power.preset={name}", *given_too)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hybrid", "hybrid"),
        ("2 Ts", "2 Ts"),
        ("0.3", 0.3),
        ("[1, 2]", [1, 2]),
        ("true", True),
        ('"x"', "x"),
        ("[1", "[1"),
    ],
)
def test_a_set_value_is_toml_or_else_a_text(text, value):
    assert value_of(text) == value


def test_set_makes_tables_and_reaches_into_lists():
    assert changed({"jobs": [{}]}, ["power.mode=hybrid", "jobs.0.load=0.3"]) == {
        "jobs": [{"load": 0.3}],
        "power": {"mode": "hybrid"},
    }


# What is wrong; what the line must hold: the key, what was found, what is allowed.
MISTAKES = [
    (JOB, "topology is missing; set a preset or a topology"),
    (NET, "jobs is missing; describe at least one job"),
    ("jobs = 3\n" + NET, "jobs is not a list of tables; begin each job with [[jobs]]"),
    ("sed = 1\n" + NET + JOB, "sed is not a key here; did you mean seed?"),
    ("seed = -1\n" + NET + JOB, "seed is -1; it must be a whole number, 0 to"),
    ("seed = true\n" + NET + JOB, "seed is true; it must be a whole number"),
    ("end = 0\n" + NET + JOB, "end is 0; it must be more than 0"),
    ('end = "1 us"\nwarmup = "1 us"\n' + NET + JOB, "warmup is not before end"),
    ("together = true\n" + NET + JOB, "together is true, but no job is a program"),
    ("together = 1\n" + NET + JOB, "together is 1; it must be true or false"),
    ("network = 3\n" + NET + JOB, "network is 3; it must be a table"),
    (NET + "[network]\nbandwith = 3\n" + JOB, "network.bandwith is not a key here; did you mean bandwidth?"),
    (
        NET + '[network]\nbandwidth = "fast"\n' + JOB,
        "network.bandwidth is 'fast'; it must be a rate such as \"100 Gbit/s\"",
    ),
    (NET + "[network]\nbandwidth = 0\n" + JOB, "network.bandwidth is 0; it must be more than 0"),
    (NET + '[network]\npacket = "4 KiB/s"\n' + JOB, "network.packet is '4 KiB/s'; it must be a size"),
    (NET + "[network]\npacket = 0\n" + JOB, "network.packet is 0; it must be 1 B or more"),
    (NET + '[network]\ncable_delay = "3 parsec"\n' + JOB, "in s, ms, us, ns, ps"),
    (NET + '[network]\nvirtual_channels = "many"\n' + JOB, 'must be "auto" or a whole number, 1 to 16'),
    (NET + '[network]\nswitching = "cut"\n' + JOB, "it must be cut-through or store-and-forward"),
    (NET + '[routing]\nalgorithm = "adaptiv"\n' + JOB, "did you mean adaptive?"),
    (NET + '[routing]\nalgorithm = "minimal"\nbias = 0\n' + JOB, "routing.bias does not apply with algorithm minimal"),
    (NET + "[routing]\nreluctance = 2\n" + JOB, "routing.reluctance does not apply with algorithm adaptive"),
    (NET + '[power]\nmode = "sleep"\n' + JOB, "power.mode is 'sleep'; it must be active, deep-sleep"),
    (NET + "[power]\nhold = 0\n" + JOB, "power.hold does not apply with mode active"),
    (NET + '[power]\nmode = "hybrid"\nhold = "x Ts"\n' + JOB, "power.hold is 'x Ts'; it must be a time such as"),
    (
        NET + '[power]\nmode = "fast-wake"\ndeep_share = 0.1\n' + JOB,
        "power.deep_share does not apply with mode fast-wake",
    ),
    (NET + '[power]\nmode = "hybrid"\nbound = "101 %"\n' + JOB, "power.bound is '101 %'; it must be at most 1"),
    (NET + '[power]\nmode = "hybrid"\nwake_delays = 1\n' + JOB, "power.wake_delays is 1; it must be true or false"),
    (
        NET + '[power]\nmode = "hybrid"\npreset = "10BASE-T"\n' + JOB,
        "power.preset is '10BASE-T'; it must be 100GBASE-R",
    ),
    (NET + '[power]\nmode = "adaptive-rate"\npreset = "25GBASE-R"\n' + JOB, "does not support the mode adaptive-rate"),
    (NET + '[power]\nmode = "adaptive-rate"\npreset = "ethernet-alr"\n' + JOB, "power.slow_share is missing"),
    (NET + "[power]\nlink_watts = 0\n" + JOB, "power.link_watts is 0; it must be more than 0"),
    (NET + JOB + "lod = 3\n", "jobs.0.lod is not a key here; did you mean load?"),
    (NET + JOB + 'load = "x"\n', "jobs.0.load is 'x'; it must be a share"),
    (NET + JOB + "load = 1.5\n", "jobs.0.load is 1.5; it must be at most 1"),
    (NET + JOB + "processes = 1.5\n", "jobs.0.processes is 1.5; it must be a whole number, 2"),
    (NET + JOB + "burst = 1\n", "jobs.0.burst does not apply with arrivals poisson"),
    (NET + JOB + 'arrivals = "closed"\nload = 0.5\n', "jobs.0.load does not apply with arrivals closed"),
    (NET + JOB + "hot_share = 0.5\n", "jobs.0.hot_share does not apply with pattern uniform; leave it out"),
    (NET + JOB + "grid = [2, 2]\n", "jobs.0.grid does not apply with pattern uniform"),
    (NET + JOB + 'pattern = "neighbours-2d"\ngrid = [2, 2, 2]\n', "jobs.0.grid has 3 dimensions; neighbours-2d has 2"),
    (NET + JOB + 'pattern = "collective"\nload = 0.3\n', "jobs.0.load does not apply with pattern collective"),
    (NET + JOB + 'pattern = "collective"\nmessage = 8\n', "jobs.0.message does not apply with pattern collective"),
    (NET + JOB + 'pattern = "collective"\nallreduce = "rings"\n', "did you mean ring?"),
    (NET + JOB + "per_node = 2\n", "jobs.0.per_node does not apply with pattern uniform; leave it out"),
    (NET + JOB + 'mapping = "snake"\n', "jobs.0.mapping is 'snake'; it must be linear, random or a list"),
    (NET + JOB + "mapping = [1, 1]\n", "jobs.0.mapping contains a node twice"),
    (NET + JOB + "mapping = [1, 2]\nprocesses = 3\n", "jobs.0.processes is 3, but mapping lists 2 nodes"),
    (NET + JOB + "messages = 0\n", "jobs.0.messages is 0, but end is not set"),
    (NET + JOB + 'name = "a"\n' + JOB + 'name = "a"\n', "jobs.1.name is 'a'; give each job a different name"),
    ('[topology]\nname = "fattree"\n' + JOB, "topology.name is 'fattree'; did you mean fat-tree?"),
    ('[topology]\npreset = "fat-tree-460"\n' + JOB, "topology.preset is 'fat-tree-460'; did you mean fat-tree-4608?"),
    ('[topology]\nname = "fat-tree"\npreset = "x"\n' + JOB, "topology.preset cannot be combined with topology.name"),
    ('[topology]\nname = "fat-tree"\nradix = "48"\n' + JOB, "topology.radix is '48'; it must be a whole number"),
    ('[topology]\nname = "fat-tree"\nradix = 1\n' + JOB, "topology.radix is 1; it must be a whole number, 2 to 1024"),
    ('[topology]\nname = "torus"\ndimensions = []\n' + JOB, "dimensions is []; it must be a whole number or a list"),
    ("seed = 9223372036854775808\n" + NET + JOB, "seed is '9223372036854775808'; it must be a whole number"),
    (NET + "[network]\nbandwidth = inf\n" + JOB, "network.bandwidth is inf; it must be a rate such as"),
    (NET + "[network]\npacket = 2020-01-01\n" + JOB, "network.packet is '2020-01-01'; it must be a size such as"),
    (NET + "[network]\npacket = [1]\n" + JOB, "network.packet is [1]; it must be a size such as"),
    (NET + '[power]\nmode = "adaptive-rate"\nhold = "2 Ts"\n' + JOB, "power.hold is '2 Ts'; it must be a time such as"),
    (
        NET + JOB + 'pattern = "hot-spot"\narrivals = "closed"\n',
        "jobs.0.arrivals is closed; hot-spot must be open-loop",
    ),
    (NET + JOB + 'pattern = "incast"\ntargets = 16\n', "jobs.0.targets is 16, of 16 processes; use fewer targets"),
    ("[jobs]\n" + NET, "jobs is not a list of tables"),
    (
        '[topology]\nname = "fat-tree"\nrdix = 48\n' + JOB,
        "topology.rdix is not a parameter of fat-tree; did you mean radix?",
    ),
]


def placed(text: str) -> None:
    described = read(text)
    place(described, 16, "read net.toml")


@pytest.mark.parametrize(("text", "words"), MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_a_mistake_is_one_line_that_names_the_key_and_what_is_allowed(text, words):
    with pytest.raises(UsageError) as caught:
        placed(text)
    line = str(caught.value)
    assert line.startswith("read net.toml: ")
    assert words in line
    assert "\n" not in line
    assert caught.value.exit_code == 2
