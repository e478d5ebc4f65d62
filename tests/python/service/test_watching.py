"""`lull export --service` and `--collector`, and the alerts and dashboards that are made from what they print."""

import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from bounds import TIMEOUT_S
from conftest import Lull, wait_until
from job_collector import Site, row, site
from lull.jobs.rows import read_row
from lull.jobs.store import Store
from node_service import ALICE, BOB, NodeService, node_service, with_users
from places import TOP
from promtool import Series, check_values, promtool, series_of, with_promtool

FOLDER = TOP / "packaging" / "service"
RULES = FOLDER / "prometheus" / "rules.yml"
BOARDS = sorted(path.stem for path in (FOLDER / "grafana").glob("*.json"))
SCRAPES: Final = 3
EVERY_S: Final = 150  # between scrapes, as Prometheus is made to believe
JOULES: Final = 60  # that the node consumes between two
VARIABLES: Final = {"$__rate_interval": "5m", "$__range": "1h", "$host": ".*", "$project": ".*"}
PRICES = '[price]\nper_kwh = 0.25\ncurrency = "EUR"\nsource = "contract"\n[carbon]\ng_per_kwh = 400\nsource = "grid"\n'


@dataclass(frozen=True)
class Watched:
    """A node with a service, and a collector with jobs of two users."""

    service: NodeService
    site: Site

    def command(self, *words: str | Path) -> list[str]:
        options = ["--service", "--spool", self.service.spool, "--collector", self.site.socket]
        return self.site.command("export", *options, "--site", self.site.file, *words)

    def environment(self) -> dict[str, str]:
        return self.site.environment() | {"LULL_SERVICE_SOCKET": str(self.service.sockets / "meter")}

    @contextmanager
    def exporting(self) -> Iterator[str]:
        """An exporter; the URL of its metrics."""
        process = subprocess.Popen(
            self.command("--listen", "127.0.0.1:0"),
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(),
            cwd=self.site.folder,
        )
        try:
            assert process.stderr
            line = process.stderr.readline()
            match = re.search(r"http://[^;]+", line)
            assert match, line + process.stderr.read()
            yield match[0]
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=TIMEOUT_S)


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    with node_service() as service, site() as collecting:
        service.start()
        service.open("own", os.geteuid(), project="chemistry")
        collecting.describe(PRICES)
        # They begin tomorrow, so that they belong to this month and day even if that ends during the test.
        soon = {"begin_us": (int(time.time()) + 86_400) * 1_000_000, "end_us": (int(time.time()) + 86_460) * 1_000_000}
        rows = [
            row("1", uid=ALICE, uj=7_200_000_000, **soon),
            row("2", uid=BOB, project="chemistry", uj=3_600_000_000, kind="derived", **soon),
        ]
        with Store(collecting.store) as store:
            store.ingest([read_row(one) for one in rows])
        collecting.store.chmod(0o600)
        collecting.start(listen="")
        yield Watched(service, collecting)


@pytest.fixture(scope="module")
def scrapes(watched: Watched) -> list[str]:
    """What a node that consumes 0.4 W prints."""
    found = []
    with watched.exporting() as url:
        for _ in range(SCRAPES):
            watched.service.consume(JOULES)
            watched.service.ask({"ask": "figures", "key": "own"}, "accounts")
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
                found.append(answer.read().decode())
    return found


def board(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "grafana" / f"{name}.json").read_text())
    return found


def expressions(board: dict[str, Any]) -> list[str]:
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    for name, value in VARIABLES.items():
        found = [one.replace(name, value) for one in found]
    return found


def test_what_is_exported_adds_up(scrapes: list[str]) -> None:
    series = series_of(scrapes)

    def total(name: str) -> float:
        return sum(values[-1] or 0 for key, values in series.items() if key.startswith(name + "{"))

    assert total("lull_service_up") == total("lull_service_administrator") == 1
    assert total("lull_node_energy_joules_total") == pytest.approx(JOULES * SCRAPES, abs=0.001)
    assert total("lull_node_energy_share_joules_total") == pytest.approx(total("lull_node_energy_joules_total"))
    assert total("lull_node_unattributed_joules") == 0
    assert total("lull_account_energy_joules") == pytest.approx(JOULES * SCRAPES, abs=0.001)
    assert total("lull_node_accounts") == 1
    month = 'lull_project_energy_joules{kind="%s", period="month", project="%s"}'
    assert series[month % ("vendor-model", "physics")][-1] == 7200
    assert series[month % ("derived", "chemistry")][-1] == 3600
    assert series['lull_price_per_kwh{currency="EUR", source="contract"}'][-1] == 0.25


@with_promtool
def test_prometheus_accepts_the_metrics_and_the_rules(scrapes: list[str]) -> None:
    promtool("check", "metrics", text=scrapes[0])
    promtool("check", "rules", RULES)


@with_promtool
@pytest.mark.parametrize("name", BOARDS)
def test_every_panel_shows_something(name: str, scrapes: list[str], tmp_path: Path) -> None:
    found = expressions(board(name))
    assert len(found) >= 10
    wanted = {f"count({one}) > bool 0": 1.0 for one in found}
    check_values(tmp_path, series_of(scrapes), wanted, every_s=EVERY_S, at_s=EVERY_S * (SCRAPES - 1))


@with_promtool
def test_panels_and_recorded_sums_have_the_right_values(scrapes: list[str], tmp_path: Path) -> None:
    [power] = [one for one in expressions(board("site")) if "sum by (kind) (rate" in one]
    [cost] = [one for one in expressions(board("jobs")) if "lull_price" in one]
    wanted = {
        f"round(sum({power}), 0.001)": JOULES / EVERY_S,
        "round(sum(host_kind:lull_power_watts:rate5m), 0.001)": JOULES / EVERY_S,
        "round(sum(kind_part:lull_power_watts:rate5m), 0.001)": JOULES / EVERY_S,
        f"round(sum({cost}), 1e-7)": 10_800 / 3.6e6 * 0.25,
    }
    check_values(tmp_path, series_of(scrapes), wanted, rules=RULES, every_s=EVERY_S, at_s=EVERY_S * (SCRAPES - 1))


TROUBLES: Final[dict[str, tuple[str, list[float]]]] = {
    "LullServiceDown": ("lull_service_up", [0]),
    "LullExporterHasNoRights": ("lull_service_administrator", [0]),
    "LullReadingsAreOld": ("lull_node_reading_age_seconds", [60]),
    "LullEnergyUnattributed": ("lull_node_unattributed_joules", [1e-6]),
    "LullReadingsLost": ("lull_node_lost_readings_total", [0, 1]),
    "LullRowsNotSent": ("lull_spool_oldest_seconds", [1000]),
    "LullRowsRefused": ("lull_spool_refused_rows", [1]),
    "LullRowsNotWritten": ("lull_node_rows_waiting", [200]),
    "LullRowsLost": ("lull_node_rows_lost_total", [0, 5]),
    "LullCollectorDown": ("lull_collector_up", [0]),
    "LullSumsIncomplete": ("lull_collector_incomplete", [1]),
}


def lasting(series: Series, name: str = "", trouble: list[float] | None = None) -> Series:
    """The last scrape, over and over, but for one metric."""
    found: Series = {}
    for key, values in series.items():
        changed = trouble if trouble is not None and key.startswith(name + "{") else [values[-1]]
        found[key] = [*changed, *[changed[-1]] * (11 - len(changed))]
    return found


@with_promtool
def test_no_alert_fires_while_all_is_well(scrapes: list[str], tmp_path: Path) -> None:
    wanted = {"count(ALERTS) or vector(0)": 0.0}
    check_values(tmp_path, lasting(series_of(scrapes)), wanted, rules=RULES, every_s=60, at_s=600)


@with_promtool
@pytest.mark.parametrize("alert", TROUBLES)
def test_an_alert_fires_for_its_trouble_and_no_other(alert: str, scrapes: list[str], tmp_path: Path) -> None:
    firing = 'ALERTS{alertstate="firing"}'
    wanted = {
        f"count(count by (alertname) ({firing}))": 1.0,
        f'count(count by (alertname) (ALERTS{{alertstate="firing", alertname="{alert}"}}))': 1.0,
    }
    check_values(tmp_path, lasting(series_of(scrapes), *TROUBLES[alert]), wanted, rules=RULES, every_s=60, at_s=600)


def test_every_alert_has_its_test_and_says_what_to_do() -> None:
    names, *rules = zip(*re.findall(r"- alert: (\w+)\n((?: {8}.*\n)+)", RULES.read_text()), strict=True)
    assert set(names) == set(TROUBLES)
    for rule in rules[0]:
        assert re.search(r"severity: (info|warning|critical)}\n", rule)
        assert re.search(r"  summary: .+\n +description: .+\n", rule)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_can_be_imported(name: str) -> None:
    found = board(name)
    panels = found["panels"]
    assert found["uid"] == f"lull-{name}"
    assert [one["id"] for one in panels] == [1 + place for place in range(len(panels))]
    for panel in panels:
        assert panel["title"]
        assert panel["description"].endswith(".")
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {"${datasource}"}
    places = [one["gridPos"] for one in panels]
    covered = [(x, y) for p in places for x in range(p["x"], p["x"] + p["w"]) for y in range(p["y"], p["y"] + p["h"])]
    assert len(covered) == len(set(covered)), "panels overlap"
    names = {one["name"] for one in found["templating"]["list"]}
    used = set(re.findall(r"\$(\w+)", " ".join(t["expr"] for panel in panels for t in panel["targets"])))
    assert {one for one in used if not one.startswith("__")} | {"datasource"} == names


@with_users
def test_an_ordinary_user_exports_the_own_jobs_only(watched: Watched) -> None:
    out = watched.site.folder / "alice"
    out.mkdir()
    os.chown(out, ALICE, ALICE)
    process = subprocess.Popen(
        watched.command("--textfile", out / "lull.prom"),
        stderr=subprocess.PIPE,
        env=watched.environment(),
        cwd=out,
        user=ALICE,
        group=ALICE,
        extra_groups=[],
    )
    try:
        assert wait_until(lambda: (out / "lull.prom").exists() or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        text = (out / "lull.prom").read_text()
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_S)
    series = series_of([text])
    assert [values for key, values in series.items() if key.startswith("lull_service_administrator")] == [[0]]
    assert not [key for key in series if key.startswith("lull_node_")]
    assert not [key for key in series if key.startswith("lull_account_energy_joules")]
    assert [key for key in series if key.startswith("lull_user_jobs") and str(BOB) in key] == []
    assert [key for key in series if key.startswith("lull_user_jobs") and str(ALICE) in key]


def test_without_service_and_collector_the_metrics_say_so(lull: Lull) -> None:
    words = ["--service", "--spool", "none", "--collector", str(lull.folder / "none")]
    lull.env["LULL_SERVICE_SOCKET"] = str(lull.folder / "no")
    process = lull.start("export", *words, "--textfile", "lull.prom")
    out = lull.folder / "lull.prom"
    assert wait_until(out.exists)
    lines = [line for line in out.read_text().splitlines() if not line.startswith("#")]
    process.terminate()
    process.communicate(timeout=TIMEOUT_S)
    assert sorted(re.sub(r"{.*}", "", line) for line in lines) == ["lull_collector_up 0.0", "lull_service_up 0.0"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--service"], "choose one of"),
        (["--spool", "s", "--listen", ":0"], "it belongs to --service"),
        (["--site", "s", "--listen", ":0"], "it belongs to --collector"),
        (["--service", "--format", "csv"], "it belongs to --listen or --textfile"),
        (["--service", "--sysroot", ".", "--listen", ":0"], "leave out RECORD and --sysroot"),
        (["--collector", "here", "--listen", ":0"], "neither HOST:PORT nor the path of a socket"),
    ],
)
def test_options_that_do_not_belong_together_are_one_line(lull: Lull, words: list[str], found: str) -> None:
    done = lull.run("export", *words)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert found in line
