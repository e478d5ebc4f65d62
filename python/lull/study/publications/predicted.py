"""Figures of the model for statements of publications: functions of a machine and of parameters.

Each raises NoPredictionError if the machine file lacks something. Changes and shares are in per cent; changes below 0
are savings. The costs of messages and output come from src/model (transfer.hpp, output.hpp), networks from the
simulator's topologies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from lull import _core
from lull.base.errors import UsageError
from lull.base.native import native_errors
from lull.model.machine import Figure, Machine, TransferPiece, read_machine
from lull.model.output import Case, Site, case_of, read_site, site_content

Parameter = int | float | str | list[str]
Given = Mapping[str, Parameter]
MOST_PUTS: Final = 65_536  # for one payload, as in the paper's plots
ATOMIC_BYTES: Final = 8
SECONDS: Final = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
CLOSE: Final = 0.1  # a share of the paper's figure


class NoPredictionError(Exception):
    """The machine file lacks something that the model needs, which the text names."""


def known(figure: Figure | None, key: str) -> Figure:
    """The figure `key`; raises NoPredictionError if the file lacks it."""
    if figure is None:
        raise NoPredictionError(f"the file has no {key}")
    return figure


def _word(given: Given, key: str) -> str:
    if key not in given:
        raise UsageError("ask the model", f"given.{key} is missing", "the figure needs it")
    return str(given[key])


def _number(given: Given, key: str) -> float:
    try:
        number = float(_word(given, key))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError("ask the model", f"given.{key} is {given[key]!r}", "give a number above 0")
    return number


# The network's interfaces


def _of_bytes(on: Machine) -> Figure:
    """Time per byte on the network, for large messages."""
    pieces = on.transports["network"].pieces if "network" in on.transports else []
    return known(pieces[-1].ns_per_byte if pieces else None, "transports.network.pieces.ns_per_byte")


def wire_over_node(on: Machine, given: Given) -> float:
    """The highest power of the wire, by the paper's derivation, over the lowest power of a node.

    Interfaces draw their power for (octets sent + received) / bandwidth, which is at most twice the time of the run.
    The node is that of the machine `node`, idle, at the low end of its band.
    """
    nic = known(on.watts.nic, "watts.nic")
    node = _word(given, "node")
    idle = known(read_machine(node).watts.idle_node, f"watts.idle_node of {node}")
    return 2 * nic.value / idle.band[0]


# Waiting


def share_of_core(on: Machine, given: Given) -> float:
    """The share of one core in the cores of a node."""
    return 100 / on.node.cores


def more_frequency(on: Machine, given: Given) -> float:
    """By how much the highest frequency exceeds the lowest."""
    steps = on.frequency.steps_khz
    if len(steps) < 2:
        raise NoPredictionError("the file has no two frequency.steps_khz")
    return 100 * (max(steps) / min(steps) - 1)


def less_power_idle(on: Machine, given: Given) -> float:
    """How much less an idle node draws than a busy one: the bound for every wait policy."""
    idle, busy = known(on.watts.idle_node, "watts.idle_node"), known(on.watts.busy_node, "watts.busy_node")
    return 100 * (idle.value / busy.value - 1)


def least_energy(on: Machine, given: Given) -> float:
    """The change of energy if all cores idle instead of polling, and the run takes `slower` per cent longer."""
    idle, busy = known(on.watts.idle_node, "watts.idle_node"), known(on.watts.busy_node, "watts.busy_node")
    return 100 * ((1 + _number(given, "slower") / 100) * idle.value / busy.value - 1)


# Puts of a payload in fragments; M: copy, P: put, Q: wait for all puts, A: signal


def _terms(piece: TransferPiece) -> tuple[float, list[float]]:
    def value(figure: Figure | None) -> float:
        return figure.value if figure is not None else 0.0

    g = known(piece.ns_per_byte, "transports.network.pieces.ns_per_byte").value
    alone = piece.alone_ns_per_byte
    return float(piece.from_bytes), [
        known(piece.latency_ns, "transports.network.pieces.latency_ns").value,
        value(piece.send_ns),
        value(piece.receive_ns),
        known(piece.gap_ns, "transports.network.pieces.gap_ns").value,
        g,
        g if alone is None else alone.value,
        value(piece.send_ns_per_byte),
        value(piece.receive_ns_per_byte),
    ]


def _stream(on: Machine, size: float, messages: float) -> float:
    network = on.transports.get("network")
    if network is None or not network.pieces:
        raise NoPredictionError("the file has no transports.network.pieces")
    return _core.stream_ns([_terms(piece) for piece in network.pieces], size, messages)


def _copy(on: Machine, size: float) -> float:
    return size * 1e9 / known(on.memory.copy_cold_bytes_per_s, "memory.copy_cold_bytes_per_s").value


def _ppq(on: Machine, payload: float, puts: float) -> float:
    return _stream(on, payload / puts, puts)


def _pqpq(on: Machine, payload: float, puts: float) -> float:
    return puts * _stream(on, payload / puts, 1)


def _packed(on: Machine, payload: float, copies: float) -> float:
    return copies * _copy(on, payload) + _stream(on, payload, 1) + _stream(on, ATOMIC_BYTES, 1)


def non_blocking_change(on: Machine, given: Given) -> float:
    """PQPQ to PPQ, latency of `payload` bytes in `puts`; with `edp`, energy times delay at constant power."""
    payload, puts = _number(given, "payload"), _number(given, "puts")
    ratio = _ppq(on, payload, puts) / _pqpq(on, payload, puts)
    return 100 * ((ratio**2 if given.get("edp") else ratio) - 1)


def pinned_change(on: Machine, given: Given) -> float:
    """MPQMPQ to PQPQ, latency of `payload` bytes in `puts`: this saves the copy."""
    payload, puts = _number(given, "payload"), _number(given, "puts")
    put = _pqpq(on, payload, puts)
    return 100 * (put / (put + _copy(on, payload)) - 1)


def packing_change(on: Machine, given: Given) -> float:
    """PPQ to MMPQAMM, latency of `payload` bytes in `puts`; `copies` is 2 for both ends, 1 for the sender only."""
    payload = _number(given, "payload")
    before = _ppq(on, payload, _number(given, "puts"))
    return 100 * (_packed(on, payload, _number(given, "copies")) / before - 1)


def packing_from(on: Machine, given: Given) -> float:
    """The smallest number of puts, a power of two, at which MMPQAMM takes no longer than PPQ."""
    payload, puts = _number(given, "payload"), 1
    packed = _packed(on, payload, _number(given, "copies"))
    while packed > _ppq(on, payload, puts):
        if puts >= MOST_PUTS:
            raise NoPredictionError(f"packing does not pay up to {MOST_PUTS:,} puts")
        puts *= 2
    return float(puts)


# Output: nodes, storage and the simulation come from the site, cores and rates from the machine's file


def _site(on: Machine, given: Given) -> tuple[Site, Case]:
    name = _word(given, "site")
    site = read_site(site_content(name), f"read the site {name}")
    case = case_of(site, None)
    case.machine.cores = on.node.cores
    case.machine.link_bytes_per_s = 1e9 / _of_bytes(on).value
    writer = known(on.storage.writer_bytes_per_s, "storage.writer_bytes_per_s")
    case.machine.writer_bytes_per_s = writer.value
    return site, case


def output_change(on: Machine, given: Given) -> float:
    """`quantity`, such as watts, of one approach over the least of `over`; named APPROACH@STEPS between outputs."""
    _, case = _site(on, given)
    quantity, of, over = _word(given, "quantity"), _word(given, "of"), given.get("over", [])
    named = [over] if isinstance(over, str) else over
    if quantity not in ("seconds", "watts", "joules", "cpu_use") or not isinstance(named, list) or not named:
        raise UsageError(
            "ask the model", "quantity or over is wrong", "watts, seconds or joules, over named approaches"
        )
    with native_errors():
        return 100 * (case.quantity(quantity, of) / min(case.quantity(quantity, one) for one in named) - 1)


def cpu_uses_close(on: Machine, given: Given) -> float:
    """How many of the site's published CPU uses the model predicts closely."""
    site, case = _site(on, given)
    published = site.paper.cpu_use_pct if site.paper else {}
    with native_errors():
        return float(
            sum(
                abs(100 * case.quantity("cpu_use", f"{approach}@{every}") - found) <= CLOSE * found
                for every, by_approach in published.items()
                for approach, found in by_approach.items()
            )
        )


# Links that sleep, and their networks


def _network(on: Machine) -> tuple[str, dict[str, list[int]]]:
    if not on.topology:
        raise NoPredictionError("the file has no [topology]")
    with native_errors():
        choice = _core.read_network_choice(on.topology, "count what a network is made of")
    return choice.name, choice.parameters


def switches(on: Machine, given: Given) -> float:
    """The switches of the network, including those without nodes."""
    return float(_core.topology_metrics(*_network(on)).switches)


def _link(on: Machine, key: str) -> float:
    """A key of the link technology: seconds, or a share."""
    of_preset = {preset.name: preset.values for preset in _core.power_presets()}.get(on.power.get("preset", ""), {})
    value = on.power.get(key, of_preset.get(key))
    if value is None:
        raise NoPredictionError(f"the file has no power.{key}")
    if isinstance(value, int | float):
        return float(value)
    text = re.fullmatch(r"([\d.eE+-]+)\s*(ps|ns|us|ms|s)", value)
    if text is None:
        raise NoPredictionError(f"power.{key} is {value!r}, which is not a time")
    return float(text[1]) * SECONDS[text[2]]


def _packet_s(on: Machine, given: Given) -> float:
    return _number(given, "bytes") * _of_bytes(on).value * 1e-9


def packet_us(on: Machine, given: Given) -> float:
    """The time of a packet of `bytes` on a link, in µs."""
    return _packet_s(on, given) * 1e6


def wake_over_packet(on: Machine, given: Given) -> float:
    """The time to wake from `mode`, deep or fast, over that of a packet of `bytes`."""
    return _link(on, f"wake_{_word(given, 'mode')}") / _packet_s(on, given)


def saved_deep(on: Machine, given: Given) -> float:
    """The saving of a link that is always in deep sleep, including its refreshes at full power."""
    quiet, refresh = _link(on, "quiet_time"), _link(on, "refresh_time")
    return 100 * (1 - _link(on, "deep_share")) * quiet / (quiet + refresh)


def saved_fast(on: Machine, given: Given) -> float:
    """The saving of a link that is always in fast wake."""
    return 100 * (1 - _link(on, "fast_share"))


FIGURES: Final[Mapping[str, Callable[[Machine, Given], float]]] = {
    one.__name__: one
    for one in (
        wire_over_node,
        share_of_core,
        more_frequency,
        less_power_idle,
        least_energy,
        non_blocking_change,
        pinned_change,
        packing_change,
        packing_from,
        output_change,
        cpu_uses_close,
        switches,
        packet_us,
        wake_over_packet,
        saved_deep,
        saved_fast,
    )
}
