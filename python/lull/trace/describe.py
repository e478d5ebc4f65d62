"""The account of a trace as a document."""

from __future__ import annotations

from lull.present import cells
from lull.present.document import Column, Columns, Document, Line, Note, Part, Row, Table, Tone, row, table
from lull.statistics import formatting
from lull.trace.account import STATES, Shares, TraceAccount

MOST_ROWS = 16  # most rows of a table on a terminal


def describe(account: TraceAccount) -> Document:
    """Everything that the account contains, the busiest first."""
    words = burstiness_words(account)
    parts: list[Part | None] = [
        Line(words) if words else None,
        process_times(account),
        _pairs(account) if account.pairs else None,
        _sizes(account) if account.sizes else None,
        _collectives(account) if account.collectives else None,
        _functions(account),
        *map(Note, faults_in_words(account)),
    ]
    return Document(overview_words(account), tuple(part for part in parts if part is not None))


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


def process_times(account: TraceAccount) -> Table:
    """The share of each process's time by activity, and that of all."""
    states = shown_states(account)

    def one_row(name: str, node: str, of: Shares, tone: Tone = "plain") -> Row:
        shares = [cells.share(of.seconds(state) / of.total if of.total > 0 else 0.0) for state in states]
        return row(name, node, *shares, cells.si(of.total, "s"), tone=tone)

    columns: Columns = ["process", Column("node", words=True), *states, Column("time", "s")]
    rows = [
        one_row("all", "", account.time, "strong"),
        *(one_row(one.name, one.node, one.time) for one in account.processes),
    ]
    title = "Where the time went, share of each process's time"
    return table(columns, rows, title=title, most=MOST_ROWS + 1, of="processes")


def _pairs(account: TraceAccount) -> Table:
    one_sided = account.one_sided > 0
    columns: Columns = [
        "from",
        Column("to", words=True),
        "messages",
        "bytes",
        Column("mean", "B"),
        *(["one-sided", "bytes, one-sided"] if one_sided else []),
    ]
    rows = []
    for pair in sorted(account.pairs, key=lambda pair: -(pair.bytes + pair.one_sided_bytes)):
        ends = (account.processes[pair.source].name, account.processes[pair.target].name)
        mean = cells.si(pair.bytes / pair.messages if pair.messages else None, "B")
        extra = (cells.count(pair.one_sided), cells.si(pair.one_sided_bytes, "B")) if one_sided else ()
        rows.append(row(*ends, cells.count(pair.messages), cells.si(pair.bytes, "B"), mean, *extra))
    title = f"Who sent to whom, the most bytes first ({len(account.pairs)} pairs)"
    return table(columns, rows, title=title, most=MOST_ROWS, of="pairs")


def _sizes(account: TraceAccount) -> Table:
    rows = [
        row(
            size_words(one.from_bytes, one.to_bytes),
            cells.count(one.messages),
            cells.share(one.messages / account.messages),
            cells.si(one.bytes, "B"),
            cells.share(one.bytes / account.message_bytes if account.message_bytes else None),
        )
        for one in account.sizes
    ]
    return table(["size", "messages", "share", "bytes", "share of bytes"], rows, title="Sizes of messages")


def size_words(low: int, high: int) -> str:
    """A range of sizes: 1 B, 2–3 B, 4–7 KiB; all but the first two are powers of two."""
    if high <= 1:
        return f"{high} B"
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if low >= 1 << power:
            return f"{low >> power}–<{(high + 1) >> power} {unit}"
    return f"{low}–{high} B"


def _collectives(account: TraceAccount) -> Table:
    rows = [
        row(one.operation, cells.count(one.calls), cells.si(one.sent_bytes, "B"), cells.si(one.received_bytes, "B"))
        for one in account.collectives
    ]
    columns: Columns = ["operation", "calls", Column("sent", "B"), Column("received", "B")]
    return table(columns, rows, title="Collectives, summed over processes")


def _functions(account: TraceAccount) -> Table:
    rows = [
        row(one.name, cells.count(one.calls), cells.si(one.seconds, "s"), cells.si(one.seconds / one.calls, "s"))
        for one in account.functions
    ]
    columns: Columns = ["name", "calls", Column("time", "s"), Column("a call", "s")]
    return table(columns, rows, title="Functions and regions, summed over processes", most=MOST_ROWS, of="functions")


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
