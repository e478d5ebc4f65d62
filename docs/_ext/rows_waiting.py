"""Numbers of the page on the study of waiting, from its kept plots of puts and gets over a link.

The run had `interrupt` twice, once labelled `interrupt+dvfs`: no frequency could be changed, so both did the same.
Sizes are in bytes; values are relative to `poll`.
"""

from __future__ import annotations

from rows_numbers import percents, span
from rows_plots import Tip, tips
from rows_runs import table

LATENCY, ENERGY, CPU, POWER = "latency us", "Energy per MB, estimated", "CPU time per MB", "Power, estimated"
INTERRUPT = ("interrupt", "interrupt+dvfs")  # the same policy
SLEEPING = (*INTERRUPT, "adaptive")
SIZES = {"8 B": 8, "1 KiB": 1 << 10, "16 KiB": 1 << 14, "64 KiB": 1 << 16, "256 KiB": 1 << 18, "1 MiB": 1 << 20}
SIZES |= {"4 MiB": 1 << 22}
LABELS = {"interrupt": "`interrupt`", "interrupt+dvfs": "`interrupt`, once more", "adaptive": "`adaptive`"}


def _tip(operation: str, policy: str, size: int, quantity: str) -> Tip:
    return tips(f"waiting/{operation}")[policy, size, quantity]


def _all(operation: str, quantity: str, least: str, most: str, policies: tuple[str, ...]) -> list[Tip]:
    sizes = [size for size in SIZES.values() if SIZES[least] <= size <= SIZES[most]]
    return [_tip(operation, policy, size, quantity) for policy in policies for size in sizes]


def policies(operation: str) -> str:
    """Latency with its interval, and energy per MB, of each policy that sleeps."""
    rows = [
        [
            LABELS[policy],
            *(
                f"{_tip(operation, policy, size, LATENCY).text}; {_tip(operation, policy, size, ENERGY).value:.2f}"
                for size in SIZES.values()
            ),
        ]
        for policy in SLEEPING
    ]
    return table([f"{operation}: latency; energy", *SIZES], rows)


def more_latency(operation: str, least: str, most: str) -> str:
    """By how much longer a transfer takes under `interrupt`, medians."""
    return percents(tip.more for tip in _all(operation, LATENCY, least, most, INTERRUPT))


def less_energy(operation: str, least: str, most: str) -> str:
    """By how much less energy it takes per MB."""
    return percents(-tip.more for tip in _all(operation, ENERGY, least, most, INTERRUPT))


def less_power(operation: str, size: str) -> str:
    """By how much less power PEs draw under `interrupt`."""
    return percents(-tip.more for tip in _all(operation, POWER, size, size, INTERRUPT))


def cpu(least: str, most: str) -> str:
    """CPU time under `interrupt` over that of polling, puts and gets."""
    both = (_all(operation, CPU, least, most, INTERRUPT) for operation in ("put", "get"))
    return percents(tip.value for found in both for tip in found)


def latency(operation: str, policy: str, size: str) -> str:
    """One latency with its interval."""
    return _tip(operation, policy, SIZES[size], LATENCY).text


def small_latencies() -> str:
    """Latencies of all policies that sleep up to 1 KiB, puts and gets."""
    both = (_all(operation, LATENCY, "8 B", "1 KiB", SLEEPING) for operation in ("put", "get"))
    return span([tip.value for found in both for tip in found], 2)


def small_energies() -> str:
    """Energy of `interrupt` up to 1 KiB, puts and gets."""
    both = (_all(operation, ENERGY, "8 B", "1 KiB", INTERRUPT) for operation in ("put", "get"))
    return span([tip.value for found in both for tip in found], 2)
