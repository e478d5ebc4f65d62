"""Numbers under the plots of the gallery, from the rows of their studies."""

from __future__ import annotations

import rows_access_patterns
import rows_io
import rows_waiting
from rows_numbers import percent


def more_latency(operation: str, least: str, most: str) -> str:
    """What sleeping costs a transfer over a link."""
    return rows_waiting.more_latency(operation, least, most)


def less_energy(operation: str, least: str, most: str) -> str:
    """What it saves."""
    return rows_waiting.less_energy(operation, least, most)


def times(nodes: str, every: int, *approaches: str) -> str:
    """Time of approaches to output over that of time partitioning."""
    return rows_io.times(nodes, every, *approaches)


def saved_by_rewriting(network: str, fragments: int) -> str:
    """The share of the time of `PPQ` that the runtime saves by rewriting its puts."""
    return percent(rows_access_patterns.saved_by_rewriting(network, fragments))
