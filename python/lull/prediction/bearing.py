"""What a predicted program bears: the questions to its simulation, and the simulations that check the answers.

The simulation with links always active also computes the program's tolerance (simulation/tolerance.py). From it follow
further modes of links, each with the shortest hold with which the program stays within the accepted slowdown, which are
simulated like all others; next to each, the mode in which every link learns its hold for the same bound. Two more
simulations have the longer cables and the lower bandwidth that the program should just bear.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lull import _core
from lull.prediction.account import Check
from lull.prediction.modes import HOLDS, Mode
from lull.simulation.description import read_description
from lull.simulation.latency import PICOSECONDS
from lull.simulation.tolerance import CABLE, Sleep, Tolerance
from lull.statistics import formatting

CABLES: Final = "cables that take longer"
BANDWIDTH: Final = "bandwidth of nodes"
LARGEST_BUFFER: Final = (1 << 30) - 1  # bytes


def with_questions(
    content: Mapping[str, Any], modes: Sequence[Mode], technology: Mapping[str, Any], most_slowdown: float
) -> dict[str, Any]:
    """The description of active links, which also asks for the tolerance and for what each mode would save."""
    known = {key.name for table in _core.simulation_tables() if table.name == "savings" for key in table.keys}
    common = {key: value for key, value in technology.items() if key in known}
    asleep = [{**common, **mode.keys} for mode in modes if mode.keys["mode"] in HOLDS]
    return {**content, "tolerance": most_slowdown, **({"savings": asleep} if asleep else {})}


def further_modes(found: Tolerance) -> list[Mode]:
    """Modes with the shortest hold that the program bears, and those whose links learn their holds."""
    bound = formatting.percent(found.slowdown)
    modes: dict[str, Mode] = {}
    for one in found.sleeps:
        name = str(one.settings["mode"])
        if name == "hybrid":  # its hold and its time in fast wake are chosen together
            continue
        shortest = Mode(_shortest(one), {"mode": name, "hold": f"{one.shortest_hold_s * 1e6} us"})
        learnt = Mode(f"{name}, learnt hold for {bound}", {"mode": name, "hold": "1 Ts", "bound": found.slowdown})
        modes |= {mode.name: mode for mode in (shortest, learnt)}
    return list(modes.values())


def by_path(found: Tolerance, modes: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Slowdown and saving of links in use by the critical path, of the modes among `modes` for which they are known.

    `modes` begins with active links; those of [[savings]] follow in their order.
    """
    asleep = [name for name in modes if name.split(",")[0] in HOLDS]
    known = {name: (one.slowdown, one.saved) for name, one in zip(asleep, found.sleeps, strict=False)}
    shortest = {_shortest(one): (one.shortest_slowdown, one.shortest_saved) for one in found.sleeps}
    return known | {name: shortest[name] for name in modes if name in shortest}


def _shortest(of: Sleep) -> str:
    return f"{of.settings['mode']}, shortest hold {formatting.si(of.shortest_hold_s, 's')}"


def checked(content: Mapping[str, Any], found: Tolerance) -> dict[str, dict[str, Any]]:
    """Descriptions with the longer cables and the lower bandwidth that the program should just bear, by their names.

    Buffers grow with the cables: without credits for the whole way, longer cables would also take bandwidth.
    """
    network = read_description(content, "predict")
    keys = {}
    longer_s = found.of(CABLE).most_s
    if longer_s is not None:
        on_the_way = 2 * longer_s * max(network.bandwidth, network.nic_bandwidth)
        keys[CABLES] = {
            "cable_delay": f"{network.cable_delay_ps + round(longer_s * PICOSECONDS)} ps",
            "input_buffer": f"{min(network.input_buffer + math.ceil(on_the_way), LARGEST_BUFFER)} B",
        }
    if found.bandwidth is not None:
        keys[BANDWIDTH] = {"nic_bandwidth": f"{network.nic_bandwidth * found.bandwidth:.0f} B/s"}
    return {name: {**content, "network": {**content.get("network", {}), **own}} for name, own in keys.items()}


def simulated(found: Tolerance, run_times_s: Mapping[str, float]) -> list[Check]:
    """What the simulations with them say; `run_times_s` by their names."""
    amounts = {
        CABLES: formatting.si(found.of(CABLE).most_s or 0.0, "s"),
        BANDWIDTH: formatting.percent(found.bandwidth or 0.0),
    }
    return [
        Check(what=f"{name}: {amounts[name]}", slowdown=run_time_s / found.run_time_s - 1)
        for name, run_time_s in run_times_s.items()
    ]
