"""What a simulation's file may say: quantities, defaults, presets, and every mistake in one line that names the key."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lull.base.errors import UsageError
from lull.simulation.description import Description, read_description
from lull.simulation.power_presets import POWER_PRESETS
from lull.simulation.settings_by_key import changed, value_of
from lull.simulation.units import RATE, SHARE, SIZE, TIME

NET = """
[topology]
name = "fat-tree"
radix = 4
"""
JOB = "[[jobs]]\n"


def read(text: str, *assignments: str) -> Description:
    return read_description(changed(tomllib.loads(text), assignments), "read net.toml")


def test_plain_numbers_are_si_and_units_are_exact():
    assert TIME.parse("1.1 us") == TIME.parse(1.1e-6) == 1_100_000
    assert TIME.parse("340ns") == TIME.parse("0.34 µs") == 340_000
    assert SIZE.parse("4 KiB") == SIZE.parse(4096) == 4096
    assert RATE.parse("100 Gbit/s") == RATE.parse(12.5e9) == RATE.parse("12.5 GB/s") == 12_500_000_000
    assert float(SHARE.parse("1 %")) == 0.01


@given(st.integers(min_value=0, max_value=10**18))
def test_a_shown_time_reads_as_the_same(picoseconds):
    assert TIME.parse(TIME.show(picoseconds)) == picoseconds


@given(st.floats(min_value=1, max_value=1e15))
def test_a_shown_rate_reads_as_the_same(rate):
    shown = RATE.show(rate)
    assert float(RATE.parse(shown if "/" in shown else float(shown))) == rate


def test_what_is_left_out_has_its_default_and_the_whole_reads_as_the_same():
    described = read(NET + JOB)
    assert described.network.bandwidth == described.network.nic_bandwidth == 12.5e9
    assert described.network.packet == 4096
    content = described.content()
    assert content["network"]["virtual_channels"] == "auto"
    assert "hold" not in content["power"], "what does not apply is not there"
    assert read_description(content, "again") == described.model_copy(update={"topology": _unnamed(described)})


def _unnamed(described: Description):
    return read_description(described.content(), "x").topology


def test_a_preset_of_links_gives_the_defaults_and_a_key_overrides_it():
    power = read(NET + JOB, "power.mode=deep-sleep", "power.preset=25GBASE-R", "power.deep_share=0.2").power
    assert (power.wake_deep, power.sleep_time, power.deep_share) == (14_250_000, 1_100_000, 0.2)


def test_a_hold_may_be_told_in_sleep_times():
    power = read(NET + JOB, "power.mode=hybrid", "power.hold=2 Ts").power
    assert (power.hold, power.hybrid_hold) == (2_200_000, 2_200_000)
    assert read(NET + JOB, "power.mode=hybrid", "power.hold=2 Ts", "power.sleep_time=1 us").power.hold == 2_000_000


def test_a_preset_of_networks_may_be_overridden():
    described = read('[topology]\npreset = "fat-tree-4608"\npods = 2\n' + JOB)
    assert described.topology.name == "fat-tree"
    assert described.topology.parameters["pods"] == [2]
    assert described.topology.parameters["radix"] == [48]


@pytest.mark.parametrize("name", POWER_PRESETS)
def test_every_preset_of_links_is_valid_in_each_of_its_modes(name):
    preset = POWER_PRESETS[name]
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
    (JOB, "topology is missing; name a preset or a topology"),
    (NET, "jobs is missing; describe at least one job"),
    ("jobs = 3\n" + NET, "jobs is not a list of tables; head each job with [[jobs]]"),
    ("sed = 1\n" + NET + JOB, "sed is not a key here; did you mean seed?"),
    ("seed = -1\n" + NET + JOB, "seed is -1; it must be a whole number, 0 to"),
    ("seed = true\n" + NET + JOB, "seed is true; it must be a whole number"),
    ("end = 0\n" + NET + JOB, "end is 0; it must be more than 0"),
    ('end = "1 us"\nwarmup = "1 us"\n' + NET + JOB, "warmup is not before end"),
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
    (NET + '[power]\nmode = "adaptive-rate"\npreset = "25GBASE-R"\n' + JOB, "does not know the mode adaptive-rate"),
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
    (NET + JOB + 'mapping = "snake"\n', "jobs.0.mapping is 'snake'; it must be linear, random or a list"),
    (NET + JOB + "mapping = [1, 1]\n", "jobs.0.mapping names a node twice"),
    (NET + JOB + "mapping = [1, 2]\nprocesses = 3\n", "jobs.0.processes is 3 and mapping names 2 nodes"),
    (NET + JOB + "messages = 0\n", "jobs.0.messages is 0, and there is no end"),
    (NET + JOB + 'name = "a"\n' + JOB + 'name = "a"\n', "jobs.1.name is 'a'; give each job a name of its own"),
    ('[topology]\nname = "fattree"\n' + JOB, "topology.name is 'fattree'; did you mean fat-tree?"),
    ('[topology]\npreset = "fat-tree-460"\n' + JOB, "topology.preset is 'fat-tree-460'; did you mean fat-tree-4608?"),
    ('[topology]\nname = "fat-tree"\npreset = "x"\n' + JOB, "topology.preset stands beside topology.name"),
    ('[topology]\nname = "fat-tree"\nradix = "48"\n' + JOB, "topology.radix is '48'; it must be a whole number"),
    (
        '[topology]\nname = "fat-tree"\nrdix = 48\n' + JOB,
        "topology.rdix is no parameter of fat-tree; did you mean radix?",
    ),
]


@pytest.mark.parametrize(("text", "words"), MISTAKES, ids=[words[:40] for _, words in MISTAKES])
def test_a_mistake_is_one_line_that_names_the_key_and_what_is_allowed(text, words):
    with pytest.raises(UsageError) as caught:
        read(text)
    line = str(caught.value)
    assert line.startswith("read net.toml: ")
    assert words in line
    assert "\n" not in line
    assert caught.value.exit_code == 2
