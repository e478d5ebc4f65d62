"""Advice on rewriting small puts to other nodes, from the network's cost of a message."""

from __future__ import annotations

from typing import Final

from lull.advice.account import Alternative, Band, Unpredicted
from lull.advice.facts import Facts
from lull.model.machine import Figure, Machine, TransferPiece
from lull.statistics.formatting import si

CHOICE: Final = "rewritten puts"
SETTING: Final = "LULL_TRANSFORM"


def rewritten_puts(facts: Facts, machine: Machine) -> list[Alternative] | Unpredicted:
    """LULL_TRANSFORM=off if puts were coalesced; or why there is no prediction."""
    if facts.waiting is None or facts.nodes < 2:
        why = "the record counts no operations" if facts.waiting is None else "there was one node: no put left it"
        return Unpredicted(choice=CHOICE, why=why, measure="LULL_STATS=1 lull measure -- lull run -n N --nodes K APP")
    network = machine.transports.get("network")
    if network is None or not network.pieces:
        return Unpredicted(choice=CHOICE, why="the machine file has no network", measure="lull calibrate -- LAUNCHER")
    seen = facts.rewritten
    if facts.settings.get(SETTING, "auto") == "off" or seen is None or seen.coalesced_puts == 0:
        why = "none was rewritten: how puts follow one another is seen only where the runtime may coalesce them"
        return Unpredicted(choice=CHOICE, why=why, measure=f"{SETTING}=on LULL_STATS=1 lull measure -- CMD")
    bytes_of_put = seen.coalesced_bytes / seen.coalesced_puts
    alone = _band(network.pieces, bytes_of_put)
    together = _band(network.pieces, seen.coalesced_bytes / max(seen.messages, 1))
    if alone is None or together is None:
        return Unpredicted(
            choice=CHOICE, why="the machine file lacks the gap between messages", measure="lull calibrate"
        )
    # One message for each put, minus the present shared messages; each PE sends its part.
    pes = facts.waiting.pes
    puts, messages = seen.coalesced_puts, seen.messages
    seconds = (
        (puts * alone[0] - messages * together[2]) * 1e-9 / pes,
        (puts * alone[1] - messages * together[1]) * 1e-9 / pes,
        (puts * alone[2] - messages * together[0]) * 1e-9 / pes,
    )
    return [
        Alternative(
            choice=CHOICE,
            name="off",
            instead_of=facts.settings.get(SETTING, "auto"),
            seconds=(min(seconds[0], 0.0), seconds[1], seconds[2]),  # messages that overlap with other work are no loss
            joules=None,
            set={SETTING: "off"},
            lines=[f"export {SETTING}=off"],
            terms=[
                f"{puts} puts of {si(bytes_of_put, 'B')} left in {messages} messages",
                f"a separate message takes {si(alone[1] * 1e-9, 's')}, a shared one {si(together[1] * 1e-9, 's')}",
            ],
        )
    ]


def _band(pieces: list[TransferPiece], size: float) -> Band | None:
    """Gap plus time of the bytes for one message of a stream, in ns."""
    piece = [one for one in pieces if one.from_bytes <= size or one is pieces[0]][-1]
    if piece.gap_ns is None and piece.ns_per_byte is None:
        return None
    nothing = Figure(value=0)
    gap, byte = piece.gap_ns or nothing, piece.ns_per_byte or nothing
    low, mid, high = (a + size * b for a, b in zip(gap.band, byte.band, strict=True))
    return low, mid, high
