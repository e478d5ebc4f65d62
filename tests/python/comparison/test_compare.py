"""Comparing two records: what is used of them, what is rejected, the warnings, and the display."""

from __future__ import annotations

import json
import random
from datetime import timedelta

import pytest

import records
from lull import record
from lull.base.errors import LullError
from lull.comparison.compare import compare_all, compare_pairs, compare_runs
from lull.comparison.describe import describe, ratios
from lull.comparison.quantity import nodes_of
from lull.present.document import Document
from lull.present.terminal import as_text
from lull.record import Domain, EnergyKind
from lull.record.labels import distinct
from lull.record.totals import node_totals
from records import TIMES, faster, run

SOON = records.NOON + timedelta(seconds=30)  # between the repeats of the other side


def pair(by=2.0, watts=240.0, **options):
    return run("A", **options), run("B", faster(TIMES, by), watts, start=SOON, **options)


def shown(found, width=120):
    return as_text(describe([found]), width)


def test_twice_as_fast_at_more_power_is_category_3():
    found = compare_runs(*pair())
    assert found.speedup.value == pytest.approx(2)
    assert found.greenup.value == pytest.approx(2 * 200 / 240)
    assert found.powerup.value == pytest.approx(1.2)
    assert found.speedup.low < 2 < found.speedup.high
    assert found.category == 3
    assert found.verdict.startswith("B is 2.00× faster and uses 1.67× less energy (category 3")
    assert found.warnings == []


def test_shifts_point_from_baseline_to_candidate():
    found = compare_runs(*pair())
    assert found.hodges_lehmann.time_s.value == pytest.approx(-5, abs=0.1)
    assert found.hodges_lehmann.time_s.low < -5 < found.hodges_lehmann.time_s.high
    assert found.hodges_lehmann.energy_j.high < 0
    assert found.rank_tests.time_p < 0.001


@pytest.mark.parametrize(
    ("seconds", "watts", "ratios", "category"), [(25.0, 400.0, (4, 2, 2), 3), (50.0, 100.0, (2, 4, 0.5), 1)]
)
def test_energy_and_time_golden_values(seconds, watts, ratios, category):
    """From 100 s and 20 kJ to 25 s and 10 kJ, and to 50 s and 5 kJ."""
    found = compare_runs(run("A", [100.0] * 6, 200.0), run("B", [seconds] * 6, watts))
    assert (found.speedup.value, found.greenup.value, found.powerup.value) == pytest.approx(ratios)
    assert found.candidate.edp_js.median == pytest.approx(250e3)
    assert found.edp_ratio.value == pytest.approx(8)
    assert found.ed2p_ratio.value == pytest.approx(8 * ratios[0])
    assert found.time_reduction.value == pytest.approx(1 - 1 / ratios[0])
    assert found.energy_reduction.value == pytest.approx(1 - 1 / ratios[1])
    assert found.category == category


def test_three_runs_a_side_give_ratios_but_no_verdict():
    found = compare_runs(run("A", TIMES[:3]), run("B", faster(TIMES[:3], 2), start=SOON))
    assert (found.speedup.low, found.speedup.high, found.category) == (None, None, None)
    assert found.verdict == "too few runs to tell: 3 of A and 3 of B, at least 6 of each are needed"
    assert any("p = 0.1" in line and "6 runs of each" in line for line in found.warnings)


def test_six_runs_give_a_verdict_and_the_advice_to_make_ten():
    found = compare_runs(run("A", TIMES[:6]), run("B", faster(TIMES[:6], 2), start=SOON))
    assert found.category == 2
    assert any("10 of each are recommended" in line for line in found.warnings)


def test_small_differences_are_told_in_percent():
    verdict = compare_runs(*pair(by=1 / 1.05, watts=200 * 0.85)).verdict
    assert verdict == "B is 5.0 % slower and uses 11 % less energy (category 4: slower, but saves energy)"


def test_a_record_does_not_differ_from_itself():
    a = run("A")
    found = compare_runs(a, a)
    assert found.category is None
    assert found.verdict == "A takes the same time and energy"


def test_scatter_larger_than_the_difference_is_undecided():
    wild = [10.0, 14.0, 7.0, 12.0, 9.0, 15.0, 6.0, 11.0]
    found = compare_runs(run("A", wild), run("B", faster(wild, 1.05), start=SOON))
    assert found.outcome == "undecided"
    assert "no clear difference" in found.verdict


def test_kinds_are_not_mixed_unless_asked():
    a, b = run("A", kind=EnergyKind.MEASURED), run("B", kind=EnergyKind.ESTIMATED, start=SOON)
    with pytest.raises(LullError, match=r"measured.*estimated.*--allow-mixed"):
        compare_runs(a, b)
    found = compare_runs(a, b, allow_mixed=True)
    assert found.kind is EnergyKind.ESTIMATED
    assert any("different kinds" in line for line in found.warnings)


def test_estimates_are_said_to_be_no_meter():
    found = compare_runs(*pair(kind=EnergyKind.ESTIMATED))
    assert any("not from a meter" in line for line in found.warnings)


def test_a_region_has_its_own_time_and_energy():
    a, b = pair(regions={"setup": 0.25, "updates": 0.75})
    found = compare_runs(a, b, region="updates")
    assert found.quantity == "region updates"
    assert found.baseline.time_s.median == pytest.approx(0.75 * 10.025)
    assert found.baseline.energy_j.median == pytest.approx(0.75 * 2005)


def test_per_compares_different_amounts_of_work():
    a, b = run("A", metrics={"updates": 1e6}), run("B", faster(TIMES, 0.5), start=SOON, metrics={"updates": 4e6})
    found = compare_runs(a, b, per="updates")
    assert found.speedup.value == pytest.approx(2)
    assert found.baseline.time_s.median == pytest.approx(10.025e-6)
    assert found.quantity == "whole runs, per update"


def test_a_missing_region_or_metric_names_those_there_are():
    a, b = pair(regions={"setup": 0.5, "main": 0.5}, metrics={"updates": 3})
    with pytest.raises(LullError, match="no region 'x'; there are: setup, main"):
        compare_runs(a, b, region="x")
    with pytest.raises(LullError, match="no metric 'y'; there are: updates"):
        compare_runs(a, b, per="y")


def test_failed_repeats_are_left_out_and_said():
    a = run("A", [*TIMES, 0.1], exit_codes=[0] * 10 + [139])
    found = compare_runs(a, run("B", start=SOON))
    assert (found.baseline.runs, found.baseline.failed) == (10, 1)
    assert any("1 failed repeat left out (number 11)" in line for line in found.warnings)
    with pytest.raises(LullError, match="none of its 2 repeats succeeded"):
        compare_runs(run("A", [1.0, 2.0], exit_codes=[1, 1]), a)


def test_a_sensor_slower_than_the_run_is_told_with_its_error():
    a, b = pair(interval_s=0.1)
    lines = [line for line in compare_runs(a, b).warnings if "changes only every" in line]
    assert lines[0] == (
        "A: powercap changes only every 100 ms, and each measurement lasted 10.0 s: the energy may be off by 2.0 %"
    )


def test_faults_of_the_counters_are_told():
    a, b = pair(resets=1, gaps=2)
    lines = "\n".join(compare_runs(a, b).warnings)
    assert "A: a reset hid part of the energy; it is at least what is shown" in lines
    assert "A: 20 gaps and 10 resets" in lines


def test_other_machines_are_told():
    found = compare_runs(run("A", nodes=["n1"]), run("B", nodes=["n2"], start=SOON))
    assert any(line.startswith("the hosts differ (n1; n2)") for line in found.warnings)


def test_sides_run_one_after_the_other_are_told():
    found = compare_runs(run("A"), run("B", start=records.NOON + timedelta(days=1)))
    assert any("drift" in line for line in found.warnings)


def test_several_nodes_add_up():
    a, b = pair(nodes=["n1", "n2"])
    assert compare_runs(a, b).baseline.energy_j.median == pytest.approx(2005)


def test_a_node_without_energy_makes_the_sum_a_lower_bound():
    a, b = pair()
    hosts = [records.host("n1"), records.host("n2")]
    found = compare_runs(a.model_copy(update={"hosts": hosts}), b)
    assert any("no energy of n2" in line for line in found.warnings)


def test_the_wire_stands_beside_the_node_and_is_added_only_by_name():
    wire = compare_runs(*pair(wire_bytes=10**9)).baseline.wire
    assert wire.joules == pytest.approx(0.6)
    assert wire.kind is EnergyKind.DERIVED
    assert wire.node_j_per_mb == pytest.approx(2.005)
    assert wire.node_and_wire_j == pytest.approx(2005.6)
    assert wire.node_and_wire_kind is EnergyKind.DERIVED


def test_the_wire_is_never_added_to_a_meter_of_the_node():
    wire = compare_runs(*pair(wire_bytes=10**9, whole=True, kind=EnergyKind.MEASURED)).baseline.wire
    assert wire.node_and_wire_j is None


def test_a_run_without_energy_is_an_error_not_a_zero():
    a = run("A")
    empty = a.model_copy(update={"repeats": [r.model_copy(update={"energy": [], "totals": []}) for r in a.repeats]})
    with pytest.raises(LullError, match="no energy of its node"):
        compare_runs(empty, a)
    with pytest.raises(LullError, match="took 0 J of energy"):
        compare_runs(run("A", powers=0.0), a)


def test_medians_have_intervals_from_six_runs_on():
    of = compare_runs(run("A", TIMES[:6]), run("B", TIMES[:5])).baseline.time_s
    assert of.smallest <= of.low < of.median < of.high <= of.largest
    assert compare_runs(run("A", TIMES[:6]), run("B", TIMES[:5])).candidate.time_s.low is None


def test_several_candidates_share_one_family_of_tests():
    base, others = run("A"), [run(name, faster(TIMES, by), start=SOON) for name, by in (("B", 1.004), ("C", 2.0))]
    together = compare_all(base, others)
    apart = [compare_runs(base, other) for other in others]
    assert [one.candidate.label for one in together] == ["B", "C"]
    assert together[1].speedup == apart[1].speedup
    assert together[1].rank_tests.time_p == pytest.approx(2 * apart[1].rank_tests.time_p), "four tests, not two"


class TestEnergyPerMegabyte:
    def test_wire_bytes_are_the_default(self):
        found = compare_runs(*pair(wire_bytes=10**9))
        assert found.baseline.moved.basis == "wire bytes, sent and received"
        assert found.baseline.moved.j_per_mb.median == pytest.approx(2.005)
        assert found.j_per_mb_ratio.value == pytest.approx(found.greenup.value), "the same bytes on both sides"

    def test_a_metric_in_bytes_takes_their_place(self):
        a, b = run("A", metrics={"sent": 2.0}, unit="GB"), run("B", metrics={"sent": 1.0}, unit="GB", start=SOON)
        found = compare_runs(a, b, per="sent")
        assert found.baseline.moved.basis == "metric sent"
        assert found.baseline.moved.j_per_mb.median == pytest.approx(2005 / 2000)
        assert found.j_per_mb_ratio.value == pytest.approx(0.5)

    def test_a_metric_in_two_units_is_not_divided_by(self):
        a, b = run("A", metrics={"sent": 2.0}, unit="GB"), run("B", metrics={"sent": 1.0}, unit="MB", start=SOON)
        with pytest.raises(LullError, match="'GB', the other in 'MB'"):
            compare_runs(a, b, per="sent")

    def test_without_bytes_there_is_none(self):
        found = compare_runs(*pair(metrics={"updates": 5.0}), per="updates")
        assert found.baseline.moved is None
        assert found.j_per_mb_ratio is None

    def test_bytes_of_one_side_give_no_ratio(self):
        found = compare_runs(run("A", wire_bytes=10**9), run("B", start=SOON))
        assert found.candidate.moved is None
        assert found.j_per_mb_ratio is None


class TestEnergyAboveIdle:
    def with_idle(self, watts=100.0, **options):
        return [
            of.model_copy(update={"idle": records.idle(watts, **options)})
            for of in (run("A"), run("B", faster(TIMES, 2), 240, start=SOON))
        ]

    def test_it_stands_beside_the_total(self):
        found = compare_runs(*self.with_idle())
        assert found.baseline.dynamic.idle_w == pytest.approx(100)
        assert found.baseline.dynamic.joules.median == pytest.approx(1002.5)
        assert found.candidate.dynamic.joules.median == pytest.approx(140 * 5.0125)
        assert found.dynamic_greenup.value == pytest.approx(1002.5 / (140 * 5.0125))
        assert found.greenup.value == pytest.approx(2 * 200 / 240), "the total is as it was"
        assert "above idle " in shown(found)

    def test_its_band_holds_the_errors_of_both(self):
        dynamic = compare_runs(*self.with_idle(band=0.1)).baseline.dynamic
        assert dynamic.low_j == pytest.approx(2005 * 0.95 - 1002.5 * 1.1)
        assert dynamic.high_j == pytest.approx(2005 * 1.05 - 1002.5 * 0.9)

    def test_idle_power_of_one_side_gives_no_ratio_and_is_said(self):
        a, b = self.with_idle()
        found = compare_runs(a, b.model_copy(update={"idle": []}))
        assert found.dynamic_greenup is None
        assert any("no idle power for B" in line for line in found.warnings)

    def test_a_node_without_idle_power_makes_it_unknown(self):
        a = run("A", nodes=["n1", "n2"]).model_copy(update={"idle": records.idle(50.0)})
        assert compare_runs(a, a).baseline.dynamic is None

    def test_several_measurements_are_averaged_by_their_length(self):
        a, b = self.with_idle()
        twice = a.model_copy(update={"idle": records.idle(100.0, seconds=30) + records.idle(140.0, seconds=10)})
        assert compare_runs(twice, b).baseline.dynamic.idle_w == pytest.approx(110)

    def test_less_than_idle_gives_no_ratio_and_is_said(self):
        found = compare_runs(*self.with_idle(watts=210.0))
        assert found.dynamic_greenup is None
        assert any("no more energy than an idle node" in line for line in found.warnings)

    def test_it_is_kept_in_the_record(self, tmp_path):
        a, _ = self.with_idle()
        assert record.read(records.write(tmp_path / "a", a)).idle == records.idle(100.0)

    def test_records_from_before_there_was_idle_power_still_read(self, tmp_path):
        folder = records.write(tmp_path / "a", run("A"))
        content = json.loads((folder / "run.json").read_text())
        del content["idle"]
        (folder / "run.json").write_text(json.dumps(content))
        assert record.read(folder).idle == []

    def test_old_records_have_none(self):
        found = compare_runs(*pair())
        assert found.baseline.dynamic is None
        assert "idle" not in shown(found)


class TestSensorBand:
    def test_it_is_not_narrowed_by_runs_and_cancels_on_one_node(self):
        few, many = (compare_runs(run("A", TIMES * n), run("B", TIMES * n, start=SOON)) for n in (1, 5))
        assert few.sensor == many.sensor
        assert few.sensor.cancels
        assert (few.sensor.greenup_low, few.sensor.greenup_high) == pytest.approx((0.95 / 1.05, 1.05 / 0.95))
        assert "largely cancels" in shown(few)

    def test_on_another_node_it_does_not_cancel(self):
        found = compare_runs(run("A", nodes=["n1"]), run("B", nodes=["n2"], start=SOON))
        assert not found.sensor.cancels
        assert "does not cancel: by it alone Greenup may be 0.905 to 1.11" in " ".join(shown(found).split())


class TestNodeEnergy:
    def test_package_and_dram_add_up_and_carry_the_weaker_kind(self):
        total = nodes_of(
            [
                records.energy(80, Domain.PACKAGE),
                records.energy(20, Domain.DRAM, kind=EnergyKind.ESTIMATED),
                records.energy(5, Domain.WIRE),
                records.energy(4, Domain.NIC),
            ]
        )
        assert [(t.joules, t.channel, t.kind) for t in total] == [(100, "package + dram", EnergyKind.ESTIMATED)]

    def test_a_meter_of_the_node_holds_all_the_others(self):
        total = nodes_of([records.energy(80), records.energy(130, Domain.NODE)])
        assert [t.joules for t in total] == [130]

    def test_two_sources_of_one_sensor_count_once(self):
        twins = [records.energy(80, channel="powercap:package-0"), records.energy(81, channel="perf:energy-pkg")]
        assert [t.joules for t in nodes_of(twins)] == [80]

    def test_two_sockets_of_one_source_both_count(self):
        sockets = [records.energy(80, channel=f"powercap:package-{i}") for i in (0, 1)]
        assert [t.joules for t in nodes_of(sockets)] == [160]

    def test_memory_alone_is_no_node(self):
        assert nodes_of([records.energy(20, Domain.DRAM)]) == []


@pytest.mark.parametrize("width", [80, 120])
def test_the_screen_shows_kinds_of_both_sides_at_any_width(width):
    a, b = run("A", kind=EnergyKind.MEASURED), run("B", faster(TIMES, 2), kind=EnergyKind.ESTIMATED, start=SOON)
    text = shown(compare_runs(a, b, allow_mixed=True), width)
    assert "measured" in text
    assert "estimated" in text
    assert "< 0.001" in text, "p is never left out"
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_study_is_one_row_per_comparison():
    found = compare_runs(*pair())
    few = compare_runs(run("A", TIMES[:3]), run("B", TIMES[:3]))
    lines = as_text(Document("", (ratios([("64M", found), ("128M", few)]),))).splitlines()
    assert "64M" in lines[1] and "3: buys speed" in lines[1] and "vendor-model" in lines[1]
    assert "128M" in lines[2] and "too few runs" in lines[2]


def test_labels_alike_are_told_apart_by_their_folders(tmp_path):
    twins = [run("app"), run("app"), run("other")]
    folders = [tmp_path / "x" / "one", tmp_path / "x" / "two", tmp_path / "three"]
    assert [r.label for r in distinct(folders, twins)] == ["one", "two", "other"]
    folders[1] = tmp_path / "y" / "one"
    assert [r.label for r in distinct(folders, twins)][:2] == [str(folders[0]), str(folders[1])]


def of_gpus(found: record.Run) -> record.Run:
    """The same, but only a GPU is metered."""
    repeats = []
    for one in found.repeats:
        joules = sum(part.joules for part in one.energy)
        energy = [records.energy(joules, Domain.GPU, channel="nvml:gpu0", kind=EnergyKind.MEASURED)]
        repeats.append(one.model_copy(update={"energy": energy, "totals": node_totals(energy)}))
    channel = found.channels[0].model_copy(
        update={"name": "nvml:gpu0", "source": "nvml", "domain": Domain.GPU, "kind": EnergyKind.MEASURED}
    )
    return found.model_copy(update={"repeats": repeats, "channels": [channel]})


def test_energy_of_gpus_alone_is_compared_and_said_to_be_that() -> None:
    first, second = pair()
    found = compare_runs(of_gpus(first), of_gpus(second))
    assert found.greenup.value == pytest.approx(2 * 200 / 240)
    assert found.baseline.scope == "gpu, from nvml"
    assert any("GPUs alone" in line for line in found.warnings)


def test_the_verdict_never_contradicts_the_test_beside_it() -> None:
    draw = random.Random(3)
    words = set()
    for _ in range(60):
        shift, spread = draw.choice([1.0, 1.01, 1.03, 1.06]), draw.choice([0.005, 0.03])
        sides = [[draw.gauss(10 * by, 10 * spread) for _ in range(8)] for by in (1.0, shift)]
        found = compare_runs(run("A", sides[0]), run("B", sides[1]))
        for p, decided in (
            (found.rank_tests.time_p, "faster" in found.verdict or "slower" in found.verdict),
            (found.rank_tests.energy_p, "less energy" in found.verdict or "more energy" in found.verdict),
        ):
            assert p < 0.05 or not decided, found.verdict
        for what, p in (("time", found.rank_tests.time_p), ("energy", found.rank_tests.energy_p)):
            if p < 0.05:
                assert f"no clear difference in {what}" not in found.verdict
                assert f"the same {what}" not in found.verdict.replace("nearly the same", "nearly")
                assert "no clear difference in time or energy" not in found.verdict
            words.add((p < 0.05, found.outcome))
    assert len(words) > 3


def drifting(label: str, by: float, series: str, exit_codes: tuple[int, ...] = ()) -> record.Run:
    """A record of a machine that becomes slower and slower; `by` is the effect of the program."""
    times = [10 * by * (1 + 0.1 * round_) * (1 + 0.001 * (round_ % 3)) for round_ in range(10)]
    return run(label, times, exit_codes=exit_codes).model_copy(update={"series": series})


def width(interval) -> float:
    return (interval.high - interval.low) / interval.value


def test_rounds_of_commands_in_turn_are_resampled_together():
    apart = compare_runs(drifting("A", 1.0, ""), drifting("B", 0.95, ""))
    in_turn = compare_runs(drifting("A", 1.0, "x"), drifting("B", 0.95, "x"))
    assert not apart.in_rounds and in_turn.in_rounds
    assert apart.speedup.value == in_turn.speedup.value == pytest.approx(1 / 0.95)
    assert width(apart.speedup) > 0.2 and width(apart.greenup) > 0.2
    assert width(in_turn.speedup) < 0.001 and width(in_turn.greenup) < 0.001
    assert apart.rank_tests.time_p > 0.1 and in_turn.rank_tests.time_p == pytest.approx(4 / 2**10)
    assert "undecided" in apart.outcome and in_turn.category is not None


def test_few_rounds_for_many_tests_are_not_compared_one_by_one():
    pairs = [(drifting(f"A{i}", 1.0, "x"), drifting(f"B{i}", 0.95, "x")) for i in range(13)]
    assert {found.rank_tests.method for found in compare_pairs(pairs)} == {"Mann-Whitney"}
    assert {found.rank_tests.method for found in compare_pairs(pairs[:12])} == {"signed-rank"}


def test_runs_of_other_rounds_are_independent():
    found = compare_runs(drifting("A", 1.0, "x"), drifting("B", 0.95, "y"))
    assert not found.in_rounds and found.pairs is None and width(found.speedup) > 0.2


@pytest.mark.parametrize(
    ("failed_of_a", "failed_of_b", "pairs", "runs"),
    [((), (2,), 9, "10 runs of A and 9 runs of B"), ((0, 5), (2, 5), 7, "8 runs of A and 8 runs of B")],
)
def test_a_failed_run_takes_only_its_own_round_out_of_the_pairs(
    failed_of_a: tuple[int, ...], failed_of_b: tuple[int, ...], pairs: int, runs: str
):
    codes = [tuple(int(index in failed) for index in range(10)) for failed in (failed_of_a, failed_of_b)]
    found = compare_runs(drifting("A", 1.0, "x", codes[0]), drifting("B", 0.95, "x", codes[1]))
    assert found.in_rounds and found.pairs == pairs
    assert found.speedup.value == pytest.approx(1 / 0.95) and width(found.speedup) < 0.001
    assert found.rank_tests.method == "signed-rank"
    line = f"ratios are of {pairs} pairs, the rounds in which both succeeded, out of {runs}"
    assert line in found.warnings
    assert found.baseline.runs == 10 - len(failed_of_a) and found.candidate.runs == 10 - len(failed_of_b)


def test_whole_rounds_need_no_line_about_pairs():
    found = compare_runs(drifting("A", 1.0, "x"), drifting("B", 0.95, "x"))
    assert found.pairs == 10 and not [line for line in found.warnings if "pairs" in line]


def test_pairs_are_given_up_where_they_would_cost_the_interval():
    codes = (1, 1, 1, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)
    found = compare_runs(drifting("A", 1.0, "x", codes[0]), drifting("B", 0.95, "x", codes[1]))
    assert not found.in_rounds and found.speedup.low is not None
    few = "too few of their rounds succeeded on both sides, so they are compared unpaired"
    assert f"7 runs of A and 7 runs of B ran in turn, but {few}" in found.warnings


def test_all_pairs_of_a_page_are_one_family():
    pairs = [(run(f"A{i}"), run(f"B{i}", faster(TIMES, 1.006), start=SOON)) for i in range(8)]
    alone = compare_runs(*pairs[0]).rank_tests.time_p
    together = [found.rank_tests.time_p for found in compare_pairs(pairs)]
    assert together == pytest.approx([min(1.0, 8 * alone)] * 8)
    assert compare_all(pairs[0][0], [pairs[0][1]])[0].rank_tests.time_p == alone
