"""Assemble a machine from the observations of all parts: medians with quartiles, transfers in LogGP's terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from lull import __version__, _core
from lull.base.energy_kind import weakest
from lull.calibration.parts import POWER, WAKE_UPS, Observed
from lull.model.machine import (
    Atomics,
    CalibrationInfo,
    Figure,
    Frequency,
    Machine,
    Memory,
    Node,
    Recording,
    Storage,
    TransferPiece,
    Transport,
    WakeUp,
    WakeUps,
    Watts,
)
from lull.record import EnergyKind, Host

TERMS: Final = tuple(name for name in TransferPiece.model_fields if name not in ("from_bytes", "worst_error"))
OF_SIZES: Final = ("bytes", "one_way_ns", "send_ns", "receive_ns", "gap_ns")
IN_TIME: Final = 90  # percentile of timers


@dataclass(frozen=True)
class Circumstances:
    """The circumstances of a calibration, in addition to its figures."""

    host: Host
    when: datetime
    seconds: float
    launcher: str  # launcher of the network's processes; empty: Lull's own
    storage: str


def machine_of(observed: Mapping[str, Observed], about: Circumstances) -> Machine:
    """The machine from the observations by part; what a part did not find is omitted, with a remark."""
    remarks: list[str] = []
    network = observed.get("network", {})
    transports = {
        "shared-memory": _transport(observed, "shared-memory", "loads and stores of the processes"),
        "network": _transport(observed, "network", "UCX between nodes" if about.launcher else _EMULATED),
    }
    if not transports["network"].pieces:
        remarks.append(f"no network: all processes of {about.launcher or 'the job'} were on one node")
    elif not about.launcher:
        remarks.append(
            "the network is that of two emulated nodes of this host; lull calibrate -- LAUNCHER measures another"
        )
    watts = _watts(observed)
    if watts is None:
        drawn = any(seen for _, seen in _named(observed, POWER))
        why = (
            "something else ran: the idle machine drew more than the loaded one"
            if drawn
            else "the power of the node is unknown"
        )
        remarks.append(f"no power: {why} (lull sources)")
    elif all(figure.kind is EnergyKind.ESTIMATED for figure in (watts.idle_node, watts.busy_node) if figure):
        remarks.append("power is estimated from CPU time: no meter can be read (lull sources)")
    frequency = _frequency(observed.get("frequency", {}))
    if not frequency.steps_khz:
        remarks.append("no frequency steps: there is no cpufreq")
    host = about.host
    return Machine(
        title=f"{host.node}, {host.cores} cores, {host.processor}",
        measured=CalibrationInfo(
            when=about.when,
            lull=__version__,
            host=host.node,
            processor=host.processor,
            cores=host.cores,
            memory_bytes=host.memory_bytes,
            kernel=host.kernel,
            launcher=about.launcher or "lull run",
            nodes=network.get("nodes", 1),
            seconds=round(about.seconds, 1),
            remarks=remarks,
        ),
        node=Node(cores=host.cores, waiting_use=0),  # waiting processes sleep under Lull's default policy
        transports={name: transport for name, transport in transports.items() if transport.pieces},
        memory=_memory(observed.get("memory", {})),
        wake_ups=_wake_ups(observed),
        storage=_storage(observed.get("storage", {}), about.storage),
        recording=Recording(ns_per_event=figure_of(observed.get("recording", {}).get("ns_per_event", []))),
        frequency=frequency,
        watts=watts or Watts(),
    )


_EMULATED: Final = "UCX between two emulated nodes of one host"


def figure_of(values: Sequence[float], kind: EnergyKind | None = None) -> Figure | None:
    """The median with the quartiles; None for no values."""
    if not len(values):
        return None
    low, value, high = np.percentile(values, [25, 50, 75])
    return Figure(value=max(value, 0), low=max(low, 0), high=max(high, 0), kind=kind)


def _transport(observed: Mapping[str, Observed], name: str, through: str) -> Transport:
    times, receiver = observed.get(name, {}), observed.get(f"{name} receiver", {})
    rounds = times.get("rounds", [])
    if not rounds:
        return Transport()
    of_receiver = receiver.get("rounds", [])
    for number, one in enumerate(rounds):
        if of_receiver:  # if the receiver has fewer rounds, they are used again from the first
            for size, seen in zip(one, of_receiver[number % len(of_receiver)], strict=True):
                size["receive_ns"] = seen["receive_ns"]
    fitted = _core.fit_transfer([[tuple(size[key] for key in OF_SIZES) for size in one] for one in rounds])
    return Transport(
        through=through,
        pieces=[
            TransferPiece(
                from_bytes=round(piece.from_bytes),
                worst_error=piece.worst_error,
                **{
                    name: Figure(value=value, low=low, high=high)
                    for name, value, low, high in zip(TERMS, piece.terms, piece.low, piece.high, strict=True)
                },
            )
            for piece in fitted
        ],
        atomics=Atomics(
            fetching_ns=figure_of(times.get("fetching_ns", [])),
            non_fetching_ns=figure_of(times.get("non_fetching_ns", [])),
        ),
    )


def _memory(seen: Observed) -> Memory:
    return Memory(
        copy_warm_bytes_per_s=figure_of(seen.get("copy_warm", [])),
        copy_cold_bytes_per_s=figure_of(seen.get("copy_cold", [])),
        copy_cold_all_cores_bytes_per_s=figure_of(seen.get("copy_cold_all_cores", [])),
    )


def _wake_ups(observed: Mapping[str, Observed]) -> WakeUps:
    timers = [late for _, seen in _named(observed, WAKE_UPS) for late in seen.get("timer_ns", [])]
    timer = None
    if timers:
        low, value, high = (max(float(late), 0) for late in np.percentile(timers, [25, 50, IN_TIME]))
        timer = Figure(value=value, low=low, high=high)
    policies = {policy: [_wake_up(one) for one in seen["lengths"]] for policy, seen in _named(observed, WAKE_UPS)}
    return WakeUps(timer_ns=timer, policies=policies)


def _wake_up(seen: Observed) -> WakeUp:
    late, cpu, waker = (figure_of(seen[name]) for name in ("late_ns", "cpu_ns", "waker_ns"))
    assert late is not None and cpu is not None and waker is not None  # the program waits at least ten times
    return WakeUp(length_ns=seen["length_ns"], late_ns=late, cpu_ns=cpu, waker_ns=waker)


def _storage(seen: Observed, folder: str) -> Storage:
    rates: dict[int, list[float]] = {}
    for one in seen.get("rounds", []):
        for rate in one:
            rates.setdefault(rate["writers"], []).append(rate["bytes_per_s"])
    if not rates:
        return Storage()
    by_writers = {writers: figure for writers, values in rates.items() if (figure := figure_of(values)) is not None}
    learnt = _core.storage_of([(writers, figure.value) for writers, figure in by_writers.items()])
    spread = max(_spread(figure) for figure in by_writers.values())

    def learnt_figure(value: float) -> Figure | None:
        return Figure(value=value, low=value * (1 - spread), high=value * (1 + spread)) if np.isfinite(value) else None

    return Storage(
        folder=folder,
        writer_bytes_per_s=by_writers.get(1),
        bytes_per_s=learnt_figure(learnt.bytes_per_s),
        writers_at_half_speed=learnt_figure(learnt.writers_at_half_speed),
        by_writers=by_writers,
    )


def _spread(figure: Figure) -> float:
    low, value, high = figure.band
    return min(1.0, max(value - low, high - value) / value) if value > 0 else 0.0


def _frequency(seen: Observed) -> Frequency:
    transition = seen.get("transition_ns")
    return Frequency(
        driver=seen.get("driver", ""),
        steps_khz=seen.get("steps_khz", []),
        transition_ns=None if transition is None else Figure(value=transition),
    )


def _watts(observed: Mapping[str, Observed]) -> Watts | None:
    """Medians over the rounds; low and high are the band of the source, which repeats do not narrow."""
    rounds = [seen for _, seen in _named(observed, POWER)]
    states = [state for state in (rounds[0] if rounds else {}) if all(state in one for one in rounds)]
    if "idle_node" not in states or "busy_node" not in states:
        return None

    def figure(state: str) -> Figure:
        low, value, high = (float(np.median([one[state][key] for one in rounds])) for key in ("low", "watts", "high"))
        kind = weakest([EnergyKind(one[state]["kind"]) for one in rounds])
        return Figure(value=value, low=min(low, value), high=max(high, value), kind=kind)

    waiting = {state.partition(".")[2]: figure(state) for state in states if "." in state}
    idle, busy = figure("idle_node"), figure("busy_node")
    if any(
        i > b for i, b in zip(idle.band, busy.band, strict=True)
    ):  # other processes kept it busy during the idle measurement
        return None
    return Watts(idle_node=idle, one_core=figure("one_core"), busy_node=busy, waiting=waiting)


def _named(observed: Mapping[str, Observed], first: str) -> Iterator[tuple[str, Observed]]:
    """Parts whose names begin with `first`, by the rest of their names."""
    for name, seen in observed.items():
        word, _, rest = name.partition(" ")
        if word == first and seen:
            yield rest, seen
