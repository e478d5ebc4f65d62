"""The cost of waiting, from the file that a program writes to a report's tables: each joule once, with its kind."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import records
from lull.measurement.summary import waiting_in_words
from lull.record import Domain, Energy, EnergyKind, Repeat, Run, Waiting
from lull.record.append import add_repeats
from lull.record.waiting import energy_of_waits, typical_waiting
from lull.regions.accounts import Accounts, keep_those_of, read_accounts
from lull.report.write import write_report
from records import energy, repeat, run, samples, waiting, with_waiting

JOB = waiting({("put", 65536): 8.0, ("barrier", 0): 2.0, ("atomic", 8): 10.0}, cpu_s=40.0)


def metered(*energies: Energy, jobs: tuple[Waiting, ...] = (JOB,)) -> Repeat:
    """A repeat with only these energies."""
    return repeat(0, 10, 1000).model_copy(update={"energy": list(energies), "waiting": list(jobs)})


def test_waits_have_the_processors_energy_by_their_share_of_the_cpu_time() -> None:
    of = energy_of_waits(8.0, metered(energy(800), energy(200, Domain.DRAM), energy(500, Domain.GPU, channel="nvml:0")))
    assert of is not None
    assert of.joules == pytest.approx((800 + 200) * 8 / 40)
    assert (of.low_j, of.high_j) == (pytest.approx(190), pytest.approx(210))
    assert of.channel == "package + dram"
    assert of.kind is EnergyKind.DERIVED


def test_energy_that_two_sources_count_is_counted_once() -> None:
    of = energy_of_waits(
        20.0,
        metered(
            energy(1000, Domain.NODE, channel="pm_counters:node", kind=EnergyKind.MEASURED),
            energy(60, channel="pm_counters:cpu", kind=EnergyKind.MEASURED),
            energy(10, Domain.DRAM, channel="pm_counters:memory", kind=EnergyKind.MEASURED),
            energy(61),
            energy(11, Domain.DRAM),
            energy(15, Domain.NIC, channel="cxi:nic", kind=EnergyKind.ESTIMATED),
            energy(5, Domain.WIRE, channel="net:eth0", kind=EnergyKind.DERIVED),
        ),
    )
    assert of is not None
    assert (of.joules, of.kind) == (pytest.approx(35), EnergyKind.DERIVED)


def test_where_only_the_node_is_metered_it_is_shared_out() -> None:
    of = energy_of_waits(20.0, metered(energy(1000, Domain.NODE, channel="ipmi:node"), energy(7, Domain.DRAM)))
    assert of is not None
    assert (of.joules, of.channel) == (pytest.approx(500), "node")


def test_every_node_counts() -> None:
    of = energy_of_waits(
        20.0, metered(energy(100), energy(300, Domain.NODE, node="n2", channel="ipmi:node"), energy(50, node="n3"))
    )
    assert of is not None
    assert of.joules == pytest.approx((100 + 300 + 50) / 2)


def test_the_kind_is_no_better_than_that_of_the_energy() -> None:
    of = energy_of_waits(1.0, metered(energy(100, channel="estimate:package", kind=EnergyKind.ESTIMATED)))
    assert of is not None
    assert of.kind is EnergyKind.ESTIMATED


def test_a_reset_makes_the_energy_of_waits_a_lower_bound() -> None:
    read = metered(energy(100, resets=1))
    assert "at least 50.0 J (derived)" in waiting_in_words([read])


def test_without_a_meter_of_the_processors_there_is_no_figure() -> None:
    read = metered(energy(100, Domain.WIRE, channel="net:eth0", kind=EnergyKind.DERIVED))
    assert energy_of_waits(1.0, read) is None
    assert waiting_in_words([read]).endswith("no meter read the energy of the processors")


def test_jobs_that_follow_one_another_share_the_energy_of_the_repeat() -> None:
    second = waiting({("put", 65536): 2.0}, cpu_s=10.0, policy="poll")
    found = typical_waiting([metered(energy(100), jobs=(JOB, second))])
    assert found is not None
    assert (found.policy, found.pes, found.cpu_s) == ("interrupt, poll", 16, 50)
    [put] = [row for row in found.rows if row.operation == "put"]
    assert put.energy is not None
    assert (put.cpu_s, put.energy.joules) == (10, pytest.approx(20))


def test_repeats_are_told_by_their_medians_and_what_cost_most_comes_first() -> None:
    jobs = [waiting({("put", 8): s, ("get", 8): 3.0} if s else {("get", 8): 3.0}) for s in (0.0, 4.0, 6.0)]
    found = typical_waiting([metered(energy(100), jobs=(job,)) for job in jobs])
    assert found is not None
    assert [(row.operation, row.cpu_s) for row in found.rows] == [("put", 4.0), ("get", 3.0)]
    assert found.share(found.whole) == pytest.approx(7 / 40)


def test_call_sites_of_mpi_are_rows_of_their_own() -> None:
    job = waiting({("MPI_Recv", 0): 3.0})
    here = [job.rows[0].model_copy(update={"site": site}) for site in ("solve+0x10", "main+0x20", "solve+0x10")]
    found = typical_waiting([metered(energy(100), jobs=(job.model_copy(update={"rows": here}),))])
    assert found is not None
    assert [(row.site, row.cpu_s) for row in found.rows] == [("solve+0x10", 6.0), ("main+0x20", 3.0)]


def test_a_measurement_without_it_says_nothing_of_waiting() -> None:
    assert waiting_in_words([repeat(0, 10, 1000)]) == ""


def left(folder: Path, **changes: object) -> Accounts:
    """The result of reading a file with JOB and these changes."""
    content = {"schema": 1, **JOB.model_dump(), **changes}
    (folder / "waiting-n1-7.json").write_text(json.dumps(content))
    return read_accounts(folder)


def test_what_a_program_leaves_is_read(tmp_path: Path) -> None:
    found = keep_those_of("n1", left(tmp_path))
    assert (found.waiting, found.warnings) == ([JOB], [])


@pytest.mark.parametrize("changes", [{"schema": 2}, {"pes": -1}, {"rows": [{"operation": "put"}]}, {"more": 1}])
def test_a_table_that_makes_no_sense_is_a_warning(tmp_path: Path, changes: dict[str, object]) -> None:
    found = left(tmp_path, **changes)
    assert found.waiting == []
    [line] = found.warnings
    assert line.startswith("waiting-n1-7.json of the program is left out: ")


def test_further_repeats_keep_it(tmp_path: Path) -> None:
    of = with_waiting(run(times=[10.0]), JOB)
    folder = records.write(tmp_path / "r", of)
    after = add_repeats(folder, of, samples(of))
    assert [repeat.waiting for repeat in after.repeats] == [[JOB], [JOB]]


class TestReport:
    def page(self, folder: Path, *runs: Run) -> str:
        folders = [records.write(folder / of.label, of) for of in runs]
        write_report(folders, folder / "out.html")
        return (folder / "out.html").read_text(encoding="utf-8")

    def test_it_has_a_table_of_records_and_one_of_operations(self, tmp_path: Path) -> None:
        other = waiting({("put", 65536): 1.0}, policy="adaptive")
        text = self.page(tmp_path, with_waiting(run("a"), JOB), with_waiting(run("b"), other), run("c"))
        [section] = re.findall(r'<section id="waiting">.*?</section>', text, re.DOTALL)
        rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr><td.*?</tr>", section)]
        words = [[cell.strip() for cell in row.split("|") if cell.strip()] for row in rows]
        assert [row[:2] for row in words] == [
            ["a", "interrupt"],
            ["b", "adaptive"],
            ["a", "atomic"],
            ["a", "put"],
            ["a", "barrier"],
            ["b", "put"],
        ]
        assert words[0][2:] == ["8", "40.0 s", "4.00 s", "20.0 s", "50 %", "1.00 kJ", "derived"]
        assert words[3][2:] == ["–", "64 KiB", "100", "6553600", "80", "16.0 s", "8.00 s", "8.00 s", "401 J", "derived"]

    def test_it_is_left_out_where_no_record_holds_it(self, tmp_path: Path) -> None:
        assert "Cost of waiting" not in self.page(tmp_path, run("a"))

    def test_failed_repeats_do_not_count(self, tmp_path: Path) -> None:
        of = with_waiting(run("a", times=[10.0, 10.0], exit_codes=[0, 1]), JOB)
        failed = of.repeats[1].model_copy(update={"waiting": [waiting({("get", 8): 30.0})]})
        text = self.page(tmp_path, of.model_copy(update={"repeats": [of.repeats[0], failed]}))
        assert "50 %" in text
        assert '<td data-v="get">' not in text
