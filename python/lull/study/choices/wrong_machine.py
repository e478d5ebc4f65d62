"""A deliberately wrong machine file, which shows what choosers do if they start from wrong constants.

All times of messages and wake-ups are wrong by one factor, all rates of links, memory and storage by another.
"""

from __future__ import annotations

from typing import TypeVar

from lull.model.machine import Figure, Machine, MachineTable, TransferPiece
from lull.study.choices.description import WrongMachine

Of = TypeVar("Of", bound=MachineTable)

TIMES = ("latency_ns", "send_ns", "receive_ns", "gap_ns")
TIMES_OF_BYTES = ("ns_per_byte", "alone_ns_per_byte", "send_ns_per_byte", "receive_ns_per_byte")
RATES_OF_MEMORY = ("copy_warm_bytes_per_s", "copy_cold_bytes_per_s", "copy_cold_all_cores_bytes_per_s")
RATES_OF_STORAGE = ("writer_bytes_per_s", "bytes_per_s")


def made_wrong(machine: Machine, wrong: WrongMachine) -> Machine:
    """The machine, with its times and rates multiplied by these factors."""
    slower, less = wrong.latency, wrong.bandwidth
    transports = {
        name: one.model_copy(
            update={
                "pieces": [_piece(piece, slower, less) for piece in one.pieces],
                "atomics": _times(one.atomics, ("fetching_ns", "non_fetching_ns"), slower),
            }
        )
        for name, one in machine.transports.items()
    }
    wake_ups = machine.wake_ups.model_copy(
        update={
            "timer_ns": times(machine.wake_ups.timer_ns, slower),
            "policies": {
                name: [one.model_copy(update={"late_ns": times(one.late_ns, slower)}) for one in lengths]
                for name, lengths in machine.wake_ups.policies.items()
            },
        }
    )
    return machine.model_copy(
        update={
            "title": f"{machine.title}, wrong: times x {slower:g}, rates x {less:g}",
            "transports": transports,
            "wake_ups": wake_ups,
            "memory": _times(machine.memory, RATES_OF_MEMORY, less),
            "storage": _times(machine.storage, RATES_OF_STORAGE, less),
        }
    )


def _piece(piece: TransferPiece, slower: float, less: float) -> TransferPiece:
    return _times(_times(piece, TIMES, slower), TIMES_OF_BYTES, 1 / less)


def _times(part: Of, names: tuple[str, ...], factor: float) -> Of:
    return part.model_copy(update={name: times(getattr(part, name), factor) for name in names})


def times(figure: Figure | None, factor: float) -> Figure | None:
    """A figure and its band, multiplied by a factor; None for None."""
    if figure is None:
        return None
    low, value, high = (part * factor for part in figure.band)
    return figure.model_copy(update={"low": low, "value": value, "high": high})
