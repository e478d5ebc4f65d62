"""The quantities of a comparison: time and energy of every repeat or of a region, optionally per unit of work.

The energy of a repeat is that of its nodes, counted once: the record's node totals if it has them, otherwise those of
`lull.record.totals`. Energy on the wire is kept separately and never added to it here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median

from lull.base.errors import LullError
from lull.comparison.bytes_moved import bytes_of, bytes_per_unit
from lull.record import Channel, Domain, Energy, EnergyKind, Repeat, Run, weakest
from lull.record.idle_power import IdleOfNodes, IdlePowers
from lull.record.totals import PARTS, add, node_totals
from lull.statistics import formatting


@dataclass(frozen=True)
class Wire:
    """The octets that crossed the network in one repeat, counted at the endpoints: sent and received, of every node."""

    joules: float
    bytes: int
    kind: EnergyKind


@dataclass(frozen=True)
class Sample:
    """One measured repeat: time, node energy with its systematic band, and the wire."""

    index: int
    time_s: float
    energy_j: float
    low_j: float
    high_j: float
    kind: EnergyKind
    cpu_s: float
    visits: int  # number of windows over which the energy was read; each has edges that a slow sensor may miss
    parts: tuple[Energy, ...]
    wire: Wire | None
    work: float = 1.0  # the divisor of time and energy in a comparison
    moved_bytes: float | None = None  # not divided by the work
    idle: IdleOfNodes | None = None  # idle power of the nodes of `energy_j`
    unread_nodes: tuple[str, ...] = ()  # hosts of the run without a total, whose energy is missing in the sum

    @property
    def dynamic_j(self) -> float | None:
        """Energy above idle, in joules; None without an idle power of every node."""
        return None if self.idle is None else self.energy_j - self.idle.watts * self.time_s


@dataclass(frozen=True)
class Quantity:
    """The samples of one record, without failed repeats."""

    run: Run
    words: str
    samples: tuple[Sample, ...]
    failed: tuple[int, ...] = ()
    moved: str = ""  # what `moved_bytes` counts, in words; empty if there are none
    per_unit: str = ""  # unit of the metric that divides

    @property
    def rows(self) -> list[tuple[float, float]]:
        """Time and energy of each repeat, per unit of work; the bootstrap resamples whole rows."""
        return [(sample.time_s / sample.work, sample.energy_j / sample.work) for sample in self.samples]

    @property
    def kind(self) -> EnergyKind:
        """The weakest kind among the repeats."""
        return weakest([sample.kind for sample in self.samples])

    @property
    def scopes(self) -> tuple[str, ...]:
        """The parts of the node total, e.g. `package + dram`; names of channels if the whole node is metered."""
        return tuple(sorted({part.channel for sample in self.samples for part in sample.parts}))

    @property
    def channels(self) -> tuple[Channel, ...]:
        """The channels that the node total consists of."""
        wanted = {name for scope in self.scopes for name in scope.split(" + ")}
        return tuple(
            channel
            for channel in self.run.channels
            if channel.name in wanted or (channel.domain in PARTS and channel.domain.value in wanted)
        )

    @property
    def covers_network(self) -> bool:
        """Whether the total may already include the network interface: true for everything but a sum of parts."""
        domains = {domain.value for domain in PARTS}
        return not all(set(scope.split(" + ")) <= domains for scope in self.scopes)

    @property
    def typical_time_s(self) -> float:
        """Median time of one visit, in seconds, not divided by work."""
        return median(sample.time_s / sample.visits for sample in self.samples)


def quantity(run: Run, *, region: str | None = None, per: str | None = None) -> Quantity:
    """Time and energy of each successful repeat of `run`.

    Args:
        run: The record.
        region: Take the time and energy of this region instead of the whole repeat.
        per: Divide both by this metric of the repeat, so that runs with different amounts of work can be compared.

    Raises:
        LullError: No repeat succeeded, there is no such region or metric, or there is no node energy.
    """
    asked = f"compare {run.label}"
    good = run.succeeded
    if not good:
        repeats = formatting.count(len(run.repeats), "repeat")
        found = f"none of its {repeats} succeeded" if run.repeats else "it has no repeats"
        raise LullError(asked, found, "look at what the command printed, and measure again")
    units = {repeat.metrics[per].unit for repeat in good if per in repeat.metrics} if per is not None else set()
    if len(units) > 1:
        found = "its repeats give it in " + " and in ".join(f"'{unit}'" for unit in sorted(units))
        raise LullError(f"{asked} per {per}", found, "compare repeats of one program")
    samples: list[Sample] = []
    idle = IdlePowers(run.idle)
    for repeat in good:
        sample = _of_region(asked, repeat, region) if region is not None else _of_repeat(asked, repeat)
        if sample.time_s <= 0 or sample.energy_j <= 0:
            what, unit = ("time", "s") if sample.time_s <= 0 else ("energy", "J")
            raise LullError(
                asked,
                f"repeat {repeat.index + 1} took 0 {unit} of {what}" + (f" in region {region}" if region else ""),
                "make it longer: the clock or the sensor saw nothing in it",
            )
        unread = {host.node for host in run.hosts} - {part.node for part in sample.parts}
        samples.append(
            replace(
                sample,
                work=_work(asked, repeat, per),
                moved_bytes=_moved_bytes(repeat, per, sample.wire),
                idle=idle.of(sample.parts),
                unread_nodes=tuple(sorted(unread)),
            )
        )
    words = f"region {region}" if region is not None else "whole runs"
    return Quantity(
        run,
        f"{words}, {formatting.per(per)}" if per is not None else words,
        tuple(samples),
        tuple(repeat.index for repeat in run.repeats if repeat.exit_code != 0),
        _moved_words(good, samples, per),
        next(iter(units), ""),
    )


def _moved_bytes(repeat: Repeat, per: str | None, wire: Wire | None) -> float | None:
    """Bytes that a repeat moved: the value of the metric `per` if that counts bytes, otherwise those of the wire."""
    if per is not None and bytes_per_unit(repeat.metrics[per].unit) is not None:
        return bytes_of(repeat.metrics[per])
    return wire.bytes if wire is not None and wire.bytes > 0 else None


def _moved_words(good: list[Repeat], samples: list[Sample], per: str | None) -> str:
    if any(sample.moved_bytes is None for sample in samples):
        return ""
    by_metric = per is not None and bytes_per_unit(good[0].metrics[per].unit) is not None
    return f"metric {per}" if by_metric else "wire bytes, sent and received"


TOTALS = (Domain.NODE, Domain.GPU)  # GPU if only accelerators are metered


def nodes_of(energies: list[Energy]) -> list[Energy]:
    """The node totals that `node_totals` computes from `energies`, without the wire."""
    return [total for total in node_totals(energies) if total.domain in TOTALS]


def _of_repeat(asked: str, repeat: Repeat) -> Sample:
    totals = [energy for energy in repeat.totals if energy.domain in TOTALS] or nodes_of(repeat.energy)
    wire = [e for e in repeat.totals if e.domain is Domain.WIRE] or [
        e for e in repeat.energy if e.domain is Domain.WIRE
    ]
    if not totals and wire and all(energy.kind is EnergyKind.SIMULATED for energy in wire):
        totals, wire = wire, []  # a simulated network consists of links only
    return _sample(asked, repeat.index, repeat.wall_s, repeat.cpu_s, 1, totals, wire)


def _of_region(asked: str, repeat: Repeat, name: str) -> Sample:
    for region in repeat.regions:
        if region.name == name:
            wire = [energy for energy in region.energy if energy.domain is Domain.WIRE]
            energies = nodes_of(region.energy)
            return _sample(asked, repeat.index, region.wall_s, region.cpu_s, region.count, energies, wire)
    there = ", ".join(region.name for region in repeat.regions) or "none"
    raise LullError(asked, f"repeat {repeat.index + 1} has no region {name!r}", f"there are: {there}")


def _sample(
    asked: str, index: int, time_s: float, cpu_s: float, visits: int, totals: list[Energy], wire: list[Energy]
) -> Sample:
    if not totals:
        raise LullError(
            asked,
            f"repeat {index + 1} has no energy of its node",
            "see what is readable with lull sources, measure again",
        )
    whole = add(totals, totals[0].domain, "nodes")
    crossed = add(wire, Domain.WIRE, "wire") if wire else None
    return Sample(
        index=index,
        time_s=time_s,
        energy_j=whole.joules,
        low_j=whole.low_j,
        high_j=whole.high_j,
        kind=whole.kind,
        cpu_s=cpu_s,
        visits=visits,
        parts=tuple(totals),
        wire=None if crossed is None else Wire(crossed.joules, crossed.bytes or 0, crossed.kind),
    )


def _work(asked: str, repeat: Repeat, per: str | None) -> float:
    if per is None:
        return 1.0
    if per not in repeat.metrics:
        there = ", ".join(repeat.metrics) or "none"
        raise LullError(asked, f"repeat {repeat.index + 1} has no metric {per!r}", f"there are: {there}")
    value = repeat.metrics[per].value
    if value <= 0:
        raise LullError(
            asked, f"metric {per} of repeat {repeat.index + 1} is {value:g}", "divide by one that is positive"
        )
    return value
