"""The power modes of links that a prediction tries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lull.base.errors import UsageError

# In Ts, the time of sleep signalling: those of Georgakoudis et al. 2019. Without a hold hybrid is deep sleep alone.
HOLDS: Final = {"deep-sleep": (0, 1, 2, 4), "fast-wake": (0, 1, 2, 4), "hybrid": (1, 2, 4)}
WITHOUT_HOLD: Final = ("active", "adaptive-rate")


@dataclass(frozen=True)
class Mode:
    """One way to use the power states of links."""

    name: str
    keys: Mapping[str, Any]  # of [power]

    @property
    def folder(self) -> str:
        """Of its record."""
        return self.name.replace(", hold ", "-").replace(" ", "")


ACTIVE: Final = Mode("active", {"mode": "active"})


def modes_named(words: Sequence[str]) -> list[Mode]:
    """The modes that words name, links always active first: `all`, MODE with all its holds, MODE:HOLD.

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
        return [ACTIVE, *(_with_hold(name, f"{hold} Ts") for name, holds in HOLDS.items() for hold in holds)]
    name, colon, hold = word.partition(":")
    if name in WITHOUT_HOLD and not colon:
        return [Mode(name, {"mode": name})]
    if name not in HOLDS or (colon and not hold):
        there = ", ".join(["all", *WITHOUT_HOLD, *HOLDS])
        raise UsageError(f"predict with links in {word}", "there is no such mode", f"name {there}, or deep-sleep:2Ts")
    return [_with_hold(name, hold)] if hold else [_with_hold(name, f"{hold} Ts") for hold in HOLDS[name]]


def _with_hold(name: str, hold: str) -> Mode:
    return Mode(f"{name}, hold {hold}", {"mode": name, "hold": hold})
