"""The sections of a report: each row of their table has its link, heading and content on the page, or is absent."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import records
from lull.record import EnergyKind
from lull.report import svg
from lull.report.rendering import TEMPLATES
from lull.report.section import Body, Figure, ReportData, Section
from lull.report.sections import SECTIONS
from lull.report.tabled_plot import TabledPlot
from lull.report.tables import Cell, Table
from lull.report.write import PlotFiles, write_report
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
    assert links == sections == [section.name for section in SECTIONS if section.name in links]
    assert set(names) < set(links)


def test_the_contents_list_a_summary_of_refusals_alone(folders: list[Path], tmp_path: Path) -> None:
    guess = records.write(tmp_path / "guess", run("guess", kind=EnergyKind.ESTIMATED))
    links, sections = contents_and_sections(written([folders[0], guess], tmp_path / "out.html"))
    assert links == sections
    assert links[0] == "summary"


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[[Section], None]:
    """Adds a section as the last row of the table."""
    return lambda section: monkeypatch.setattr("lull.report.page.SECTIONS", (*SECTIONS, section))


def of_toys(data: ReportData) -> Body:
    """A figure, a table and words that must be escaped."""
    table = Table("Toys", ["Record", "Toys"], [[Cell(name, name), Cell("3", 3)] for name, _ in data.quantities], (0,))
    return Body(words="3 < 4", figure=Figure("toys", blank("toys"), "No toys & none."), tables=[table])


def test_a_row_of_the_table_is_a_section_with_link_heading_and_plot_file(
    toy: Callable[[Section], None], folders: list[Path], tmp_path: Path
) -> None:
    toy(Section("toys", "Toys of each record", of_toys, link="Toys"))
    made = write_report(folders, tmp_path / "out.html", plot_files=PlotFiles(tmp_path, "svg"))
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    [section] = re.findall(r'<section id="toys">.*?</section>', text, re.DOTALL)
    assert '<a href="#toys">Toys</a></nav>' in text
    assert "<h2>Toys of each record</h2>" in section
    assert "<p>3 &lt; 4</p>" in section
    assert "<figcaption>No toys &amp; none.</figcaption>" in section
    assert '<tr><td data-v="a">a</td><td class="number" data-v="3">3</td></tr>' in section
    assert made[-1] == tmp_path / "toys.svg"


def test_a_section_without_content_is_absent_from_page_and_contents(
    toy: Callable[[Section], None], folders: list[Path], tmp_path: Path
) -> None:
    toy(Section("toys", "Toys", lambda _: None))
    assert "toys" not in written(folders, tmp_path / "out.html").lower()


def test_every_template_of_a_section_is_in_use() -> None:
    assert {section.template for section in SECTIONS} == {path.name for path in (TEMPLATES / "sections").iterdir()}
