"""Settings that fix what the runtime chooses by itself: what its choosers' own accounts say that these would change.

The record of a counted run holds an account of each choice made at run time: what an operation costs by each
alternative, as far as the model or the job's own measurements say, and how often each was taken. With a setting that
fixes an alternative, all operations of the choice take it:

    change = operations that took another · (cost of the fixed one - cost of that one), over the processes

What the operations cost may overlap with what other processes do anyway, so a change may as well be none. Power is
taken to stay what it is: energy changes as time does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from lull.advice.account import Alternative, Band, Untold
from lull.advice.facts import Facts
from lull.advice.puts import CHOICE as REWRITTEN
from lull.statistics.formatting import si

AGGREGATION: Final = "aggregation"
RDMA: Final = "RDMA"
ROUTE: Final = "route"  # as the runtime calls the choice
MESSAGE: Final = "message"
BY_RDMA: Final = ("rdma-put", "rdma-get")
OF_BUFFERS: Final = ("LULL_AGGREGATE", "LULL_AGGREGATE_HOPS", "LULL_AGGREGATE_BUFFER_BYTES")
NO_CHANGE: Final = (0.0, 0.0, 0.0)


class AccountOfAlternative(Protocol):
    """What is known of an alternative; costs are ns of an operation, None where nobody knows."""

    @property
    def name(self) -> str:
        """As the runtime calls it."""

    @property
    def predicted_ns(self) -> float | None:
        """By the machine's constants alone."""

    @property
    def corrected_ns(self) -> float | None:
        """By what the job measured."""

    @property
    def observed_ns(self) -> float | None:
        """Mean of what was timed."""

    @property
    def operations(self) -> int:
        """That took it."""


class AccountOfChoice(Protocol):
    """A choice that was made at run time."""

    @property
    def choice(self) -> str:
        """Of what."""

    @property
    def where(self) -> str:
        """For which operations it is made by itself: "up to 4 KiB", of sizes between the half of that and that."""

    @property
    def processes(self) -> int:
        """Summed over."""

    @property
    def alternatives(self) -> Sequence[AccountOfAlternative]:
        """All of them."""


@dataclass(frozen=True)
class Fixed:
    """A setting, and the alternatives that all operations of these choices then take."""

    of: str  # the choice, as advice calls it
    name: str
    settings: Mapping[str, str]
    takes: Mapping[str, str]  # choice of the runtime -> its alternative
    from_bytes: int = 0  # smaller operations go by message

    def alternative(self, one: AccountOfChoice) -> str:
        """What operations of this account take."""
        return MESSAGE if (sizes_of(one) or self.from_bytes) < self.from_bytes else self.takes[one.choice]


FIXED: Final = (
    Fixed(REWRITTEN, "off", {"LULL_TRANSFORM": "off"}, {"coalesce": "alone", "copy-source": "wait"}),
    Fixed(REWRITTEN, "on", {"LULL_TRANSFORM": "on"}, {"coalesce": "coalesced", "copy-source": "copy"}),
    Fixed(RDMA, "off", {"LULL_RDMA": "off"}, dict.fromkeys(BY_RDMA, MESSAGE)),
    Fixed(AGGREGATION, "without the direct path", {"LULL_AGGREGATE_DIRECT": "0"}, {"direct": "buffers"}),
)


def fixed_choices(facts: Facts) -> tuple[list[Alternative], list[Untold]]:
    """What each setting would change that fixes a choice which the runtime made in the run."""
    found: list[Alternative] = []
    untold: list[Untold] = []
    for fixed, told in _each(facts):
        if told is None:
            why = f"nothing is known of what {fixed.name} would cost: it was never taken, and the model has no figure"
            settings = " ".join(f"{name}={value}" for name, value in fixed.settings.items())
            untold.append(Untold(choice=fixed.of, why=why, measure=f"{settings} LULL_STATS=1 lull measure -- CMD"))
        elif told.seconds != NO_CHANGE:
            found.append(told)
    return found, untold


def without_effect(facts: Facts, settings: Mapping[str, str]) -> bool:
    """Whether settings would change nothing: all operations took what they fix, or nothing was in a buffer."""
    if any(
        fixed.settings == settings and told is not None and told.seconds == NO_CHANGE for fixed, told in _each(facts)
    ):
        return True
    of_buffers = bool(settings) and all(name in OF_BUFFERS for name in settings)
    return of_buffers and _nothing_was_buffered(facts.choices)


def _nothing_was_buffered(choices: Sequence[AccountOfChoice]) -> bool:
    phases = [other for one in choices if one.choice == "direct" for other in one.alternatives if other.operations > 0]
    return bool(phases) and all(other.name == "direct" for other in phases)


def _each(facts: Facts) -> Iterator[tuple[Fixed, Alternative | None]]:
    """Every setting that fixes what the run chose by itself, and what it would change, where that is known."""
    for fixed in (*FIXED, *_routes(facts.choices)):
        if accounts := [one for one in facts.choices if one.choice in fixed.takes]:
            yield fixed, _alternative(fixed, accounts, facts)
    if best := _best_threshold(facts):
        yield best


def _best_threshold(facts: Facts) -> tuple[Fixed, Alternative] | None:
    """From which size on transfers are best left to the network, of all sizes that the run had."""
    accounts = [one for one in facts.choices if one.choice in BY_RDMA]
    found: list[tuple[Fixed, Alternative]] = []
    for size in sorted({size for one in accounts if (size := sizes_of(one))}):
        settings = {"LULL_RDMA_BYTES": str(size)}
        fixed = Fixed(RDMA, f"from {size} bytes on", settings, dict.fromkeys(BY_RDMA, "rdma"), size)
        if told := _alternative(fixed, accounts, facts):
            found.append((fixed, told))
    return min(found, key=lambda one: one[1].seconds[1], default=None)


def sizes_of(one: AccountOfChoice) -> int:
    """The least size of an account's operations, in bytes; 0: it is of all sizes."""
    parts = re.fullmatch(r"up to (\d+) (B|KiB|MiB|GiB)", one.where)
    return 0 if parts is None else int(parts[1]) * 1024 ** ("B", "KiB", "MiB", "GiB").index(parts[2]) // 2


def _routes(choices: Sequence[AccountOfChoice]) -> list[Fixed]:
    """Every route that the accounts name, as "per-pe, 2 hops": whose buffers, and hops."""
    routes = []
    for name in _names(choices, ROUTE):
        if parts := re.fullmatch(r"(per-pe|per-node), ([123]) hops?", name):
            settings = {"LULL_AGGREGATE": parts[1], "LULL_AGGREGATE_HOPS": parts[2]}
            routes.append(Fixed(AGGREGATION, name, settings, {ROUTE: name}))
    return routes


def _names(choices: Sequence[AccountOfChoice], of: str) -> list[str]:
    return list(dict.fromkeys(other.name for one in choices if one.choice == of for other in one.alternatives))


def _alternative(fixed: Fixed, accounts: Sequence[AccountOfChoice], facts: Facts) -> Alternative | None:
    """None: what it costs is not known of all operations that would take it."""
    mid, before = _change(fixed, accounts, _best), _change(fixed, accounts, _predicted)
    if mid is None:
        return None
    others = [] if before is None else [before]
    # An item costs CPU time; on a core of which a PE has but a turn it takes as much longer.
    turns = max(1.0, accounts[0].processes / facts.cores) if ROUTE in fixed.takes else 1.0
    low, high = (turns * end for end in (min(mid, *others, 0.0), max(mid, *others, 0.0)))
    seconds: Band = (low, turns * mid, high)
    operations = sum(other.operations for one in accounts for other in one.alternatives)
    moved = operations - sum(
        other.operations for one in accounts for other in one.alternatives if other.name == fixed.alternative(one)
    )
    return Alternative(
        choice=fixed.of,
        name=fixed.name,
        instead_of=_present(accounts),
        seconds=seconds,
        joules=_joules(seconds, facts),
        set=dict(fixed.settings),
        lines=[f"export {name}={value}" for name, value in fixed.settings.items()],
        terms=[
            f"{moved} of {operations} operations of {accounts[0].processes} processes would take it",
            f"each process spends {si(abs(turns * mid), 's')} {'more' if mid > 0 else 'less'} on them; "
            "where others wait as long anyway, that changes nothing",
        ],
    )


def _joules(seconds: Band, facts: Facts) -> Band | None:
    """At the power that the run has."""
    if facts.joules is None or facts.seconds[1] <= 0:
        return None
    watts = facts.joules[1] / facts.seconds[1]
    low, mid, high = (watts * part for part in seconds)
    return low, mid, high


def _best(one: AccountOfAlternative) -> float | None:
    known = (one.observed_ns, one.corrected_ns, one.predicted_ns)
    return next((cost for cost in known if cost is not None), None)


def _predicted(one: AccountOfAlternative) -> float | None:
    return one.predicted_ns


def _change(
    fixed: Fixed, accounts: Sequence[AccountOfChoice], cost: Callable[[AccountOfAlternative], float | None]
) -> float | None:
    """Seconds that a process spends more; None where a cost that matters is not known."""
    nanoseconds = 0.0
    for one in accounts:
        wanted = next((other for other in one.alternatives if other.name == fixed.alternative(one)), None)
        for other in one.alternatives:
            if other is wanted or other.operations == 0:
                continue
            now, then = cost(other), None if wanted is None else cost(wanted)
            if now is None or then is None:
                return None
            nanoseconds += other.operations * (then - now) / max(one.processes, 1)
    return nanoseconds * 1e-9


def _present(accounts: Sequence[AccountOfChoice]) -> str:
    """What most operations took."""
    taken: dict[str, int] = {}
    for one in accounts:
        for other in one.alternatives:
            taken[other.name] = taken.get(other.name, 0) + other.operations
    return max(taken, key=lambda name: taken[name])
