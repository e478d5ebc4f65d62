"""Numbers of the page on the study of access patterns, from its kept runs. Latencies of a payload are medians in µs."""

from __future__ import annotations

from functools import cache

from rows_numbers import number, percents, span
from rows_runs import KeptRuns, column, table

FRAGMENTS = (1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536)
SHOWN = (1, 16, 64, 256, 1_024, 16_384, 65_536)  # in the tables
NETWORKS = ("tcp", "link")  # on which each put is a message
AT_THE_END = {"MPQMPQ": "MPMPQ", "PQPQ": "PPQ"}  # the pattern that waits only at the end; unpinned, pinned
MANY = 1_024  # fragments from which on the paper's statement on non-blocking transfers is checked


@cache
def _runs() -> KeptRuns:
    return KeptRuns("access-patterns", ["network", "fragments", "pattern"])


def points() -> str:
    """The number of points."""
    return number(len(_runs().of_point), 0)


@cache
def _latency(network: str, pattern: str, fragments: int) -> float:
    return _runs().median((network, str(fragments), pattern), column("latency_us"))


def latency(network: str, pattern: str, fragments: int) -> str:
    """The latency with its unit."""
    return f"{number(_latency(network, pattern, fragments))} µs"


def latencies(network: str, patterns: str) -> str:
    """A table of latencies."""
    rows = [
        [f"{fragments:,}", *(number(_latency(network, pattern, fragments)) for pattern in patterns.split())]
        for fragments in SHOWN
    ]
    return table(["fragments", *patterns.split()], rows)


def _saved(network: str, baseline: str, candidate: str, fragments: int) -> float:
    return 1 - _latency(network, candidate, fragments) / _latency(network, baseline, fragments)


def saved_at_the_end(network: str, *fragments: int, pinned: bool | None = None) -> str:
    """The share of time saved by waiting only at the end: over unpinned and pinned sources, or one of them."""
    patterns = {one: two for one, two in AT_THE_END.items() if pinned is None or (one == "PQPQ") == pinned}
    networks = [network] if network else NETWORKS
    return percents(
        _saved(one, first, second, count)
        for one in networks
        for first, second in patterns.items()
        for count in fragments or [count for count in FRAGMENTS if count >= MANY]
    )


def microseconds_of_a_put(network: str) -> str:
    """The time of a put in a stream that ends with a wait, with the most fragments."""
    return f"{number(_latency(network, 'PPQ', FRAGMENTS[-1]) / FRAGMENTS[-1], 0)} µs"


def _times_packed(network: str, fragments: int) -> float:
    return _latency(network, "PPQ", fragments) / _latency(network, "MMPQAMM", fragments)


def times_packed(network: str, fragments: int) -> str:
    """How many times as fast packing is as separate puts."""
    return number(_times_packed(network, fragments), 0)


def range_of_times_packed(least: int) -> str:
    """The same over both networks, from so many fragments on."""
    return span((_times_packed(one, count) for one in NETWORKS for count in FRAGMENTS if count > least), 0)


def cost_of_packing(network: str, most: int) -> str:
    """How many times the latency of separate puts packing takes, up to so many fragments."""
    return span((1 / _times_packed(network, count) for count in FRAGMENTS if count <= most), 1)


def rewritten_over_packed(least: int, most: int) -> str:
    """The latency of `PPQ`, rewritten by the runtime, over that of the program packed by hand."""
    return span(
        (
            _latency("tcp-rewritten", "PPQ", count) / _latency("tcp-rewritten", "MMPQAMM", count)
            for count in FRAGMENTS
            if least <= count <= most
        ),
        2,
    )


def link_time() -> str:
    """The latency of `PPQ` on the link, rewritten, at all numbers of fragments."""
    return f"{span((_latency('link-rewritten', 'PPQ', n) / 1000 for n in FRAGMENTS), 1)} ms"


def saved_by_rewriting(network: str, fragments: int) -> float:
    """The share of time of `PPQ` that the runtime saves by rewriting its puts."""
    return 1 - _latency(f"{network}-rewritten", "PPQ", fragments) / _latency(network, "PPQ", fragments)
