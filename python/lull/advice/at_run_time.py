"""Settings that fix what the runtime otherwise chooses: their effects, from the accounts of the choosers.

The record of a counted run contains an account of each choice at run time: the cost of an operation with each
alternative, as far as the model or the job's measurements give it, and how often each was taken. With a setting that
fixes an alternative, all operations of the choice take it:

    change = operations that took another · (cost of the fixed one - cost of that one), over the processes

The cost of operations may overlap with other processes' work, so there may be no change at all. Power is assumed to be
constant, so that energy changes like time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from lull.advice.account import Alternative, Band, Unpredicted
from lull.advice.facts import Facts
from lull.advice.puts import CHOICE as REWRITTEN
from lull.statistics.formatting import si

AGGREGATION: Final = "aggregation"
RDMA: Final = "RDMA"
ROUTE: Final = "route"  # the runtime's name of the choice
MESSAGE: Final = "message"
BY_RDMA: Final = ("rdma-put", "rdma-get")
OF_BUFFERS: Final = ("LULL_AGGREGATE", "LULL_AGGREGATE_HOPS", "LULL_AGGREGATE_BUFFER_BYTES")
NO_CHANGE: Final = (0.0, 0.0, 0.0)


class AccountOfAlternative(Protocol):
    """An alternative; costs are in ns per operation, and None if unknown."""

    @property
    def name(self) -> str:
        """The runtime's name of the alternative."""

    @property
    def predicted_ns(self) -> float | None:
        """Cost by the machine's constants alone."""

    @property
    def corrected_ns(self) -> float | None:
        """Cost with the corrections that the job measured."""

    @property
    def observed_ns(self) -> float | None:
        """Mean of the timed operations."""

    @property
    def operations(self) -> int:
        """Number of operations that took it."""


class AccountOfChoice(Protocol):
    """A choice made at run time."""

    @property
    def choice(self) -> str:
        """Name of the choice."""

    @property
    def where(self) -> str:
        """The operations concerned: "up to 4 KiB" means sizes from half of that to that."""

    @property
    def processes(self) -> int:
        """Number of processes in the sums."""

    @property
    def alternatives(self) -> Sequence[AccountOfAlternative]:
        """All alternatives."""


@dataclass(frozen=True)
class Fixed:
    """A setting, and the alternatives that it fixes for all operations of some choices."""

    of: str  # the choice, as named in advice
    name: str
    settings: Mapping[str, str]
    takes: Mapping[str, str]  # choice of the runtime -> its alternative
    from_bytes: int = 0  # smaller operations use messages

    def alternative(self, one: AccountOfChoice) -> str:
        """The alternative that operations of this account take."""
        return MESSAGE if (sizes_of(one) or self.from_bytes) < self.from_bytes else self.takes[one.choice]


FIXED: Final = (
    Fixed(REWRITTEN, "off", {"LULL_TRANSFORM": "off"}, {"coalesce": "alone", "copy-source": "wait"}),
    Fixed(REWRITTEN, "on", {"LULL_TRANSFORM": "on"}, {"coalesce": "coalesced", "copy-source": "copy"}),
    Fixed(RDMA, "off", {"LULL_RDMA": "off"}, dict.fromkeys(BY_RDMA, MESSAGE)),
    Fixed(AGGREGATION, "without the direct path", {"LULL_AGGREGATE_DIRECT": "0"}, {"direct": "buffers"}),
)


def fixed_choices(facts: Facts) -> tuple[list[Alternative], list[Unpredicted]]:
    """The effects of all settings that fix a choice that the runtime made in the run."""
    found: list[Alternative] = []
    unpredicted: list[Unpredicted] = []
    for fixed, told in _each(facts):
        if told is None:
            why = f"nothing is known of what {fixed.name} would cost: it was never taken, and the model has no figure"
            settings = " ".join(f"{name}={value}" for name, value in fixed.settings.items())
            unpredicted.append(
                Unpredicted(choice=fixed.of, why=why, measure=f"{settings} LULL_STATS=1 lull measure -- CMD")
            )
        elif told.seconds != NO_CHANGE:
            found.append(told)
    return found, unpredicted


def without_effect(facts: Facts, settings: Mapping[str, str]) -> bool:
    """Whether settings would change nothing: all operations took the fixed alternative, or no buffer was used."""
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
    """Every setting that fixes a choice of the run, with its effect if that is known."""
    for fixed in (*FIXED, *_routes(facts.choices)):
        if accounts := [one for one in facts.choices if one.choice in fixed.takes]:
            yield fixed, _alternative(fixed, accounts, facts)
    if best := _best_threshold(facts):
        yield best


def _best_threshold(facts: Facts) -> tuple[Fixed, Alternative] | None:
    """The best size from which the network carries out transfers, among the sizes in the run."""
    accounts = [one for one in facts.choices if one.choice in BY_RDMA]
    found: list[tuple[Fixed, Alternative]] = []
    for size in sorted({size for one in accounts if (size := sizes_of(one))}):
        settings = {"LULL_RDMA_BYTES": str(size)}
        fixed = Fixed(RDMA, f"from {size} bytes on", settings, dict.fromkeys(BY_RDMA, "rdma"), size)
        if told := _alternative(fixed, accounts, facts):
            found.append((fixed, told))
    return min(found, key=lambda one: one[1].seconds[1], default=None)


def sizes_of(one: AccountOfChoice) -> int:
    """The least size of an account's operations, in bytes; 0 for all sizes."""
    parts = re.fullmatch(r"up to (\d+) (B|KiB|MiB|GiB)", one.where)
    return 0 if parts is None else int(parts[1]) * 1024 ** ("B", "KiB", "MiB", "GiB").index(parts[2]) // 2


def _routes(choices: Sequence[AccountOfChoice]) -> list[Fixed]:
    """Every route in the accounts, such as "per-pe, 2 hops": kind of buffers and number of hops."""
    routes = []
    for name in _names(choices, ROUTE):
        if parts := re.fullmatch(r"(per-pe|per-node), ([123]) hops?", name):
            settings = {"LULL_AGGREGATE": parts[1], "LULL_AGGREGATE_HOPS": parts[2]}
            routes.append(Fixed(AGGREGATION, name, settings, {ROUTE: name}))
    return routes


def _names(choices: Sequence[AccountOfChoice], of: str) -> list[str]:
    return list(dict.fromkeys(other.name for one in choices if one.choice == of for other in one.alternatives))


def _alternative(fixed: Fixed, accounts: Sequence[AccountOfChoice], facts: Facts) -> Alternative | None:
    """The alternative; None if its cost is unknown for some of the operations that would take it."""
    mid, before = _change(fixed, accounts, _best), _change(fixed, accounts, _predicted)
    if mid is None:
        return None
    others = [] if before is None else [before]
    # An item costs CPU time, which takes longer if several PEs share a core.
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
            "this changes nothing if others wait as long anyway",
        ],
    )


def _joules(seconds: Band, facts: Facts) -> Band | None:
    """The change of energy at the power of the run."""
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
    """The additional seconds of a process; None if a relevant cost is unknown."""
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
    """The alternative that most operations took."""
    taken: dict[str, int] = {}
    for one in accounts:
        for other in one.alternatives:
            taken[other.name] = taken.get(other.name, 0) + other.operations
    return max(taken, key=lambda name: taken[name])
