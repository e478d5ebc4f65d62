"""What comparing records gives, as it is shown, written as JSON and drawn. `lull.comparison.compare` computes it.

Every ratio is the baseline's figure over the candidate's, so that above 1 the candidate is better; Powerup alone is the
candidate's mean power over the baseline's.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from lull.record import EnergyKind, Model
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Interval, Spread

SCHEMA: Final = 1


class WireEnergy(Model):
    """Energy on the wire, medians over the repeats. Already inside the node total where a meter covers the network."""

    joules: float
    kind: EnergyKind
    bytes: float  # sent and received, summed over the endpoints
    node_j_per_mb: float  # node energy per MB of these bytes
    node_kind: EnergyKind
    node_and_wire_j: float | None  # only where the node total is a sum of parts without the network interface
    node_and_wire_kind: EnergyKind | None


class Moved(Model):
    """Energy per megabyte moved (1 MB is 10^6 bytes)."""

    basis: str  # whose bytes: `wire bytes, sent and received`, or the metric the runs are compared by
    mb: float  # per run, or per unit of the metric: the median
    j_per_mb: Spread


class DynamicEnergy(Model):
    """Energy above idle: the node energy minus idle power times time."""

    idle_w: float
    idle_seconds: float  # how long the idle power was measured
    kind: EnergyKind  # the weakest of the energy's and of the idle power's
    joules: Spread
    low_j: float  # systematic band of the median
    high_j: float


class SideOfComparison(Model):
    """One of the two records."""

    label: str
    runs: int  # that count
    failed: int  # left out
    time_s: Spread
    energy_j: Spread
    power_w: Spread
    edp_js: Spread
    ed2p_js2: Spread
    energy_low_j: float  # systematic band of the median energy: the sensor's, not the runs'
    energy_high_j: float
    kind: EnergyKind
    scope: str  # what the energy covers and by which sources
    moved: Moved | None  # null where no bytes are known
    dynamic: DynamicEnergy | None  # null where the record has no idle power of its nodes
    wire: WireEnergy | None


class RankTests(Model):
    """Two-sided p of Mann-Whitney's test, adjusted by Holm for testing both, and all candidates."""

    time_p: float
    energy_p: float


class Shifts(Model):
    """Hodges-Lehmann shift from baseline to candidate, with the interval that belongs to the rank test."""

    time_s: Interval
    energy_j: Interval


class SensorBand(Model):
    """What the sensors' own errors could make of Greenup. More runs do not narrow it."""

    cancels: bool  # whether it largely cancels: the same nodes, read by the same channels, on both sides
    greenup_low: float  # if the sensor erred fully one way in the baseline and the other way in the candidate
    greenup_high: float | None  # null where the sensor could have missed all of the candidate's energy


class Comparison(Model):
    """What comparing two records gave. All ratios but `powerup` are baseline over candidate."""

    baseline: SideOfComparison
    candidate: SideOfComparison
    quantity: str
    speedup: Interval
    greenup: Interval
    powerup: Interval  # speedup / greenup: candidate's power over baseline's
    edp_ratio: Interval
    ed2p_ratio: Interval
    j_per_mb_ratio: Interval | None  # null where a side has no bytes, or both have different ones
    dynamic_greenup: Interval | None  # of the energy above idle; null without an idle power of both sides
    time_reduction: Interval  # the share of time saved: 1 - 1 / speedup
    energy_reduction: Interval  # likewise of energy: 1 - 1 / greenup
    sensor: SensorBand
    mann_whitney: RankTests
    hodges_lehmann: Shifts
    category: int | None
    outcome: str  # the category in words, or what stands in its place: neutral, undecided, too few runs ...
    saves: bool | None  # whether energy is saved; null where it stays the same or cannot be told
    verdict: str
    kind: EnergyKind
    seed: int
    resamples: int = bootstrap.RESAMPLES
    delta: float  # how close to 1 a ratio is no difference
    warnings: list[str]


class Marginal(Model):
    """What one more megabyte costs: the slope of energy over bytes, across the records of a sweep."""

    factor: str  # the one in which the records differ
    basis: str  # whose bytes, as in `Moved`
    records: int
    runs: int  # of all records together
    least_mb: float  # bytes of the record that moves the fewest, and of the one that moves the most
    most_mb: float
    j_per_mb: Interval
    without_j: float  # energy of a run that moves nothing, by the same line
    kind: EnergyKind


class ConditionFinding(Model):
    """One condition of `--fail-if`, looked up for one candidate."""

    condition: str
    candidate: str
    value: float
    low: float | None
    high: float | None
    met: bool
    decided: bool  # false where there is no interval to decide it by: too few runs


class Comparisons(Model):
    """What `lull compare --json` prints: every candidate against one baseline."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")
    lull_version: str
    baseline: str
    comparisons: list[Comparison]
    marginal: Marginal | None = None  # null unless the records are a sweep of the bytes moved
    conditions: list[ConditionFinding]  # one for each `--fail-if` and candidate
