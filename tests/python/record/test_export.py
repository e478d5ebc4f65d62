"""`lull export`: metrics over HTTP and as a file, and records as tidy tables for other programs."""

import csv
import io
import re
import signal
import socket
import urllib.request
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prometheus_client.parser import text_string_to_metric_families

import records
from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from lull import record
from lull.base.errors import UsageError
from lull.live.prometheus import parsed_address
from lull.record.table import COLUMNS, tidy_table


def values(text: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Samples by name, parsed like Prometheus."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def scrape(url: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        return values(answer.read().decode())


def test_metrics_are_served_and_counters_grow(lull: Lull) -> None:
    process = lull.start("export", "--listen", "127.0.0.1:0")
    assert process.stderr is not None
    match = re.search(r"http://\S+", process.stderr.readline())
    assert match is not None
    first = scrape(match[0])
    energy = "lull_energy_joules_total"
    assert wait_until(lambda: scrape(match[0])[energy][-1][1] > first[energy][-1][1])
    assert wait_until(lambda: any(watts > 0 for _, watts in scrape(match[0])["lull_total_power_watts"]))
    second = scrape(match[0])
    process.send_signal(signal.SIGTERM)
    _, left = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, left) == (0, "")
    assert first["lull_up"][0][1] == 1
    labels, _ = first[energy][-1]
    assert set(labels) == {"host", "source", "channel", "domain", "kind"}
    assert labels["kind"] in set(record.EnergyKind)
    assert any(labels["domain"] == "node" and watts > 0 for labels, watts in second["lull_total_power_watts"])
    assert first["lull_power_watts"]


def test_a_busy_port_is_one_line(lull: Lull) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = lull.run("export", "--listen", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert "Address already in use" in line


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("127.0.0.1:9464", ("127.0.0.1", 9464)),
        (":9464", ("127.0.0.1", 9464)),
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:0", ("0.0.0.0", 0)),
        ("[::1]:80", ("::1", 80)),
    ],
)
def test_an_address_without_a_host_is_this_machine_alone(text: str, found: tuple[str, int]) -> None:
    assert parsed_address(text) == found


@pytest.mark.parametrize("text", ["here", "a:b", "1.2.3.4:70000", ""])
def test_what_is_no_address_is_a_mistake_of_usage(text: str) -> None:
    with pytest.raises(UsageError, match="is not HOST:PORT"):
        parsed_address(text)


def test_a_textfile_is_whole_at_any_time_and_gone_in_the_end(lull: Lull) -> None:
    process = lull.start("export", "--textfile", "lull.prom", "--every", "0.2")
    out = lull.folder / "lull.prom"
    assert wait_until(out.exists)
    written = set()

    def is_whole() -> int:
        assert "lull_energy_joules_total" in values(out.read_text())
        written.add(out.stat().st_ino)
        return len(written)

    assert wait_until(lambda: is_whole() >= 3, every_s=0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0
    assert list(lull.folder.iterdir()) == []


def test_a_measurement_in_progress_is_exported_until_it_ends(lull: Lull) -> None:
    wait = "until test -e enough; do sleep 0.02; done"
    running = lull.start("measure", "--publish", "--out", "r", "--label", "app", "sh", "-c", wait)
    live = lull.folder / ".r.live"
    assert wait_until(lambda: list(live.glob("[!.]*.json")))
    process = lull.start("export", "r", "--listen", "127.0.0.1:0")
    assert process.stderr is not None
    match = re.search(r"http://\S+", process.stderr.readline())
    assert match is not None
    during = scrape(match[0])
    (lull.folder / "enough").touch()
    running.communicate(timeout=TIMEOUT_S)
    after = scrape(match[0])
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert [labels["label"] for labels, _ in during["lull_measurement_run"]] == ["app"]
    assert during["lull_energy_joules_total"]
    assert after["lull_up"][0][1] == 0
    assert "lull_energy_joules_total" not in after


def a_record(folder: Path) -> Path:
    repeats = [
        records.repeat(i, 10.0 + i, 500.0, wire_bytes=4_000_000, regions={"work": 0.5}, metrics={"updates": 9.0})
        for i in range(3)
    ]
    base = records.run("app", [1.0], [1.0])
    made = base.model_copy(
        update={"repeats": repeats, "factors": {"pes": 4, "mode": "direct"}, "idle": records.idle(20.0)}
    )
    return records.write(folder / "app", made)


def test_csv_has_a_row_for_every_run_and_energy(lull: Lull) -> None:
    a_record(lull.folder)
    done = lull.run("export", "app", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == 3 * (2 + 3)  # totals of node and wire; package, dram and wire
    [node] = [row for row in rows if row["domain"] == "node" and row["run"] == "2"]
    assert (node["energy"], node["unit"], node["kind"], node["is_total"]) == ("500", "J", "vendor-model", "true")
    assert (node["host"], node["time_s"], node["factor_pes"], node["factor_mode"]) == ("n1", "11", "4", "direct")
    assert node["metric_updates"] == "9"
    assert float(node["idle_w"]) == pytest.approx(20)
    assert node["started"].startswith("2026-03-01T12:00:00")
    assert {row["bytes"] for row in rows if row["domain"] == "wire"} == {"4000000"}


def test_parquet_has_the_same_rows_and_each_column_its_meaning(lull: Lull) -> None:
    a_record(lull.folder)
    assert lull.run("export", "app", "--format", "parquet", "--to", "t.parquet").returncode == 0
    table = pq.read_table(lull.folder / "t.parquet")
    assert table.num_rows == 15
    assert table.column_names[: len(COLUMNS)] == list(COLUMNS)
    assert table.schema.field("energy").metadata == {b"meaning": COLUMNS["energy"][1].encode()}


def test_regions_have_rows_of_their_own(tmp_path: Path) -> None:
    found = tidy_table([a_record(tmp_path)], regions=True).to_pylist()
    [node] = [row for row in found if row["is_total"] and row["domain"] == "node" and row["run"] == 1]
    assert (node["region"], node["time_s"], node["energy"]) == ("work", 5.0, pytest.approx(250))


def test_records_with_different_factors_make_one_table(tmp_path: Path) -> None:
    first = a_record(tmp_path)
    run = record.read(first)
    second = records.write(tmp_path / "b", run.model_copy(update={"factors": {"pes": "many", "size": 1.5}}))
    table = tidy_table([first, second], regions=False)
    assert set(table.column("factor_pes").to_pylist()) == {"4", "many"}
    assert set(table.column("factor_size").to_pylist()) == {None, 1.5}


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--listen", ":1", "--format", "csv"],
        ["--format", "csv"],
        ["--listen", ":1", "--out", "x"],
        ["--format", "csv", "--every", "3", "app"],
        ["--format", "csv", "--sysroot", "/", "app"],
        ["--format", "xlsx", "app"],
        ["--listen", ":1", "--sysroot", "/", "app"],
    ],
)
def test_wrong_usage_exits_2_with_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("export", *args)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "args",
    [["--format", "csv", "nothing"], ["--listen", ":0", "nothing"], ["--textfile", "/proc/x/y"]],
)
def test_what_cannot_be_read_or_written_is_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("export", *args)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
