"""One link against theory: an M/D/1 queue whose first packet after a pause waits for the link to wake (Welch 1964).

Two nodes at one switch send each other messages of one packet, created by Poisson processes: the link of each node is
such a queue, whatever the rest of the network does.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import lull
from lull.simulation.account import figures_of
from lull.simulation.describe import sampling
from lull.simulation.result import Result

PACKET_S = 4096 / 12.5e9
SLEEP_S, DEEP_S, FAST_S = 1.1e-6, 5.5e-6, 0.34e-6


MESSAGES = 200_000  # of both links


def scatter(load: float, share: float) -> float:
    """Three standard deviations of a share of time that consists of exponential pieces of mean 1 / rate, and a little
    more.

    It varies with the number of pieces, and with the idle time as a whole, like the number of messages.
    """
    pieces = share * MESSAGES
    return 0.01 + 3 * (math.sqrt(2 / pieces) + load / (1 - load) / math.sqrt(MESSAGES))


def injection(load: float, power: dict[str, object]) -> dict[str, float]:
    """The share of time that the links from nodes spend in each low-power state."""
    result = lull.simulate(
        {
            "end": MESSAGES / 2 * PACKET_S / load,  # cut off, so that no finished link sleeps while the other continues
            "topology": {"name": "hyperx", "dimensions": [1], "nodes_per_switch": 2},
            "power": {"refresh_time": 0, **power} if power["mode"] != "fast-wake" else power,
            "jobs": [{"message": 4096, "messages": 0, "load": load}],
        },
        baseline=False,
    ).result
    assert result is not None
    chosen = result.links.kind == 0
    return {
        "deep": float(np.mean(result.links.deep_sleep_s[chosen]) / result.simulated_s),
        "fast": float(np.mean(result.links.fast_wake_s[chosen]) / result.simulated_s),
    }


@pytest.mark.parametrize("load", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("hold", [0, 1.1e-6])
def test_deep_sleep_lasts_as_long_as_theory_says(load, hold):
    seen = injection(load, {"mode": "deep-sleep", "hold": hold})
    rate = load / PACKET_S
    waking = math.exp(-rate * hold) * DEEP_S
    expected = math.exp(-rate * (hold + SLEEP_S)) * (1 - load) / (1 + rate * waking)
    assert seen["deep"] == pytest.approx(expected, rel=scatter(load, expected))


@pytest.mark.parametrize("load", [0.01, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("hold", [0, 1.1e-6])
def test_fast_wake_lasts_as_long_as_theory_says(load, hold):
    seen = injection(load, {"mode": "fast-wake", "hold": hold})
    rate = load / PACKET_S
    waking = math.exp(-rate * hold) * FAST_S
    expected = math.exp(-rate * hold) * (1 - load) / (1 + rate * waking)
    assert seen["fast"] == pytest.approx(expected, rel=scatter(load, expected))


@pytest.mark.parametrize("load", [0.01, 0.1, 0.3])
def test_hybrid_shares_the_pause_between_fast_wake_and_deep_sleep(load):
    hold = 1.1e-6
    seen = injection(load, {"mode": "hybrid", "hold": hold})
    rate = load / PACKET_S
    past_hold, past_fast = math.exp(-rate * hold), math.exp(-rate * 2 * hold)
    waking = (past_hold - past_fast) * FAST_S + past_fast * DEEP_S
    per_cycle = rate * (1 - load) / (1 + rate * waking)
    fast = (past_hold - past_fast) / rate * per_cycle
    deep = math.exp(-rate * (2 * hold + SLEEP_S)) / rate * per_cycle
    assert seen["fast"] == pytest.approx(fast, rel=scatter(load, fast))
    assert seen["deep"] == pytest.approx(deep, rel=scatter(load, deep))


def together(power: dict[str, object]) -> Result:
    found = lull.simulate(
        {
            "together": True,
            "topology": {"name": "fat-tree", "radix": 4},
            "power": power,
            "jobs": [
                {"name": "long", "pattern": "minife", "processes": 8, "steps": 30, "elements": [96, 96, 96]},
                {"name": "short", "pattern": "miniamr", "processes": 8, "steps": 1, "step_time": "100 us"},
            ],
        }
    ).result
    assert found is not None
    return found


def test_jobs_that_run_together_are_compared_run_by_run():
    found = together({"mode": "deep-sleep", "hold": 0})
    assert found.active is not None
    for job, active in zip(found.jobs, found.active.jobs, strict=True):
        assert job.ended_s == found.simulated_s  # it used the network until the end
        assert job.runs >= 1
        assert job.run_time_s == pytest.approx(job.run_ends_s[-1] / job.runs)
        runs = min(job.runs, active.runs)
        assert job.slowdown == pytest.approx(job.run_ends_s[runs - 1] / active.run_ends_s[runs - 1] - 1)
        assert job.slowdown > 0
    long, short = found.jobs
    assert long.runs == 1
    assert short.runs > 1
    assert found.active.jobs[1].runs > short.runs  # links that sleep make its runs longer
    account = figures_of(found).jobs
    assert [len(job.run_ends_s) for job in account] == [long.runs, short.runs]


def test_a_sample_tells_the_run_time_and_the_power_of_the_whole():
    description = {
        "topology": {"name": "fat-tree", "radix": 8},
        "power": {"mode": "deep-sleep", "hold": "1 Ts"},
        "jobs": [{"pattern": "minife", "processes": 64, "mapping": "random", "steps": 100}],
    }
    whole = lull.simulate(description)
    part = lull.simulate({**description, "sample": {"units": 2}})
    assert whole.result is not None
    assert part.result is not None
    assert whole.result.sampled is None
    assert part.result.sampled is not None
    assert part.result.sampled.share < 0.1
    assert part.result.sampled.units == (3, 101)
    assert part.result.sampled.packet_hops == pytest.approx(whole.result.packet_hops, rel=0.01)
    assert part.seconds == pytest.approx(whole.seconds, rel=0.005)
    assert part.slowdown == pytest.approx(whole.slowdown, abs=0.01)
    assert part.power.saved == pytest.approx(whole.power.saved, abs=0.0005)
    assert part.result.network_power.saved == pytest.approx(whole.result.network_power.saved, abs=0.0005)
    assert "sampled: run times and power are estimates of the whole" in sampling(part.result.sampled)
    account = figures_of(part.result)
    assert account.sampled is not None
    assert account.sampled.units == 101
    assert account.jobs[0].run_time_s == part.result.jobs[0].run_time_s
    assert account.jobs[0].runs == 1
    assert account.jobs[0].time is not None
    assert whole.result.jobs[0].time is not None
    assert account.jobs[0].time.computing_s == pytest.approx(whole.result.jobs[0].time.computing_s)
    assert account.jobs[0].time.sending_s == pytest.approx(whole.result.jobs[0].time.sending_s, rel=0.1)
    use = account.throughput * part.result.sampled.simulated_s * 64
    assert use == pytest.approx(part.result.bytes_delivered)  # of the part, not of the whole
    assert account.jobs[0].ended_s == pytest.approx(part.seconds)
