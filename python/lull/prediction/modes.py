"""The power modes of links that a prediction tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lull.base.errors import UsageError

# In Ts, the time of sleep signalling: the holds of Georgakoudis et al. 2019. Without a hold, hybrid is deep sleep.
HOLDS: Final = {"deep-sleep": (0, 1, 2, 4), "fast-wake": (0, 1, 2, 4), "hybrid": (1, 2, 4)}
# Times of hybrid in fast wake, with a hold of one Ts, longer than in the paper: most pauses between messages end before
# deep sleep, and pauses between steps do not.
IN_FAST_WAKE: Final = ("100 us", "1 ms")
WITHOUT_HOLD: Final = ("active", "adaptive-rate")


@dataclass(frozen=True)
class Mode:
    """One power mode of links."""

    name: str
    keys: Mapping[str, Any]  # keys of [power]

    @property
    def folder(self) -> str:
        """The folder of its record."""
        return (
            self.name.replace("shortest hold ", "")
            .replace("learnt hold for ", "learnt-")
            .replace(" %", "pct")
            .replace("µ", "u")
            .replace(", hold ", "-")
            .replace(", ", "-")
            .replace(" ", "")
        )


ACTIVE: Final = Mode("active", {"mode": "active"})


def modes_named(words: Sequence[str]) -> list[Mode]:
    """The modes that words name, with links always active first: `all`, MODE with all its holds, MODE:HOLD, or
    hybrid:HOLD:TIME with TIME in fast wake.

    Raises:
        UsageError: There is no such mode.
    """
    found = {ACTIVE.name: ACTIVE}
    for word in words:
        for mode in _named(word):
            found.setdefault(mode.name, mode)
    return list(found.values())


def _named(word: str) -> list[Mode]:
    if word == "all":
        return [ACTIVE, *(mode for name in HOLDS for mode in _all_of(name))]
    name, *holds = word.split(":")
    if name in WITHOUT_HOLD and not holds:
        return [Mode(name, {"mode": name})]
    if name not in HOLDS or len(holds) > (2 if name == "hybrid" else 1) or not all(holds):
        there = ", ".join(["all", *WITHOUT_HOLD, *HOLDS])
        fix = f"name {there}, or deep-sleep:2Ts, or hybrid:1Ts:1ms"
        raise UsageError(f"predict with links in {word}", "there is no such mode", fix)
    return [_with_hold(name, *holds)] if holds else _all_of(name)


def _all_of(name: str) -> list[Mode]:
    held = [_with_hold(name, f"{hold} Ts") for hold in HOLDS[name]]
    return held + [_with_hold(name, "1 Ts", time) for time in IN_FAST_WAKE if name == "hybrid"]


def _with_hold(name: str, hold: str, in_fast_wake: str = "") -> Mode:
    if not in_fast_wake:
        return Mode(f"{name}, hold {hold}", {"mode": name, "hold": hold})
    keys = {"mode": name, "hold": hold, "hybrid_hold": in_fast_wake}
    return Mode(f"{name}, hold {hold}, {in_fast_wake} in fast wake", keys)
