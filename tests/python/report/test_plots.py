"""Plots: self-contained SVG that collides with nothing in a page, is the same each time, and shows every kind."""

from __future__ import annotations

import functools
import itertools
import re
import xml.etree.ElementTree as ET

import pytest

import records
from lull.comparison.compare import compare_runs
from lull.comparison.quantity import quantity
from lull.record import EnergyKind
from lull.report import plots
from lull.report.comparisons import planes
from lull.report.quadrant import gps_up
from lull.report.scaling import scaling, scaling_plot
from records import TIMES, faster, run

pytestmark = pytest.mark.xdist_group("plots")

BASE = run("base", regions={"setup": 0.3, "updates": 0.7}, wire_bytes=10**9)
WIDE = run("estimated", kind=EnergyKind.ESTIMATED)


def named():
    points = [(2, 240.0), (2, 180.0), (0.8, 150.0), (1.5, 420.0), (0.6, 250.0), (1.0, 200.0), (1.001, 200.0)]
    return [(f"case {i}", compare_runs(run(), run("x", faster(TIMES, s), w))) for i, (s, w) in enumerate(points)]


@functools.cache  # two seconds of CPU, and many tests look at them
def every_plot(ident="p"):
    energies = [("base", [r.energy for r in BASE.repeats]), ("estimated", [r.energy for r in WIDE.repeats])]
    return [
        gps_up(named()).svg(f"{ident}1"),
        plots.runs_of_each([("base", quantity(BASE)), ("estimated", quantity(WIDE))]).svg(f"{ident}2"),
        plots.energy_by_domain(energies).svg(f"{ident}3"),
        plots.power_over_time(BASE, records.samples(BASE), plots.typical_repeat(BASE)).svg(f"{ident}4"),
        scaling_plot(scaling(grown())).svg(f"{ident}5"),
    ]


def grown():
    """Direct and aggregated on 1, 2 and 4 nodes: 200 W per node, direct slower by a tenth at each doubling."""
    found = []
    for mode, slower in (("direct", 1.1), ("aggregated", 1.0)):
        for step, nodes in enumerate((1, 2, 4)):
            times = [t * slower**step for t in TIMES]
            names = [f"n{i}" for i in range(nodes)]
            of = run(f"{mode}-{nodes}", times, 200.0 * nodes, nodes=names, factors={"mode": mode, "nodes": nodes})
            found.append((quantity(of), of))
    return found


def words(svg):
    return [text.text for text in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_every_plot_is_one_described_element_that_refers_to_nothing_outside():
    for svg in every_plot():
        root = ET.fromstring(svg)
        assert root.tag.endswith("svg")
        assert root.get("role") == "group", "it holds marks that speak for themselves"
        assert root.get("aria-label")
        assert set(re.findall(r"https?://[^\"'/]+", svg)) <= {"http://www.w3.org"}
        assert "currentColor" in svg


def test_plots_are_the_same_each_time():
    assert every_plot() == every_plot.__wrapped__()


def test_ids_never_collide_in_a_page_and_references_hold():
    page = "".join(every_plot("a") + every_plot("b"))
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(#|href="#)([^)"]+)', page)) <= set(ids)


def test_gps_up_names_each_point_with_its_category():
    svg = gps_up(named()).svg("p")
    for label in ("case 0 (3)", "case 1 (1)", "case 2 (4)", "case 3 (5)", "case 4 (8)", "case 5 (–)"):
        assert label in words(svg)
    assert {"uses less energy", "uses more energy"} <= set(words(svg))


@pytest.mark.parametrize("count", [1, 10])
def test_names_never_lie_over_each_other(count):
    many = [
        (f"configuration {i}", compare_runs(run(), run("x", faster(TIMES, 1 + 0.01 * i), 200 + i)))
        for i in range(count)
    ]
    boxes = []
    for text in ET.fromstring(gps_up(many).svg("p")).iter("{http://www.w3.org/2000/svg}text"):
        if (text.text or "").startswith("configuration"):
            x, y = _placed(text)
            boxes.append((x, y, x + 80, y + 7))
    assert len(boxes) == count
    for i, one in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart, (one, other)


def test_many_points_are_lettered_and_named_beside_the_plane():
    found = named()[0][1]
    text = words(gps_up([(f"case {i}", found) for i in range(30)]).svg("p"))
    assert {"a", "z", "aa", "ad", "a  case 0 (3)", "ad  case 29 (3)"} <= set(text)


def _placed(text):
    """Left edge and middle of an SVG text of matplotlib."""
    moved = re.search(r"translate\(([-\d.]+)[ ,]+([-\d.]+)\)", text.get("transform", ""))
    return [float(v) for v in (moved.groups() if moved else (text.get("x"), text.get("y")))]


def test_energy_is_labelled_with_its_kind_and_estimates_are_hatched():
    svg = every_plot()[2]
    assert {"package, vendor-model", "package, estimated", "wire, derived"} <= set(words(svg))
    assert any("wire 600 mJ, derived" in text for text in words(svg))
    assert "<pattern" in svg


def test_a_violin_needs_three_runs_that_differ():
    def areas(times):
        drawn = plots.runs_of_each([("x", quantity(run("x", times)))]).svg("p")
        return drawn.count("PolyCollection_")  # matplotlib 3.10 puts FillBetween in front of it

    assert areas(TIMES) == 2, "of time and of energy"
    assert areas(TIMES[:2]) == areas([10.0] * 8) == 0


def test_runs_of_different_kinds_are_told_apart():
    text = words(every_plot()[1])
    assert "estimated energy" in text
    assert "vendor-model energy" in text


def test_ticks_are_where_they_say():
    """Evenly spaced on paper means evenly spaced in the numbers, whatever their digits."""
    near = [("near", quantity(run("near", [10.0, 10.24, 10.51, 10.76])))]
    ticks = [float(text.split()[0]) for text in words(plots.runs_of_each(near).svg("p")) if text.endswith(" s")]
    steps = [round(after - before, 9) for before, after in itertools.pairwise(ticks)]
    assert len(steps) >= 2
    assert len(set(steps)) == 1


def test_every_mark_says_what_it_is():
    for svg in every_plot():
        marks = [g for g in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g") if g.get("class") == "tip"]
        assert marks
        for mark in marks:
            assert mark.get("tabindex") == "0"
            assert mark[0].tag.endswith("title")
            assert mark[0].text == mark.get("aria-label")
    tips = re.findall(r'class="tip"[^>]*aria-label="([^"]+)"', every_plot()[0])
    assert "case 0: Speedup 2.00 (1.97–2.03), Greenup 1.67 (1.64–1.69)" in tips[0]
    assert "3: buys speed with power, still saves energy. Energy vendor-model." in tips[0]


def test_many_runs_are_points_without_words():
    many = [("many", quantity(run("many", TIMES * 30)))]
    assert plots.runs_of_each(many).tips == []


def test_a_plot_is_a_pdf_of_the_same_bytes_each_time():
    plot = gps_up(named())
    assert plot.pdf().startswith(b"%PDF-")
    assert plot.pdf() == gps_up(named()).pdf()


class TestScaling:
    def test_ideal_weak_scaling_stays_at_one(self):
        ideal = dict(scaling(grown()).lines)["mode aggregated"]
        for step in ideal:
            assert (step.energy.value, step.time.value) == pytest.approx((1, 1))
            assert step.energy_each.value == pytest.approx(2005)

    def test_ratios_are_against_the_smallest_size(self):
        steps = dict(scaling(grown()).lines)["mode direct"]
        assert [step.size for step in steps] == [1, 2, 4]
        assert [step.time.value for step in steps] == pytest.approx([1, 1.1, 1.21])
        assert [step.energy.value for step in steps] == pytest.approx([1, 1.1, 1.21])
        assert steps[1].time.low < 1.1 < steps[1].time.high

    def test_the_number_of_nodes_stands_in_for_a_factor(self):
        bare = [(of, one.model_copy(update={"factors": {}})) for of, one in grown()[:3]]
        assert [step.size for step in scaling(bare).lines[0][1]] == [1, 2, 4]

    def test_records_of_one_size_have_none(self):
        assert scaling(grown()[:1]) is None
        assert scaling([grown()[0], grown()[3]]) is None
        assert scaling([(quantity(BASE), BASE), (quantity(WIDE), WIDE)]) is None

    def test_two_records_of_one_size_that_nothing_tells_apart_make_no_line(self):
        assert scaling([*grown()[:3], grown()[0]]) is None

    def test_settings_tell_lines_apart_too(self):
        calm = [(of, one.model_copy(update={"settings": {"LULL_WAIT": "interrupt"}})) for of, one in grown()[:3]]
        names = [name for name, _ in scaling([*grown()[:3], *calm]).lines]
        assert names == ["LULL_WAIT poll", "LULL_WAIT interrupt"]

    def test_lines_are_told_apart_by_what_differs(self):
        text = words(scaling_plot(scaling(grown())).svg("p"))
        assert {"mode direct", "mode aggregated", "Energy per node,", "vendor-model", "Tₙ / T₁"} <= set(text)


def test_power_shows_regions_and_is_absent_without_samples():
    assert {"setup", "updates"} <= set(words(every_plot()[3]))
    assert plots.power_over_time(BASE, records.samples(BASE).slice(0, 0), 0) is None
    assert plots.typical_repeat(run("x", [1.0, 9.0, 5.0])) == 2
    assert plots.typical_repeat(run("x", [1.0], exit_codes=[1])) is None


def test_more_comparisons_than_a_plane_can_name_are_parted_by_what_is_compared():
    found = named()[0][1]
    few = [(f"{what}: case {i}", found) for what in ("a", "b") for i in range(5)]
    assert planes(few) == [("", few)]
    many = [(f"{what}: case {i}", found) for what in ("a", "b") for i in range(6)]
    assert [(title, [name for name, _ in part]) for title, part in planes(many)] == [
        ("a", [f"case {i}" for i in range(6)]),
        ("b", [f"case {i}" for i in range(6)]),
    ]
    alone = [(f"case {i}", found) for i in range(12)]
    assert planes(alone) == [("", alone)]
    assert planes([]) == []
