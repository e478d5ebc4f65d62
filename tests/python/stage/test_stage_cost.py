"""The cost of output, from the file that a job writes to the table of a report: each joule once, with its kind."""

import json
import re
from pathlib import Path

import pytest

import records
from lull.measurement.summary import costs_in_words
from lull.record import EnergyKind, Run
from lull.record.append import add_repeats
from lull.record.output import typical_output
from lull.regions.accounts import Accounts, keep_those_of, read_accounts
from lull.report.write import write_report
from records import output, repeat, run, samples, with_output

JOB = output()


def left(folder: Path, **changes: object) -> Accounts:
    """The result of reading a file with JOB and these changes."""
    content = {"schema": 1, **JOB.model_dump(), **changes}
    (folder / "output-n1-7.json").write_text(json.dumps(content))
    return read_accounts(folder)


def test_what_a_job_leaves_is_read(tmp_path: Path) -> None:
    found = keep_those_of("n1", left(tmp_path))
    assert (found.output, found.warnings) == ([JOB], [])


@pytest.mark.parametrize("changes", [{"schema": 2}, {"nodes": 0}, {"clients": {}}, {"more": 1}])
def test_figures_that_make_no_sense_are_a_warning(tmp_path: Path, changes: dict[str, object]) -> None:
    found = left(tmp_path, **changes)
    assert found.output == []
    [line] = found.warnings
    assert line.startswith("output-n1-7.json of the program is left out: ")


def test_further_repeats_keep_it(tmp_path: Path) -> None:
    of = with_output(run(times=[10.0]), JOB)
    folder = records.write(tmp_path / "r", of)
    assert [one.output for one in add_repeats(folder, of, samples(of)).repeats] == [[JOB], [JOB]]


def test_a_role_costs_its_share_of_the_processors_energy() -> None:
    found = typical_output(with_output(run(), JOB).repeats)
    assert found is not None
    whole = typical_output(with_output(run(), output(servers=0, approach="time-partitioning")).repeats)
    assert whole is not None
    clients, servers = found.roles
    [alone] = whole.roles
    assert clients.energy and servers.energy and alone.energy
    assert clients.energy.joules == pytest.approx(alone.energy.joules * 15 / 20)
    assert servers.energy.joules == pytest.approx(alone.energy.joules * 5 / 20)
    assert servers.energy.kind is EnergyKind.DERIVED
    assert (clients.files, clients.bytes) == (60, 60e6)


def test_a_measurement_says_it_in_a_line() -> None:
    assert costs_in_words([repeat(0, 10, 1000)]) == []
    [line] = costs_in_words(with_output(run(times=[10.0]), JOB).repeats)
    assert line.startswith(
        "output by dedicated-cores=1 held 3 clients up for 6.00 s of 24.0 s; 1 server took 5.00 s of CPU time and "
    )
    assert line.endswith(" (derived)")


def page(folder: Path, *runs: Run) -> str:
    folders = [records.write(folder / of.label, of) for of in runs]
    write_report(folders, folder / "out.html")
    return (folder / "out.html").read_text(encoding="utf-8")


def test_a_report_has_a_row_for_each_role(tmp_path: Path) -> None:
    alone = output(servers=0, approach="time-partitioning")
    text = page(tmp_path, with_output(run("a"), JOB), with_output(run("b"), alone), run("c"))
    [section] = re.findall(r'<section id="output">.*?</section>', text, re.DOTALL)
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr><td.*?</tr>", section)]
    words = [[cell.strip() for cell in row.split("|") if cell.strip()] for row in rows]
    assert [row[:4] for row in words] == [
        ["a", "dedicated-cores=1", "client", "3"],
        ["a", "dedicated-cores=1", "server", "1"],
        ["b", "time-partitioning", "client", "3"],
    ]
    assert words[1][4:9] == ["–", "–", "7.00 s", "1.00 s", "5.00 s"]
    assert words[1][-3:] == ["derived", "60", "60.0"]


def test_a_report_without_it_does_not_mention_it(tmp_path: Path) -> None:
    assert "Cost of output" not in page(tmp_path, run("a"))
