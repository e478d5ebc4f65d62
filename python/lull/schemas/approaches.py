"""The output of `lull approaches`: the approaches to write a simulation's output, with their predicted costs."""

from __future__ import annotations

from lull.record import Model


class PredictedApproach(Model):
    """The prediction for one approach, for the whole simulation."""

    way: str  # the approach, as in LULL_STAGE
    seconds: float  # run time
    cpu_use: float  # of all cores, 0 to 1
    watts: float  # mean power of all nodes
    joules: float  # energy of all nodes
    stall_seconds_per_output: float  # time in which a process of the simulation does not compute
    write_seconds_per_output: float  # time to write one output


class PublishedCpuUse(Model):
    """CPU use that a publication reports, next to the prediction."""

    every: int  # steps between two outputs
    way: str  # the approach, as in LULL_STAGE
    paper: float  # what the publication reports, in percent
    predicted: float  # the prediction, in percent


class PublishedClaim(Model):
    """A statement of a publication, tested by the prediction."""

    says: str  # the statement
    holds: bool  # whether the prediction confirms it
    predicted_pct: float  # predicted change
    paper_pct: float | None  # change that the publication reports; null: no number


class OutputAdvice(Model):
    """Every approach, the best first, and what a publication reports."""

    objective: str  # what is minimized: time, energy or edp
    simulation_is_assumed: bool  # whether nothing is known of the simulation, so that only ratios count
    ways: list[PredictedApproach]  # the best first


class OutputAdviceOfSite(OutputAdvice):
    """The same for a site of a publication."""

    cpu_use_pct: list[PublishedCpuUse]  # one for each reported value
    claims: list[PublishedClaim]  # one for each statement
