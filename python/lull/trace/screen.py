"""The account of a trace, as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.statistics import formatting
from lull.trace.account import STATES, Shares, TraceAccount

MOST_ROWS = 16  # most rows of a table; --json has all


def show(account: TraceAccount, console: Console) -> None:
    """Print all tables."""
    _overview(account, console)
    _times(account, console)
    _pairs(account, console)
    _sizes(account, console)
    _collectives(account, console)
    _functions(account, console)
    _faults(account, console)


def overview_words(account: TraceAccount) -> str:
    """An overview in one line."""
    processes = formatting.count(len(account.processes), "process", "processes")
    nodes = formatting.count(len(account.nodes), "node")
    threads = f", {account.threads} threads" if account.threads != len(account.processes) else ""
    words = f"{processes} on {nodes}{threads}, {formatting.si(account.seconds, 's')}, {account.events:,} events"
    words += f"; {account.messages:,} messages of {formatting.si(account.message_bytes, 'B')}"
    if account.one_sided:
        words += f", {account.one_sided:,} one-sided operations of {formatting.si(account.one_sided_bytes, 'B')}"
    return words


def burstiness_words(account: TraceAccount) -> str:
    """How unevenly the program sends, in one line; empty if it sends nothing."""
    found = account.burstiness
    if found.peak_over_mean is None:
        return ""
    words = f"busiest moment {formatting.three_digits(found.peak_over_mean)} times the mean, "
    words += f"silent for {formatting.percent(found.silent_share)} of the time"
    if found.gaps is not None:
        words += f", burstiness of gaps {found.gaps:+.2f} (−1 regular, 0 random, +1 in bursts)"
    return words


def shown_states(account: TraceAccount) -> list[str]:
    """The states with any time."""
    return [state for state in STATES if account.time.seconds(state) > 0]


def _table(console: Console, title: str, *headings: str, texts: Sequence[int] = (0,)) -> Table:
    console.print(Text(f"\n{title}", style="bold"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place in texts else "right", no_wrap=True)
    return table


def _rest(console: Console, rows: int, what: str) -> None:
    if rows > MOST_ROWS:
        console.print(Text(f"and {rows - MOST_ROWS} more {what}; --json has all", style="dim"))


def _overview(account: TraceAccount, console: Console) -> None:
    console.print(Text(overview_words(account)), soft_wrap=True)
    if words := burstiness_words(account):
        console.print(Text(words), soft_wrap=True)


def _times(account: TraceAccount, console: Console) -> None:
    states = shown_states(account)
    table = _table(console, "Where the time went, share of each process's time", "process", "node", *states, "time",
                   texts=(0, 1))  # fmt: skip

    def cells(of: Shares) -> list[str]:
        shares = [of.seconds(state) / of.total if of.total > 0 else 0.0 for state in states]
        return [*(formatting.percent(share) for share in shares), formatting.si(of.total, "s")]

    for one in account.processes[:MOST_ROWS]:
        table.add_row(one.name, one.node, *cells(one.time))
    table.add_row("all", "", *cells(account.time), style="bold")
    console.print(table)
    _rest(console, len(account.processes), "processes")


def _pairs(account: TraceAccount, console: Console) -> None:
    if not account.pairs:
        return
    one_sided = account.one_sided > 0
    more = ("one-sided", "bytes, one-sided") if one_sided else ()
    table = _table(console, f"Who sent to whom, the most bytes first ({len(account.pairs)} pairs)",
                   "from", "to", "messages", "bytes", "mean", *more, texts=(0, 1))  # fmt: skip
    order = sorted(account.pairs, key=lambda pair: -(pair.bytes + pair.one_sided_bytes))
    for pair in order[:MOST_ROWS]:
        mean = formatting.si(pair.bytes / pair.messages, "B") if pair.messages else "–"
        extra = (f"{pair.one_sided:,}", formatting.si(pair.one_sided_bytes, "B")) if one_sided else ()
        table.add_row(
            account.processes[pair.source].name, account.processes[pair.target].name, f"{pair.messages:,}",
            formatting.si(pair.bytes, "B"), mean, *extra,
        )  # fmt: skip
    console.print(table)
    _rest(console, len(order), "pairs")


def _sizes(account: TraceAccount, console: Console) -> None:
    if not account.sizes:
        return
    table = _table(console, "Sizes of messages", "size", "messages", "share", "bytes", "share of bytes")
    for one in account.sizes:
        table.add_row(
            size_words(one.from_bytes, one.to_bytes), f"{one.messages:,}",
            formatting.percent(one.messages / account.messages), formatting.si(one.bytes, "B"),
            formatting.percent(one.bytes / account.message_bytes) if account.message_bytes else "–",
        )  # fmt: skip
    console.print(table)


def size_words(low: int, high: int) -> str:
    """A range of sizes: 1 B, 2–3 B, 4–7 KiB; all but the first two are powers of two."""
    if high <= 1:
        return f"{high} B"
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if low >= 1 << power:
            return f"{low >> power}–<{(high + 1) >> power} {unit}"
    return f"{low}–{high} B"


def _collectives(account: TraceAccount, console: Console) -> None:
    if not account.collectives:
        return
    table = _table(console, "Collectives, summed over processes", "operation", "calls", "sent", "received")
    for one in account.collectives:
        table.add_row(one.operation, f"{one.calls:,}", formatting.si(one.sent_bytes, "B"),
                      formatting.si(one.received_bytes, "B"))  # fmt: skip
    console.print(table)


def _functions(account: TraceAccount, console: Console) -> None:
    table = _table(console, "Functions and regions, summed over processes", "name", "calls", "time", "a call")
    for one in account.functions[:MOST_ROWS]:
        table.add_row(one.name, f"{one.calls:,}", formatting.si(one.seconds, "s"),
                      formatting.si(one.seconds / one.calls, "s"))  # fmt: skip
    console.print(table)
    _rest(console, len(account.functions), "functions")


def faults_in_words(account: TraceAccount) -> list[str]:
    """The inconsistencies of the trace, one sentence each."""
    of = account.faults
    lines = []
    if of.unmatched_sends:
        lines.append(f"{formatting.count(of.unmatched_sends, 'message')} sent whose receive is not in the trace")
    if of.unmatched_receives:
        lines.append(f"{formatting.count(of.unmatched_receives, 'message')} received whose send is not in the trace")
    if of.incomplete_collectives:
        words = formatting.count(of.incomplete_collectives, "collective")
        lines.append(f"{words} in which not all of the communicator are in the trace")
    if of.received_too_early:
        worst = formatting.si(of.most_too_early_s, "s")
        words = formatting.count(of.received_too_early, "message")
        lines.append(f"{words} received before they were sent, by up to {worst}: the clocks differ")
    return lines


def _faults(account: TraceAccount, console: Console) -> None:
    lines = faults_in_words(account)
    if lines:
        console.print()
    for line in lines:
        console.print(Text(line, style="yellow"), soft_wrap=True)
