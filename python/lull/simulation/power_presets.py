"""What link technologies are known by name: their times and the shares of active power they draw in each state.

The sleep states of backplane Ethernet are those of IEEE Std 802.3-2018 (Energy Efficient Ethernet) as Georgakoudis et
al. 2019 tabulate them: wake-up times of each speed in Table I; sleep signalling, wake-up and power of 100GBASE-R in
Table VI. The sleep signalling of the other speeds is not given there: that of 100GBASE-R stands in. So do the quiet
time and the refresh time, of which only the order is known: milliseconds and microseconds.

Adaptive rates: 4x QDR InfiniBand falls to SDR, a quarter of its rate, at 80 % of its power (the same paper, section
VII, after Abts et al., ISCA 2010; its sentence names the slower links as the dearer, which cannot be meant), in
nanoseconds to microseconds. Ethernet's Adaptive Link Rate (Gunaratne et al., IEEE Transactions on Computers 57(4),
2008) falls to a tenth and takes milliseconds; what that saves differs from one interface to the next, so the share must
be given.
"""

from __future__ import annotations

from dataclasses import dataclass

SLEEPING = ("deep-sleep", "fast-wake", "hybrid")


@dataclass(frozen=True)
class PowerPreset:
    """A link technology: the defaults it gives to keys of [power], and the modes it is meant for."""

    modes: tuple[str, ...]
    values: dict[str, str | float]
    must_be_given: tuple[str, ...] = ()


def _ethernet(wake_deep: str) -> PowerPreset:
    return PowerPreset(
        SLEEPING,
        {
            "sleep_time": "1.1 us",
            "wake_deep": wake_deep,
            "wake_fast": "0.34 us",
            "quiet_time": "1.7 ms",
            "refresh_time": "1.1 us",
            "deep_share": 0.1,
            "fast_share": 0.6,
        },
    )


POWER_PRESETS = {
    "100GBASE-R": _ethernet("5.5 us"),
    "40GBASE-R": _ethernet("5.5 us"),
    "25GBASE-R": _ethernet("14.25 us"),
    "infiniband-4x-qdr": PowerPreset(
        ("adaptive-rate",), {"slow_rate": 0.25, "slow_share": 0.8, "rate_change": "1 us", "raise_backlog": "16 KiB"}
    ),
    "ethernet-alr": PowerPreset(
        ("adaptive-rate",), {"slow_rate": 0.1, "rate_change": "1 ms", "raise_backlog": "16 KiB"}, ("slow_share",)
    ),
}


def default_preset(mode: str) -> str:
    """The preset whose values hold where none is named."""
    return "infiniband-4x-qdr" if mode == "adaptive-rate" else "100GBASE-R"
