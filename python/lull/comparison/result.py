"""The result of a comparison, which is shown, drawn and written as JSON. `lull.comparison.compare` computes it.

Every ratio is the baseline's figure over the candidate's, so that the candidate is better above 1. The exception is
Powerup, the candidate's mean power over the baseline's.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from lull.record import EnergyKind, Model
from lull.statistics import bootstrap
from lull.statistics.bootstrap import Interval, Spread

SCHEMA: Final = 1


class WireEnergy(Model):
    """Energy on the wire, medians over the repeats. If a meter covers the network, the node total includes it."""

    joules: float  # energy on the wire
    kind: EnergyKind  # kind of this energy
    bytes: float  # sent and received, summed over the endpoints
    node_j_per_mb: float  # node energy per MB of these bytes
    node_kind: EnergyKind  # kind of the node energy
    node_and_wire_j: float | None  # only if the node total is a sum of parts without the network interface
    node_and_wire_kind: EnergyKind | None  # the weaker of both kinds


class Moved(Model):
    """Energy per megabyte moved (1 MB is 10^6 bytes)."""

    basis: str  # what is counted: `wire bytes, sent and received`, or the metric that divides
    mb: float  # median per run, or per unit of the metric
    j_per_mb: Spread  # node energy per megabyte


class DynamicEnergy(Model):
    """Energy above idle: the node energy minus idle power times time."""

    idle_w: float  # idle power of all nodes
    idle_seconds: float  # length of the measurement of idle power
    kind: EnergyKind  # the weaker of the kinds of the energy and of the idle power
    joules: Spread  # energy above idle of a run
    low_j: float  # lower end of the systematic band of the median
    high_j: float  # upper end of this band


class SideOfComparison(Model):
    """One of the two records."""

    label: str  # label of the record
    runs: int  # successful runs
    failed: int  # failed runs, left out
    time_s: Spread  # run times
    energy_j: Spread  # energies of the runs
    power_w: Spread  # mean powers of the runs
    edp_js: Spread  # energy times time
    ed2p_js2: Spread  # energy times time squared
    energy_low_j: float  # lower end of the sensor's systematic band of the median energy
    energy_high_j: float  # upper end of this band
    kind: EnergyKind  # kind of the energy
    scope: str  # what the energy covers, and its sources
    moved: Moved | None  # null if no bytes are known
    dynamic: DynamicEnergy | None  # null if the record has no idle power of its nodes
    wire: WireEnergy | None  # null if no bytes on a wire were counted


class RankTests(Model):
    """Two-sided p of a rank test, adjusted by Holm's method over both quantities and all pairs of a page."""

    method: Literal["Mann-Whitney", "signed-rank"] = "Mann-Whitney"  # the latter, Wilcoxon's, compares round by round
    time_p: float  # p-value of the run times
    energy_p: float  # p-value of the energies


class Shifts(Model):
    """Hodges-Lehmann shift from baseline to candidate, with the interval that corresponds to the rank test."""

    time_s: Interval  # shift of the run time
    energy_j: Interval  # shift of the energy


class SensorBand(Model):
    """The range of Greenup that the sensors' own errors allow. More runs do not narrow it."""

    cancels: bool  # whether the errors largely cancel: the same nodes, read by the same channels, on both sides
    greenup_low: float  # with the full errors of the sensor in opposite directions on both sides
    greenup_high: float | None  # null if the sensor may have missed all of the candidate's energy


class Comparison(Model):
    """The result of comparing two records. All ratios but `powerup` are baseline over candidate."""

    baseline: SideOfComparison  # the record that all are compared with
    candidate: SideOfComparison  # the other record
    quantity: str  # what is compared: a run, a region, or a unit of work
    in_rounds: bool  # both sides ran in turn, and whole rounds are resampled for the intervals
    pairs: int | None  # rounds in which both sides succeeded, which ratios and tests use; null if not `in_rounds`
    speedup: Interval  # ratio of times
    greenup: Interval  # ratio of energies
    powerup: Interval  # speedup / greenup: candidate's power over baseline's
    edp_ratio: Interval  # ratio of energy times time
    ed2p_ratio: Interval  # ratio of energy times time squared
    j_per_mb_ratio: Interval | None  # null if a side has no bytes, or the sides count different ones
    dynamic_greenup: Interval | None  # Greenup of the energy above idle; null without an idle power on both sides
    time_reduction: Interval  # the share of time saved: 1 - 1 / speedup
    energy_reduction: Interval  # the share of energy saved: 1 - 1 / greenup
    sensor: SensorBand  # the range that errors of the sensors allow
    rank_tests: RankTests  # tests of a difference
    hodges_lehmann: Shifts  # shifts from baseline to candidate
    category: int | None  # number of the GPS-UP category, 1 to 8; null if there is none
    outcome: str  # the category in words, or why there is none: neutral, undecided, too few runs ...
    saves: bool | None  # whether energy is saved; null if it is the same or undecided
    verdict: str  # the result in one sentence
    kind: EnergyKind  # the weaker of both kinds of energy
    seed: int  # seed of the resampling
    resamples: int = bootstrap.RESAMPLES  # number of resamples
    delta: float  # ratios within 1 +- delta are no difference
    warnings: list[str]  # what limits the comparison, a sentence each


class Marginal(Model):
    """The energy of one more megabyte: the slope of energy over bytes, across the records of a sweep."""

    factor: str  # the factor in which the records differ
    basis: str  # what is counted, as in `Moved`
    records: int  # number of records
    runs: int  # number of runs of all records
    least_mb: float  # the least and the most that a record moves
    most_mb: float  # the greatest number of megabytes that a record moves
    j_per_mb: Interval  # energy of one more megabyte
    without_j: float  # energy of a run that moves nothing, from the same line
    kind: EnergyKind  # kind of the energy


class ConditionFinding(Model):
    """One condition of `--fail-if`, tested for one candidate."""

    condition: str  # the condition, as in `--fail-if`
    candidate: str  # label of the candidate
    value: float  # the figure that the condition limits
    low: float | None  # lower end of its interval; null without one
    high: float | None  # upper end of its interval; null without one
    met: bool  # whether the condition holds
    decided: bool  # false if too few runs give no interval


class Comparisons(Model):
    """The output of `lull compare --format json`: every candidate compared with one baseline."""

    schema_version: Literal[1] = Field(default=SCHEMA, alias="schema")  # version of this form
    lull_version: str  # version of Lull that compared
    baseline: str  # label of the baseline
    comparisons: list[Comparison]  # one for each candidate
    marginal: Marginal | None = None  # null unless the records are a sweep of the bytes moved
    conditions: list[ConditionFinding]  # one for each `--fail-if` and candidate
