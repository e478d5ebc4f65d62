"""Comparing two records: what is taken from them, what is refused, what is said, and how it is shown."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest
from click.testing import CliRunner
from rich.console import Console

import records
from lull.compare import compare, compare_runs, distinct, render, render_table
from lull.comparison import Comparison
from lull.errors import LullError
from lull.quantity import nodes_of
from lull.record import Domain, EnergyKind
from records import TIMES, faster, run

SOON = records.NOON + timedelta(seconds=30)  # between the repeats of the other side


def pair(by=2.0, watts=240.0, **options):
    return run("A", **options), run("B", faster(TIMES, by), watts, start=SOON, **options)


def shown(found, width=120):
    out = io.StringIO()
    render(found, Console(file=out, width=width))
    return out.getvalue()


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
    assert found.hodges_lehmann.time_s == pytest.approx(-5, abs=0.1)
    assert found.hodges_lehmann.energy_j < 0
    assert found.mann_whitney.time_p < 0.001


def test_energy_and_time_golden_values():
    a = run("A", [100.0] * 6, 200.0)
    b = run("B", [25.0] * 6, 400.0)
    found = compare_runs(a, b)
    assert (found.speedup.value, found.greenup.value, found.powerup.value) == pytest.approx((4, 2, 2))
    assert found.candidate.edp_js.median == pytest.approx(250e3)
    assert found.category == 3


def test_three_runs_a_side_give_ratios_but_no_verdict():
    found = compare_runs(run("A", TIMES[:3]), run("B", faster(TIMES[:3], 2), start=SOON))
    assert (found.speedup.low, found.speedup.high, found.category) == (None, None, None)
    assert found.verdict == "too few runs to tell: 3 of A and 3 of B, at least 6 of each are needed"
    assert any("p = 0.1" in line and "6 runs of each" in line for line in found.warnings)


def test_six_runs_give_a_verdict_and_the_advice_to_make_ten():
    found = compare_runs(run("A", TIMES[:6]), run("B", faster(TIMES[:6], 2), start=SOON))
    assert found.category == 2
    assert any("10 of each are advised" in line for line in found.warnings)


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
    assert any("not of a meter" in line for line in found.warnings)


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
    assert found.quantity == "whole runs, per updates"


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
        "A: powercap changes only every 100 ms, and 10.0 s were measured at a time: the energy may be off by 2.0 %"
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


def test_json_is_a_comparison(tmp_path):
    folders = [records.write(tmp_path / of.label, of) for of in pair(wire_bytes=10**9)]
    result = CliRunner().invoke(compare, [*map(str, folders), "--json"])
    assert result.exit_code == 0
    found = Comparison.model_validate_json(result.stdout)
    assert found == compare_runs(*pair(wire_bytes=10**9))


def test_the_screen_says_what_how_much_and_which_kind(tmp_path):
    folders = [records.write(tmp_path / of.label, of) for of in pair(wire_bytes=10**9)]
    text = CliRunner().invoke(compare, [str(folder) for folder in folders]).stdout
    for words in ("B against A: whole runs", "2.01 kJ", "vendor-model", "Speedup", "wire, derived", "category 3"):
        assert words in text
    assert "\x1b" not in text, "plain when piped"


@pytest.mark.parametrize("width", [80, 120])
def test_the_screen_shows_kinds_of_both_sides_at_any_width(width):
    a, b = run("A", kind=EnergyKind.MEASURED), run("B", kind=EnergyKind.ESTIMATED, start=SOON)
    text = shown(compare_runs(a, b, allow_mixed=True), width)
    assert "measured" in text
    assert "estimated" in text


def test_a_study_is_one_row_per_comparison():
    out = io.StringIO()
    found = compare_runs(*pair())
    few = compare_runs(run("A", TIMES[:3]), run("B", TIMES[:3]))
    render_table([("64M", found), ("128M", few)], Console(file=out, width=140))
    lines = out.getvalue().splitlines()
    assert "64M" in lines[1] and "3: buys speed" in lines[1] and "vendor-model" in lines[1]
    assert "128M" in lines[2] and "too few runs" in lines[2]


def test_labels_alike_are_told_apart_by_their_folders(tmp_path):
    twins = [run("app"), run("app"), run("other")]
    folders = [tmp_path / "x" / "one", tmp_path / "x" / "two", tmp_path / "three"]
    assert [r.label for r in distinct(folders, twins)] == ["one", "two", "other"]
    folders[1] = tmp_path / "y" / "one"
    assert [r.label for r in distinct(folders, twins)][:2] == [str(folders[0]), str(folders[1])]
