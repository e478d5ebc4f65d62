"""Parts of nodes become one record: clocks that differ, names that are equal, energy that is counted once."""

import pyarrow as pa
import pytest

from lull.job.node import clock_error_s, take_anchor
from lull.record import SAMPLES_SCHEMA, Combination, Metric, Rank, Run
from lull.record.merging import merge, ranges
from lull.record.part import Anchor, NodePart, NodeRecord
from records import repeat, run, samples, waiting, with_waiting

S = 1_000_000_000


def anchor(monotonic_s: float, realtime_s: float) -> Anchor:
    return Anchor(monotonic_ns=int(monotonic_s * S), realtime_ns=int(realtime_s * S), width_ns=1000)


def part(
    node: str,
    ranks: tuple[int, ...],
    *,
    boot: str | None = None,
    zero_s: float = 100,
    realtime_s: float = 5000,
    wall_s: float = 10,
    joules: float = 1000,
    error_s: float | None = 0.001,
    exit_code: int = 0,
    stopped: tuple[int, ...] = (),
) -> NodeRecord:
    """A node whose ranks began at `zero_s` of its own clock, which is `realtime_s` of the global clock."""
    base = run(times=[wall_s], powers=[joules / wall_s], nodes=(node,), regions={"u": 0.5}, metrics={"m": 3.0})
    one = repeat(0, wall_s, joules, nodes=(node,), regions={"u": 0.5}, metrics={"m": 3.0}, exit_code=exit_code)
    host = base.hosts[0].model_copy(update={"boot_id": boot or node * 8})
    of: Run = base.model_copy(update={"hosts": [host], "repeats": [one]})
    told = NodePart(
        node=node,
        boot_id=boot or node * 8,
        zero_ns=int(zero_s * S),
        first=anchor(zero_s, realtime_s),
        last=anchor(zero_s + wall_s, realtime_s + wall_s),
        clock_error_s=error_s,
        size=4,
        ranks=[Rank(rank=n, node=node, begin_s=0.0, end_s=wall_s, cpu_s=1, exit_code=exit_code) for n in ranks],
        interrupted=list(stopped),
    )
    return NodeRecord(told, of, samples(of))


def test_clocks_that_began_at_other_times_are_put_on_one_axis_by_their_anchors() -> None:
    merged = merge([part("a", (0, 1), zero_s=100, realtime_s=5000), part("b", (2, 3), zero_s=9, realtime_s=5002)], 4)
    assert merged.run is not None
    [of] = merged.run.repeats
    assert [one.begin_s for one in of.ranks] == [0, 0, pytest.approx(2), pytest.approx(2)]
    assert of.regions[0].begin_s == 0
    assert of.regions[0].end_s == pytest.approx(7)
    times = [row["time_s"] for row in merged.samples.to_pylist() if row["node"] == "b"]
    assert min(times) == pytest.approx(2)


def test_one_boot_is_one_clock_whatever_the_anchors_say() -> None:
    merged = merge(
        [
            part("a", (0, 1), boot="x", zero_s=100, realtime_s=5000),
            part("b", (2, 3), boot="x", zero_s=101, realtime_s=9999),
        ],
        4,
    )
    assert merged.run is not None
    assert [one.begin_s for one in merged.run.repeats[0].ranks] == [0, 0, 1, 1]
    assert [host.clock_error_s for host in merged.run.hosts] == [0, 0]


def test_clocks_an_hour_apart_change_neither_time_nor_energy_and_are_said() -> None:
    merged = merge([part("a", (0, 1)), part("b", (2, 3), realtime_s=8600, wall_s=12)], 4)
    assert merged.run is not None
    [of] = merged.run.repeats
    assert of.wall_s == 12
    assert [total.joules for total in of.totals] == [pytest.approx(1000), pytest.approx(1000)]
    assert of.regions[0].wall_s == pytest.approx(6)
    assert "3.59e+03 s apart" in merged.problems[0]


def test_the_doubt_of_both_clocks_adds_up_and_an_undisciplined_clock_is_unknown() -> None:
    merged = merge([part("a", (0, 1), error_s=0.001), part("b", (2,), error_s=0.002), part("c", (3,), error_s=None)], 4)
    assert merged.run is not None
    assert [host.clock_error_s for host in merged.run.hosts] == [0, pytest.approx(0.003, abs=1e-4), None]


def test_a_clock_that_was_stepped_meanwhile_is_doubted_by_the_step() -> None:
    stepped = part("b", (1,))
    told = stepped.part.model_copy(update={"last": anchor(110, 5010.5)})
    assert told.error_s == pytest.approx(0.501, abs=1e-4)


def test_energies_regions_and_metrics_of_nodes_add_up() -> None:
    merged = merge([part("a", (0, 1), joules=1000), part("b", (2, 3), joules=500)], 4)
    assert merged.run is not None
    [of] = merged.run.repeats
    assert {total.node: total.joules for total in of.totals} == {"a": pytest.approx(1000), "b": pytest.approx(500)}
    assert sum(energy.joules for energy in of.regions[0].energy) == pytest.approx(750)
    assert of.regions[0].pes == 16
    assert of.metrics["m"].value == 6
    assert merged.problems == []


def test_what_waiting_cost_is_kept_which_only_the_node_of_pe_0_has() -> None:
    first, second = part("a", (0, 1)), part("b", (2, 3))
    job = waiting({("put", 8): 1.0})
    merged = merge([second, NodeRecord(first.part, with_waiting(first.run, job), first.samples)], 4)
    assert merged.run is not None
    assert merged.run.repeats[0].waiting == [job]


def with_metric(
    of: NodeRecord, value: float, unit: str = "s", processes: int = 1, disputed: bool = False
) -> NodeRecord:
    """The part with a mean that `processes` of its processes reported, or about which they differed."""
    [one] = of.run.repeats
    mean = Metric(value=value, unit=unit, combination=Combination.MEAN, processes=processes)
    changed = one.model_copy(update={"metrics": {} if disputed else {"latency": mean}})
    part = of.part.model_copy(update={"disputed": ["latency"] if disputed else []})
    return NodeRecord(part, of.run.model_copy(update={"repeats": [changed]}), of.samples)


def test_a_mean_over_nodes_weighs_their_processes() -> None:
    merged = merge([with_metric(part("a", (0, 1, 2)), 1.0, processes=3), with_metric(part("b", (3,)), 5.0)], 4)
    assert merged.run is not None
    found = merged.run.repeats[0].metrics["latency"]
    assert (found.value, found.processes) == (2.0, 4)


def test_nodes_that_differ_about_a_metric_leave_a_line_and_no_figure() -> None:
    merged = merge([with_metric(part("a", (0, 1)), 1.0), with_metric(part("b", (2, 3)), 5000.0, unit="ms")], 4)
    assert merged.run is not None
    assert merged.run.repeats[0].metrics == {}
    assert any("metric latency is left out" in line for line in merged.problems)


def test_a_metric_disputed_on_one_node_is_not_that_of_the_others() -> None:
    merged = merge([with_metric(part("a", (0, 1)), 1.0, disputed=True), with_metric(part("b", (2, 3)), 5.0)], 4)
    assert merged.run is not None
    assert merged.run.repeats[0].metrics == {}


def test_machines_of_one_name_are_two_nodes() -> None:
    merged = merge([part("n", (0, 1), boot="aaaaaaaa1"), part("n", (2, 3), boot="bbbbbbbb2")], 4)
    assert merged.run is not None
    names = ["n-aaaaaaaa", "n-bbbbbbbb"]
    assert [host.node for host in merged.run.hosts] == names
    assert [total.node for total in merged.run.repeats[0].totals] == names
    assert {channel.node for channel in merged.run.channels} == set(names)
    assert set(merged.samples.column("node").to_pylist()) == set(names)
    assert merged.run.repeats[0].ranks[3].node == names[1]


def test_a_second_reader_of_a_node_adds_ranks_and_no_energy() -> None:
    merged = merge([part("a", (0, 1), wall_s=5, joules=500), part("a", (2, 3), wall_s=10, joules=1000)], 4)
    assert merged.run is not None
    [of] = merged.run.repeats
    assert [total.joules for total in of.totals] == [pytest.approx(1000)]
    assert len(of.ranks) == 4
    assert len(merged.run.channels) == len({channel.name for channel in merged.run.channels})


def test_ranks_without_a_part_fail_the_repeat_and_are_named() -> None:
    merged = merge([part("a", (0, 2))], 5)
    assert merged.run is not None
    assert merged.missing == [1, 3, 4]
    assert merged.run.repeats[0].exit_code == 1
    assert "nothing arrived from rank 1, 3-4" in merged.problems[0]


def test_ranks_that_a_signal_stopped_hide_no_failure() -> None:
    merged = merge([part("a", (0, 1), exit_code=143, stopped=(0, 1)), part("b", (2, 3), exit_code=9)], 4)
    assert merged.run is not None
    assert merged.run.repeats[0].exit_code == 9


def test_when_a_signal_stopped_all_there_is_no_record() -> None:
    assert merge([part("a", (0, 1, 2, 3), exit_code=143, stopped=(0, 1, 2, 3))], 4).run is None


def test_samples_keep_their_form() -> None:
    assert merge([part("a", (0, 1)), part("b", (2, 3))], 4).samples.cast(SAMPLES_SCHEMA).num_rows > 0
    assert isinstance(merge([part("a", (0,))], 1).samples, pa.Table)


def test_numbers_in_a_row_are_a_range() -> None:
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2, 5, 7-8"


def test_an_anchor_is_narrow_and_the_clock_has_a_doubt_or_none() -> None:
    assert take_anchor().width_ns < 10_000_000
    error = clock_error_s()
    assert error is None or 0 <= error < 1000
