"""The caveats of a comparison, each as one sentence."""

from __future__ import annotations

from lull.comparison.quantity import Quantity
from lull.comparison.result import RankTests
from lull.record import Domain, EnergyKind, Host
from lull.record.notes import notes
from lull.statistics import bootstrap, formatting
from lull.statistics.gpsup import Outcome, Side, side_of_one

EDGE_ERROR = 0.01  # a slow sensor is reported if it alone may falsify the energy by more than this share
LEVEL = 1 - bootstrap.CONFIDENCE


def caveats(
    first: Quantity,
    second: Quantity,
    outcome: Outcome | None,
    ratios: tuple[bootstrap.Interval, bootstrap.Interval],
    tests: RankTests,
    pairs: int | None,
) -> list[str]:
    """All caveats of the comparison, the most serious first.

    Args:
        first: The baseline, with all its runs.
        second: The candidate.
        outcome: The outcome; None if the runs are too few.
        ratios: Speedup and Greenup.
        tests: The rank tests.
        pairs: Number of rounds that both sides have; None if their runs are not paired.
    """
    return [
        *_regions(first, second),
        *_runs(first, second, outcome, pairs),
        *_pairs(first, second, pairs),
        *_kinds(first, second),
        *_tests(outcome, ratios, tests),
        *(line for side in _apart(first, second) for line in (*_sensor(side), *_faults(side), *_notes(side))),
        *_idle(first, second),
        *_hosts(first, second),
        *_order(first, second),
    ]


def _apart(first: Quantity, second: Quantity) -> list[Quantity]:
    """Both sides, or one if a record is compared with itself."""
    return [first] if first.run is second.run else [first, second]


def _regions(first: Quantity, second: Quantity) -> list[str]:
    """A caveat if whole runs are compared although both programs mark the same region."""
    marked = [{region.name for repeat in side.run.succeeded for region in repeat.regions} for side in (first, second)]
    both = sorted(marked[0] & marked[1])
    if not both or first.words.startswith("region"):
        return []
    return [f"these are whole runs, start and end included; compare with --region {both[0]} for that part alone"]


def _runs(first: Quantity, second: Quantity, outcome: Outcome | None, pairs: int | None) -> list[str]:
    lines = []
    here, there = (pairs or len(side.samples) for side in (first, second))
    if outcome is None:
        p = bootstrap.smallest_p(here, there)
        hopeless = f"; {here} and {there} runs can never reach less than p = {p:.2g}" if p >= LEVEL else ""
        lines.append(
            f"no interval: at least {bootstrap.runs_for_interval()} runs of each are needed for one,"
            f" {bootstrap.RUNS_ADVISED} are recommended{hopeless}"
        )
    elif min(here, there) < bootstrap.RUNS_ADVISED:
        lines.append(
            f"{here} and {there} runs detect only large differences: {bootstrap.RUNS_ADVISED} of each are recommended"
        )
    for side in _apart(first, second):
        if side.failed:
            repeats = ", ".join(str(index + 1) for index in side.failed)
            lines.append(
                f"{side.run.label}: {formatting.count(len(side.failed), 'failed repeat')} left out (number {repeats})"
            )
    return lines


def in_turn(first: Quantity, second: Quantity) -> bool:
    """Whether both sides ran in turn, so that runs of the same round belong together."""
    return first.run is not second.run and first.run.series != "" and first.run.series == second.run.series


def _pairs(first: Quantity, second: Quantity, pairs: int | None) -> list[str]:
    """How many pairs are used, where sides that ran in turn have different rounds."""
    runs = " and ".join(f"{formatting.count(len(side.samples), 'run')} of {side.run.label}" for side in (first, second))
    if pairs is None:
        few = "too few of their rounds succeeded on both sides, so they are compared unpaired"
        return [f"{runs} ran in turn, but {few}"] if in_turn(first, second) else []
    if pairs == len(first.samples) == len(second.samples):
        return []
    return [f"ratios are of {formatting.count(pairs, 'pair')}, the rounds in which both succeeded, out of {runs}"]


def _kinds(first: Quantity, second: Quantity) -> list[str]:
    lines = []
    kinds = {sample.kind for side in (first, second) for sample in side.samples}
    if len(kinds) > 1:
        words = ", ".join(kind.value for kind in EnergyKind if kind in kinds)
        lines.append(
            f"energies of different kinds are compared ({words}): the methods may cause part of the difference"
        )
    elif kinds & {EnergyKind.ESTIMATED, EnergyKind.SIMULATED}:
        word = next(iter(kinds)).value
        lines.append(f"all energy here is {word}: a difference follows from the model's inputs, not from a meter")
    if all(part.domain is Domain.GPU for side in (first, second) for sample in side.samples for part in sample.parts):
        lines.append("the energy is that of the GPUs alone: no meter covered the rest of the nodes")
    if first.scopes != second.scopes:
        lines.append(
            f"the energies cover different parts: {' and '.join(first.scopes)} in {first.run.label},"
            f" {' and '.join(second.scopes)} in {second.run.label}"
        )
    return lines


def _tests(
    outcome: Outcome | None, ratios: tuple[bootstrap.Interval, bootstrap.Interval], tests: RankTests
) -> list[str]:
    if outcome is None:
        return []
    found = zip(("time", "energy"), (outcome.speed, outcome.green), ratios, (tests.time_p, tests.energy_p), strict=True)
    return [
        f"the rank test does not confirm the difference in {what} (p = {formatting.probability(p)}): it is undecided"
        for what, side, ratio, p in found
        if side is Side.UNDECIDED and side_of_one(ratio) in (Side.ABOVE, Side.BELOW) and p >= LEVEL
    ]


def _sensor(side: Quantity) -> list[str]:
    slowest = max(side.channels, key=lambda channel: channel.interval_s, default=None)
    if slowest is None or side.typical_time_s <= 0:
        return []
    error = 2 * slowest.interval_s / side.typical_time_s
    if error <= EDGE_ERROR:
        return []
    return [
        f"{side.run.label}: {slowest.source} changes only every {formatting.si(slowest.interval_s, 's')}, and"
        f" each measurement lasted {formatting.si(side.typical_time_s, 's')}: the energy may be off by"
        f" {formatting.percent(min(error, 1.0))}"
    ]


def _faults(side: Quantity) -> list[str]:
    parts = [part for sample in side.samples for part in sample.parts]
    name = side.run.label
    lines = []
    if any(part.lower_bound for part in parts):
        lines.append(f"{name}: a reset hid part of the energy; it is at least what is shown")
    unread = sorted({node for sample in side.samples for node in sample.unread_nodes})
    if unread:
        lines.append(f"{name}: no energy of {', '.join(unread)}; the sum is at least what is shown")
    counted = [
        formatting.count(number, noun)
        for noun, number in (("gap", sum(p.gaps for p in parts)), ("reset", sum(p.resets for p in parts)))
        if number
    ]
    if counted:
        lines.append(f"{name}: {' and '.join(counted)} in the counters' readings")
    return lines


def _notes(side: Quantity) -> list[str]:
    return [f"{side.run.label}: {line}" for line in notes(side.run)]


def _idle(first: Quantity, second: Quantity) -> list[str]:
    """Why the energies above idle cannot be compared, if a side has an idle power."""
    sides = _apart(first, second)
    known = [side for side in sides if all(sample.idle is not None for sample in side.samples)]
    if not any(side.run.idle for side in sides):
        return []
    unknown = [side.run.label for side in sides if side not in known]
    lines = []
    if unknown:
        lines.append(f"no idle power for {' and '.join(unknown)}: energy above idle is not computed there")
    lines += [
        f"{side.run.label}: a run takes no more energy than an idle node; there is no ratio of energies above idle"
        for side in known
        if any((sample.dynamic_j or 0.0) <= 0 for sample in side.samples)
    ]
    return lines


def _hosts(first: Quantity, second: Quantity) -> list[str]:
    def machine(host: Host) -> tuple[str, str, int]:
        return host.node, host.processor, host.cores

    here, there = ({machine(host) for host in side.run.hosts} for side in (first, second))
    if here == there:
        return []
    words = [", ".join(sorted({host[0] for host in hosts})) or "unknown" for hosts in (here - there, there - here)]
    if not here - there or not there - here:
        return [f"the hosts differ: {len(here)} in {first.run.label}, {len(there)} in {second.run.label}"]
    return [f"the hosts differ ({words[0]}; {words[1]}): the machines may cause part of the difference"]


def _order(first: Quantity, second: Quantity) -> list[str]:
    started = [[repeat.started for repeat in side.run.succeeded] for side in (first, second)]
    if first.run is second.run or not all(started):
        return []
    if max(started[0]) < min(started[1]) or max(started[1]) < min(started[0]):
        return [
            "all runs of one side preceded the other side's: a drift of the machine would look the same; alternate them"
        ]
    return []
