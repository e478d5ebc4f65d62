"""The pure parts of a measurement: energy between moments, regions over PEs, totals that count nothing twice."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lull.meter.meter import Series
from lull.record import Channel, Domain, Energy, EnergyKind
from lull.record.totals import node_totals
from lull.regions.accounts import Account, merge_metrics, merge_regions, merge_spans, read_accounts, union

S = 1_000_000_000


def series(joules: list[float], interval_s: float = 0.0, low: float = 1.0, high: float = 1.0) -> Series:
    """One package channel read once a second, starting at 100 s."""
    channel = Channel(
        name="powercap:package-0",
        source="powercap",
        node="a",
        domain=Domain.PACKAGE,
        kind=EnergyKind.MEASURED,
        interval_s=interval_s,
        basis="test",
    )
    total = SimpleNamespace(
        joules=joules[-1],
        low_j=joules[-1] * low,
        high_j=joules[-1] * high,
        bytes=None,
        wraps=0,
        gaps=2,
        resets=0,
        stale=0,
        lower_bound=False,
    )
    times = np.array([(100 + i) * S for i in range(len(joules))], dtype=np.int64)
    return Series([channel], times, np.array(joules, dtype=np.float64)[:, None], [total])


def energy(channel: str, joules: float, domain: Domain = Domain.PACKAGE, **more: object) -> Energy:
    fields = {"node": "a", "kind": EnergyKind.MEASURED, "low_j": joules, "high_j": joules, **more}
    return Energy.model_validate({"channel": channel, "domain": domain, "joules": joules, **fields})


def account(pe: int | None, regions: list[tuple[str, float, float]], pid: int = 1, node: str = "a") -> Account:
    visits = [{"name": n, "begin_ns": int(b * S), "end_ns": int(e * S), "cpu_ns": S} for n, b, e in regions]
    return Account.model_validate({"schema": 2, "node": node, "pid": pid, "pe": pe, "regions": visits, "metrics": []})


def test_energy_between_readings_is_interpolated() -> None:
    [found] = series([0, 10, 40, 50]).energy([(100 * S + S // 2, 101 * S + S // 2)])
    assert found.joules == pytest.approx(5 + 15)


def test_the_bounds_are_the_readings_just_inside_and_just_outside() -> None:
    [found] = series([0, 10, 40, 50]).energy([(100 * S + S // 2, 102 * S + S // 2)])
    assert (found.low_j, found.high_j) == (pytest.approx(30), pytest.approx(50))


def test_at_readings_the_bounds_are_those_of_the_source() -> None:
    [found] = series([0, 10, 40, 50], low=0.5, high=2).energy([(101 * S, 102 * S)])
    assert (found.joules, found.low_j, found.high_j) == (pytest.approx(30), pytest.approx(15), pytest.approx(60))


def test_a_slow_counter_widens_the_bounds_by_one_update() -> None:
    [found] = series([0, 10, 20, 30], interval_s=0.1).energy([(101 * S, 102 * S)])
    assert (found.low_j, found.high_j) == (pytest.approx(9), pytest.approx(11))


def test_a_region_shorter_than_a_reading_may_hold_nothing() -> None:
    [found] = series([0, 10]).energy([(100 * S + S // 4, 100 * S + S // 2)])
    assert (found.low_j, found.joules, found.high_j) == (0, pytest.approx(2.5), pytest.approx(10))


def test_moments_outside_the_series_count_nothing() -> None:
    [found] = series([0, 10]).energy([(90 * S, 95 * S)])
    assert found.joules == 0


def test_a_meter_that_counted_nothing_still_has_its_upper_bound() -> None:
    whole = series([0, 0])
    whole.totals[0].high_j = 1.0
    [found] = whole.energy([(100 * S, 100 * S + S // 2)])
    assert (found.joules, found.high_j) == (0, pytest.approx(0.5))


def test_flags_of_the_series_stay_with_every_part() -> None:
    [found] = series([0, 10]).energy([(100 * S, 101 * S)])
    assert found.gaps == 2


def test_kth_visits_of_all_pes_are_one_visit_from_first_begin_to_last_end() -> None:
    [span] = merge_spans([account(0, [("u", 1, 2), ("u", 5, 6)]), account(1, [("u", 1.5, 3), ("u", 4, 5)])])
    assert span.visits == [(1 * S, 3 * S), (4 * S, 6 * S)]
    assert (span.pes, span.cpu_ns) == (2, 4 * S)


def test_a_pe_with_fewer_visits_takes_part_in_its_own() -> None:
    [span] = merge_spans([account(0, [("u", 1, 2), ("u", 5, 6)]), account(1, [("u", 1, 3)])])
    assert span.visits == [(1 * S, 3 * S), (5 * S, 6 * S)]


def test_one_program_after_another_is_one_pe_that_came_twice() -> None:
    [span] = merge_spans([account(0, [("u", 5, 6)], pid=2), account(0, [("u", 1, 2)], pid=1)])
    assert (span.visits, span.pes) == ([(1 * S, 2 * S), (5 * S, 6 * S)], 1)


def test_processes_without_a_number_are_one_pe_unless_at_work_at_once() -> None:
    [after] = merge_spans([account(None, [("u", 1, 2)], pid=1), account(None, [("u", 2, 3)], pid=2)])
    assert (len(after.visits), after.pes) == (2, 1)
    [beside] = merge_spans([account(None, [("u", 1, 3)], pid=1), account(None, [("u", 2, 4)], pid=2)])
    assert (beside.visits, beside.pes) == ([(1 * S, 4 * S)], 2)


def test_regions_come_in_the_order_they_began_and_carry_energy() -> None:
    found = merge_regions([account(0, [("late", 102, 103), ("early", 100, 101)])], series([0, 10, 40, 50]), 99 * S)
    assert [(r.name, r.begin_s, r.end_s, r.energy[0].joules) for r in found] == [
        ("early", 1.0, 2.0, pytest.approx(10)),
        ("late", 3.0, 4.0, pytest.approx(10)),
    ]


def test_visits_that_overlap_count_no_joule_twice() -> None:
    assert union([(5, 9), (1, 3), (2, 4), (9, 10)]) == [(1, 4), (5, 10)]
    accounts = [account(0, [("u", 100, 102), ("u", 101, 103)])]  # two threads of one process
    [found] = merge_regions(accounts, series([0, 10, 20, 30]), 100 * S)
    assert found.energy[0].joules == pytest.approx(30)
    assert found.wall_s == pytest.approx(4)


def reporting(*metrics: tuple[str, float, str, str]) -> Account:
    """A process that reported these metrics: name, value, unit, combination."""
    return Account.model_validate(
        {
            "schema": 2,
            "node": "a",
            "pid": 1,
            "pe": None,
            "regions": [],
            "metrics": [
                {"name": name, "value": value, "unit": unit, "combination": way} for name, value, unit, way in metrics
            ],
        }
    )


@pytest.mark.parametrize(("way", "value"), [("sum", 12), ("mean", 4), ("min", 2), ("max", 7)])
def test_a_metric_of_several_processes_combines_as_it_says(way: str, value: float) -> None:
    found = merge_metrics([reporting(("m", each, "s", way)) for each in (2, 3, 7)])
    assert (found.metrics["m"].value, found.metrics["m"].processes) == (value, 3)
    assert found.disputed == {}


@pytest.mark.parametrize(
    ("other", "words"),
    [(("m", 3.0, "ms", "mean"), "in 's' and in 'ms'"), (("m", 3.0, "s", "sum"), "as mean and as sum")],
)
def test_processes_that_differ_about_a_metric_leave_a_line_and_no_figure(
    other: tuple[str, float, str, str], words: str
) -> None:
    found = merge_metrics([reporting(("m", 2.0, "s", "mean"), ("n", 1.0, "1", "sum")), reporting(other)])
    assert set(found.metrics) == {"n"}
    assert words in found.disputed["m"]


@pytest.mark.parametrize(
    "text",
    [
        '{"schema":2,"node":"a","pid":1,"pe"',
        '{"schema":3,"node":"a","pid":1,"pe":0,"regions":[],"metrics":[]}',
        '{"schema":2,"node":"a","pid":1,"pe":0,"regions":[{"name":"u","begin_ns":2,"end_ns":1,"cpu_ns":0}],"metrics":[]}',
    ],
)
def test_a_damaged_account_is_a_warning_and_the_others_stand(tmp_path: Path, text: str) -> None:
    (tmp_path / "regions-1.json").write_text(text)
    (tmp_path / "regions-2.json").write_text('{"schema":2,"node":"a","pid":1,"pe":0,"regions":[],"metrics":[]}')
    found = read_accounts(tmp_path)
    assert (len(found.accounts), len(found.warnings)) == (1, 1)


def test_a_node_meter_is_the_total_and_its_parts_are_not_added() -> None:
    [total] = node_totals(
        [energy("cray:node", 100, Domain.NODE), energy("powercap:package-0", 60), energy("nvml:0", 30, Domain.GPU)]
    )
    assert (total.channel, total.joules) == ("cray:node", 100)


def test_without_a_node_meter_the_parts_add_up_labelled_by_the_weakest_kind() -> None:
    [total] = node_totals(
        [
            energy("powercap:package-0", 60),
            energy("powercap:package-1", 40),
            energy("powercap:dram-0", 10, Domain.DRAM, kind=EnergyKind.VENDOR_MODEL, high_j=20),
            energy("nvml:0", 5, Domain.GPU),
        ]
    )
    assert (total.domain, total.channel, total.joules) == (Domain.NODE, "package + dram + gpu", 115)
    assert (total.kind, total.high_j) == (EnergyKind.VENDOR_MODEL, 125)


def test_two_sources_of_one_domain_are_one_silicon() -> None:
    [total] = node_totals(
        [
            energy("estimate:package", 90, kind=EnergyKind.ESTIMATED),
            energy("powercap:package-0", 60),
            energy("perf:package-0", 61),
        ]
    )
    assert (total.joules, total.kind) == (60, EnergyKind.MEASURED)


def test_the_wire_stands_beside_the_total() -> None:
    wire = {"kind": EnergyKind.DERIVED, "bytes": 7}
    totals = node_totals(
        [
            energy("p:package", 60),
            energy("net:eth0", 1, Domain.WIRE, **wire),
            energy("net:eth1", 2, Domain.WIRE, **wire),
        ]
    )
    assert [(t.domain, t.joules, t.bytes) for t in totals] == [(Domain.NODE, 60, None), (Domain.WIRE, 3, 14)]


def test_nodes_are_kept_apart_and_a_reset_stays_visible() -> None:
    totals = node_totals([energy("p:package", 60), energy("p:package", 50, node="b", lower_bound=True)])
    assert [(t.node, t.joules, t.lower_bound) for t in totals] == [("a", 60, False), ("b", 50, True)]


def test_a_wire_alone_makes_no_total() -> None:
    assert [t.domain for t in node_totals([energy("net:eth0", 1, Domain.WIRE)])] == [Domain.WIRE]


def test_the_table_of_one_channel_does_not_hold_the_samples_of_the_meter() -> None:
    of = series([0, 10, 30])
    table = of.table(0, 0)
    assert table.column("joules").to_pylist() == [0, 10, 30]
    assert not np.shares_memory(of.joules, table.column("joules").chunk(0).to_numpy())
