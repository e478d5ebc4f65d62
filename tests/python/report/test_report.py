"""The report: one offline file that shows every figure with its kind, whole or absent."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner

import records
from lull.base.errors import LullError, UsageError
from lull.commands.report import report
from lull.comparison.compare import compare_runs
from lull.record import EnergyKind
from lull.report.write import records_in, write_report
from records import NOON, TIMES, faster, run

pytestmark = pytest.mark.xdist_group("report")

SOON = NOON + timedelta(seconds=30)


def studied(folder):
    """A folder of three records, one of them with gaps, and a record that must not be included."""
    options = {"regions": {"setup": 0.3, "updates": 0.7}, "metrics": {"updates": 1e6}, "wire_bytes": 10**9}
    records.write(folder / "a", run("poll", **options))
    records.write(
        folder / "b", run("adaptive", faster(TIMES, 2), 240, start=SOON, settings={"LULL_WAIT": "adaptive"}, **options)
    )
    records.write(folder / "c", run("interrupt", faster(TIMES, 0.9), 150, start=SOON, gaps=1, **options))
    records.write(folder / ".half", run("half"))
    return folder


@pytest.fixture
def study(tmp_path):
    return studied(tmp_path / "study")


@pytest.fixture(scope="module")
def of_study(tmp_path_factory):
    """The report of such a folder."""
    folder = tmp_path_factory.mktemp("report")
    return written([studied(folder / "study")], folder / "out.html")


class Page(HTMLParser):
    """Tags that must balance, ids, references, and the text of the cells."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.links, self.heads, self.buttons = [], [], [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        of = dict(attrs)
        if tag not in {"meta", "br", "use", "path", "rect", "circle"}:
            self.open.append(tag)
        self.ids += [of["id"]] if "id" in of else []
        self.links += [of[name] for name in ("href", "src", "xlink:href") if name in of]
        self.heads += [of["aria-sort"]] if "aria-sort" in of else []
        self.buttons += tag == "button"

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in {"path", "use", "rect", "circle"}:
            assert self.open.pop() == tag


def written(folders, out, **options):
    write_report(folders, out, **options)
    return out.read_text(encoding="utf-8")


def test_a_study_becomes_one_file_without_references_outside(study, tmp_path):
    text = written([study], tmp_path / "out.html", title="A <study>")
    page = Page(text)
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert {link for link in re.findall(r"https?://[\w.]+", text)} <= {"http://www.w3.org"}
    assert "A &lt;study&gt;" in text
    assert "3 records of" in text
    assert list(tmp_path.glob(".out.html*")) == []


def test_the_first_record_is_the_baseline_unless_another_is_named(study, tmp_path):
    text = written([study], tmp_path / "out.html")
    assert "compared with <strong>poll</strong>" in text
    assert "adaptive is 2.00× faster" in text
    other = written([study], tmp_path / "out.html", baseline=study / "b")
    assert "compared with <strong>adaptive</strong>" in other
    assert "poll is 2.00× slower" in other


def test_every_energy_figure_of_a_run_has_its_kind_and_source(of_study):
    text = of_study
    rows = re.findall(r"<tr><td data-v=.*?</tr>", text, flags=re.DOTALL)
    assert len(rows) == 30
    for row in rows:
        assert row.count('class="kind"') == 3, "energy, power, wire"
        assert "vendor-model" in row
        assert "derived" in row
        assert "package + dram (powercap)" in row
    for kind in EnergyKind:
        assert f"<dt>{kind.value}</dt>" in text


def test_what_it_was_measured_with_is_there(of_study):
    text = of_study
    for words in ("LULL_WAIT", "Imaginary 9000", "/sys/class/powercap/package/energy_uj", "10 gaps", "powercap:dram"):
        assert words in text


def test_versions_seeds_and_when_it_ran_are_there(of_study):
    text = of_study
    for words in ("Bootstrap: seed 1, 9999 resamples", "numpy ", "2026-03-01 12:18:30", "10 Hz", "mpirun -n 8"):
        assert words in text


def test_every_plot_says_its_kind_and_source(of_study):
    text = of_study
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", text, flags=re.DOTALL)
    assert len(captions) == 3
    assert all("Energy is vendor-model, package + dram from powercap." in caption for caption in captions)


def test_what_is_to_be_minded_of_all_is_said_once(of_study):
    text = of_study
    assert text.count("these are whole runs, start and end included") == 1
    assert "Of all these comparisons" in text


def test_idle_power_is_a_table(tmp_path):
    folders = [
        records.write(tmp_path / name, run(name).model_copy(update={"idle": records.idle(90.0)})) for name in "ab"
    ]
    text = written(folders, tmp_path / "out.html")
    assert "Idle power" in text
    assert "72.0 W" in text
    assert "above idle" in text


def test_a_record_of_several_nodes_has_a_table_by_node(tmp_path):
    of = run("wide", TIMES, 400.0, nodes=["left", "right"])
    hosts = [of.hosts[0], of.hosts[1].model_copy(update={"clock_error_s": 0.002})]
    text = written([records.write(tmp_path / "r", of.model_copy(update={"hosts": hosts}))], tmp_path / "out.html")
    table = text[text.index('id="nodes"') :].partition("</section>")[0]
    assert "left" in table
    assert "right" in table
    assert table.count("50 %") == 2
    assert table.count("200 W") == 2
    assert "± 2.00 ms" in table
    assert 'id="nodes"' not in written([records.write(tmp_path / "s", run("one"))], tmp_path / "other.html")


def test_sizes_make_lines_of_scaling(tmp_path):
    for nodes in (1, 2):
        of = run(f"n{nodes}", TIMES, 200.0 * nodes, nodes=[f"n{i}" for i in range(nodes)], factors={"nodes": nodes})
        records.write(tmp_path / "study" / f"{nodes}", of)
    text = written([tmp_path / "study"], tmp_path / "out.html")
    assert "Energy per node" in text
    assert 'id="scaling-' in text


@pytest.mark.parametrize(("chosen", "begins"), [((), b"<svg "), (("--plots-as", "pdf"), b"%PDF-")])
def test_plots_are_files_on_demand(study, tmp_path, chosen, begins):
    out, plots = tmp_path / "out.html", tmp_path / "deep" / "plots"
    result = CliRunner().invoke(report, [str(study), "--to", str(out), "--plots", str(plots), *chosen])
    assert result.exit_code == 0, result.output
    ending = "pdf" if chosen else "svg"
    names = {f"{name}.{ending}" for name in ("gps-up", "runs", "domains", "power-1-poll", "power-2-adaptive")}
    made = {path.name for path in plots.iterdir()}
    assert names <= made
    assert all(path.read_bytes().startswith(begins) for path in plots.iterdir())
    assert result.stdout.splitlines() == [str(out), *(str(plots / name) for name in _in_order(result.stdout))]
    assert len(made) == 6


def _in_order(told):
    return [line.rpartition("/")[2] for line in told.splitlines()[1:]]


def test_a_format_without_plots_is_a_mistake(study, tmp_path):
    result = CliRunner().invoke(report, [str(study), "--to", str(tmp_path / "x.html"), "--plots-as", "pdf"])
    assert isinstance(result.exception, UsageError)
    assert not (tmp_path / "x.html").exists()


def test_plots_where_a_file_stands_are_refused_before_the_report_is_written(study, tmp_path):
    (tmp_path / "plots").write_text("in the way")
    result = CliRunner().invoke(
        report, [str(study), "--to", str(tmp_path / "x.html"), "--plots", str(tmp_path / "plots")]
    )
    assert isinstance(result.exception, LullError)
    assert "--plots" in str(result.exception)
    assert not (tmp_path / "x.html").exists()


def test_tables_sort_by_keyboard(study, tmp_path):
    page = Page(written([study], tmp_path / "out.html"))
    assert set(page.heads) == {"none"}
    assert page.buttons == len(page.heads) > 10


def test_a_region_per_unit_of_work(study, tmp_path):
    text = written([study], tmp_path / "out.html", region="updates", per="updates")
    assert "region updates, per update" in text
    assert "7.02 µs" in text
    with pytest.raises(LullError, match="there are: setup, updates"):
        write_report([study], tmp_path / "other.html", region="x")
    assert not (tmp_path / "other.html").exists()


def test_mixed_kinds_are_said_not_compared(study, tmp_path):
    records.write(tmp_path / "guess", run("guess", kind=EnergyKind.ESTIMATED))
    text = written([study / "a", tmp_path / "guess"], tmp_path / "out.html")
    assert "guess is not compared: the energy of the first is vendor-model, of the second estimated" in text
    assert "different kinds are compared" in written(
        [study / "a", tmp_path / "guess"], tmp_path / "out.html", allow_mixed=True
    )


def test_given_comparisons_and_claims_are_shown(study, tmp_path):
    found = compare_runs(run("A"), run("B", faster(TIMES, 3), start=SOON))
    claims = [{"claim": "always saves time", "paper": "yes", "ours": "yes", "how obtained": "estimated"}]
    text = written([study], tmp_path / "out.html", comparisons=[("64M per node", found)], claims=claims)
    assert "64M per node" in text
    assert "always saves time" in text
    assert "how obtained" in text


def test_one_record_alone_is_a_report_too(tmp_path):
    folder = records.write(tmp_path / "only", run("only", TIMES[:1]))
    text = written([folder], tmp_path / "out.html")
    assert "Summary" not in text
    assert "Every run" in text


def test_the_same_records_give_the_same_bytes(study, tmp_path):
    assert written([study], tmp_path / "one.html") == written([study], tmp_path / "two.html")


def test_a_failure_leaves_the_old_report_as_it_was(study, tmp_path):
    out = tmp_path / "out.html"
    out.write_text("old")
    (study / "b" / "run.json").write_text('{"schema": 2')
    with pytest.raises(LullError, match="cut off"):
        write_report([study], out)
    assert out.read_text() == "old"


def test_folders_without_records_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LullError, match="no record in it"):
        records_in([tmp_path / "empty"])
    with pytest.raises(UsageError):
        records_in([])
    with pytest.raises(LullError, match="it is a folder"):
        write_report([records.write(tmp_path / "r", run())], tmp_path / "empty")


def test_a_record_named_twice_counts_once(study):
    assert records_in([study / "a", study]) == [study / "a", study / "b", study / "c"]


def test_the_command_writes_the_file_and_says_where(study, tmp_path):
    out = tmp_path / "deep" / "out.html"
    result = CliRunner().invoke(report, [str(study), "--to", str(out), "--baseline", str(study / "c")])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(out)
    assert "compared with <strong>interrupt</strong>" in out.read_text()
