"""The sections of a report and the list of contents that links to them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import records
from lull.record import EnergyKind
from lull.report import svg
from lull.report.tabled_plot import TabledPlot
from lull.report.write import write_report
from records import run

pytestmark = pytest.mark.xdist_group("report")


def written(folders: list[Path], out: Path, **options: object) -> str:
    write_report(folders, out, **options)  # type: ignore[arg-type]
    return out.read_text(encoding="utf-8")


def contents_and_sections(text: str) -> tuple[list[str], list[str]]:
    """The ids to which the list of contents links, and those of the sections, in order."""
    [contents] = re.findall(r"<nav .*?</nav>", text, flags=re.DOTALL)
    return re.findall(r'href="#([^"]+)"', contents), re.findall(r'<section id="([^"]+)"', text)


def blank(name: str) -> svg.Plot:
    """A plot without marks."""
    with svg.drawing():
        figure, _ = svg.panels(1, 1.0)
    return svg.Plot(figure, f"Nothing of {name}")


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """Two records."""
    return [records.write(tmp_path / name, run(name)) for name in "ab"]


def test_the_contents_list_every_section_in_order(folders: list[Path], tmp_path: Path) -> None:
    names = ("curves", "impacts", "bars", "traces")
    plots = {
        name: [TabledPlot(f"{name}-1", f"The {name}", blank(name), ["what", "many"], [["a", "1"]], (0,))]
        for name in names
    }
    links, sections = contents_and_sections(written(folders, tmp_path / "out.html", **plots))
    assert links == sections
    assert set(names) < set(links)


def test_the_contents_list_a_summary_of_refusals_alone(folders: list[Path], tmp_path: Path) -> None:
    guess = records.write(tmp_path / "guess", run("guess", kind=EnergyKind.ESTIMATED))
    links, sections = contents_and_sections(written([folders[0], guess], tmp_path / "out.html"))
    assert links == sections
    assert links[0] == "summary"
