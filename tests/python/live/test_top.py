"""`lull top`: one table, JSON, the screen driven by its keys, and nodes of a measurement in progress."""

import asyncio
import json
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import DataTable

from conftest import Counter, Lull, wait_until
from lull.base.errors import LullError
from lull.live import node_reading
from lull.live.node_reading import ChannelReading, NodeReading, Progress, Recent
from lull.live.published import Publisher, folder_beside, read_published
from lull.live.rows import History, Sort, ordered, rows, sparkline
from lull.live.screen import PowerScreen
from lull.meter.meter import CounterTotals
from lull.record import Channel, Domain, EnergyKind
from places import TESTS

WRITER = TESTS / "fixtures" / "make_sysfs_fixtures.py"


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    subprocess.run([sys.executable, str(WRITER), str(folder)], check=True, capture_output=True)
    return folder


def channel(name: str, domain: Domain, watts: float | None, octets: float | None = None) -> ChannelReading:
    kind = EnergyKind.DERIVED if domain is Domain.WIRE else EnergyKind.VENDOR_MODEL
    source = name.partition(":")[0]
    return ChannelReading(
        channel=name, source=source, domain=domain, kind=kind, joules=5.0, watts=watts, bytes=7, bytes_per_s=octets
    )


def reading(node: str = "n1", package: float | None = 40.0, age_s: float = 0.0) -> NodeReading:
    return NodeReading(
        node=node,
        time=datetime.now(UTC) - timedelta(seconds=age_s),
        channels=[
            channel("powercap:package-0", Domain.PACKAGE, package),
            channel("powercap:package-1", Domain.PACKAGE, package),
            channel("powercap:dram-0", Domain.DRAM, 10.0),
            channel("net:eth0", Domain.WIRE, 0.5, 2e6),
        ],
        measuring=Progress(label="app", run=2, runs=5, warmup=False, elapsed_s=3.0),
    )


class Scripted:
    """A feed that returns what the test sets."""

    def __init__(self, *answers: list[NodeReading] | LullError) -> None:
        self.answers = list(answers)

    def read(self) -> list[NodeReading]:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, LullError):
            raise answer
        return answer

    def close(self) -> None:
        pass


def counted(series: int, seconds: float, joules: float) -> CounterTotals:
    return CounterTotals(series, round(seconds * 1e9), (joules,), (None,))


def recent() -> Recent:
    of = Channel(
        name="p:package", source="p", node="n", domain=Domain.PACKAGE, kind=EnergyKind.MEASURED, interval_s=0, basis=""
    )
    return Recent("n", [of])


def watts_of(of: Recent) -> float | None:
    found = of.reading()
    assert found is not None
    return found.channels[0].watts


def test_power_is_the_mean_over_about_a_second() -> None:
    of = recent()
    for tenth in range(40):
        of.add(counted(1, tenth / 10, 10.0 * tenth / 10 if tenth < 20 else 20 + 30 * (tenth - 20) / 10))
    assert watts_of(of) == pytest.approx(30)


def test_readings_too_close_together_tell_no_power() -> None:
    of = recent()
    of.add(counted(1, 0.0, 0.0))
    of.add(counted(1, 0.1, 1.0))
    assert watts_of(of) is None


def test_the_time_between_two_series_counts_for_no_power() -> None:
    of = recent()
    of.add(counted(1, 0.0, 0.0))
    of.add(counted(1, 1.0, 10.0))
    of.add(counted(2, 9.0, 10.0))
    assert watts_of(of) is None
    of.add(counted(2, 10.0, 20.0))
    assert watts_of(of) == pytest.approx(10)


def test_the_total_of_a_reading_counts_nothing_twice_and_its_parts_add_up() -> None:
    node, wire = node_reading.totals(reading())
    assert (node.watts, node.scope, node.domain) == (90, "package + dram", Domain.NODE)
    assert (wire.watts, wire.bytes_per_s) == (0.5, 2e6)
    assert [(one.domain, one.watts) for one in node_reading.parts(reading())] == [
        (Domain.PACKAGE, 80),
        (Domain.DRAM, 10),
    ]


def test_once_prints_a_table_with_kinds_and_ends(lull: Lull) -> None:
    done = lull.run("top", "--once")
    assert done.returncode == 0
    assert "estimated" in done.stdout or "vendor-model" in done.stdout or "measured" in done.stdout
    assert " W" in done.stdout


@pytest.mark.parametrize("args", [["--once", "--every", "2"], ["--sysroot", "/", "r"], ["--every", "0"]])
def test_wrong_usage_exits_2_with_one_line(lull: Lull, args: list[str]) -> None:
    done = lull.run("top", *args)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_without_a_terminal_it_prints_once(lull: Lull) -> None:
    assert lull.run("top").stdout.startswith("node ")


def test_json_holds_channels_and_totals(lull: Lull) -> None:
    [found] = json.loads(lull.run("top", "--format", "json").stdout)
    assert found["channels"][0]["kind"]
    assert all(one["watts"] is not None for one in found["channels"])
    assert {one["domain"] for one in found["totals"]} <= {"node", "wire"}


def test_a_tree_that_moves_shows_its_power(lull: Lull, trees: Path) -> None:
    counter = Counter(next((trees / "range_zero" / "sys" / "class" / "powercap").glob("*/energy_uj")))
    end = threading.Event()

    def move() -> None:
        before = time.monotonic()
        while not end.wait(0.02):
            passed = time.monotonic() - before
            before += passed
            counter.add(round(passed * 25e6))

    mover = threading.Thread(target=move)
    mover.start()
    lull.sources = ""

    def node() -> dict[str, Any]:
        [found] = json.loads(lull.run("top", "--format", "json", "--sysroot", str(trees / "range_zero")).stdout)
        [total] = [one for one in found["totals"] if one["domain"] == "node"]
        assert total["kind"] == "vendor-model"
        return total

    try:  # the mover, too, waits for a core of a busy machine
        assert wait_until(lambda: node()["watts"] == pytest.approx(25, rel=0.2))
    finally:
        end.set()
        mover.join()


def test_a_machine_without_any_source_is_one_line(lull: Lull, trees: Path) -> None:
    done = lull.run("top", "--once", "--sysroot", str(trees / "tools"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1


def test_a_record_that_nobody_measures_is_one_line(lull: Lull) -> None:
    done = lull.run("top", "--once", "nothing")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "lull measure --publish" in done.stderr


def test_every_node_that_publishes_is_shown(lull: Lull, tmp_path: Path) -> None:
    publisher = Publisher(tmp_path / "r")
    for name in ("n1", "n2"):
        publisher.show(reading(name))
    done = lull.run("top", "--once", "r")
    assert {line.split(" ")[0] for line in done.stdout.splitlines()} >= {"n1", "n2"}
    assert "app: run 2/5" in done.stdout
    publisher.close()
    assert not folder_beside(tmp_path / "r").exists()


def test_what_a_killed_measurement_published_is_refused_by_its_age(tmp_path: Path) -> None:
    Publisher(tmp_path / "r").show(reading(age_s=100))
    with pytest.raises(LullError, match="the measurement was killed; remove"):
        read_published(tmp_path / "r")


def test_a_damaged_reading_is_refused_in_one_line(tmp_path: Path) -> None:
    Publisher(tmp_path / "r")
    (folder_beside(tmp_path / "r") / "n1.json").write_text('{"node": ')
    with pytest.raises(LullError, match="not a reading of this version"):
        read_published(tmp_path / "r")


def test_rows_are_ordered_by_power_domain_or_source() -> None:
    found = list(rows([reading()]))
    assert [row.source for row in ordered(found, Sort.POWER)][:2] == ["package + dram", "powercap:package-0"]
    assert ordered(found, Sort.DOMAIN)[0].domain is Domain.NODE
    assert ordered(found, Sort.SOURCE)[0].source == "net:eth0"
    assert Sort.SOURCE.following is Sort.PLACE


def test_the_history_of_a_row_is_its_own() -> None:
    history = History()
    for watts in (10.0, 40.0):
        history.add(list(rows([reading(package=watts)])))
    packages = [row for row in rows([reading()]) if row.source == "powercap:package-0"]
    assert history.of(packages[0]) == [10, 40]
    assert sparkline([0, 20, 40]) == "▁▅█"
    assert sparkline([0, 0]) == "▁▁"


def shown(screen: PowerScreen, column: int) -> list[str]:
    table = screen.query_one(DataTable)
    return [str(table.get_row_at(place)[column]) for place in range(table.row_count)]


def test_the_screen_shows_sorts_pauses_and_quits() -> None:
    feed = Scripted([reading(package=40.0)], [reading(package=60.0)], [reading(package=80.0)])

    async def drive() -> None:
        screen = PowerScreen(feed, every_s=1000)
        async with screen.run_test(size=(120, 30)) as pilot:
            assert shown(screen, 3) == ["90.0 W", "500 mW", "40.0 W", "40.0 W", "10.0 W", "500 mW"]
            assert "app: run 2/5" in str(screen.state)
            await pilot.press("s")
            assert screen.sort is Sort.POWER
            assert shown(screen, 3)[:2] == ["90.0 W", "40.0 W"]
            await pilot.press("p")
            screen.refresh_rows()
            assert shown(screen, 3)[0] == "90.0 W"
            assert "paused" in str(screen.state)
            await pilot.press("space")
            screen.refresh_rows()
            assert shown(screen, 3)[0] == "130 W"
            assert shown(screen, 7)[0] == "▆█"
            await pilot.press("q")
        assert not screen.is_running

    asyncio.run(drive())


def test_the_screen_keeps_its_last_figures_and_says_what_went_wrong() -> None:
    feed = Scripted([reading()], LullError("read what is measured for r", "the measurement has ended"))

    async def drive() -> None:
        screen = PowerScreen(feed, every_s=1000)
        async with screen.run_test(size=(120, 30)) as pilot:
            screen.refresh_rows()
            await pilot.pause()
            assert "the measurement has ended" in str(screen.state)
            assert shown(screen, 3)[0] == "90.0 W"

    asyncio.run(drive())


def test_power_is_told_from_one_good_reading_to_another_not_across_a_gap() -> None:
    def read(seconds: float, joules: float, gap: bool) -> CounterTotals:
        return CounterTotals(1, round(seconds * 1e9), (joules,), (None,), (gap,))

    of = recent()
    of.add(read(0.0, 0, False))
    of.add(read(0.5, 50, False))
    assert watts_of(of) == pytest.approx(100)
    of.add(read(1.0, 50, True))
    assert watts_of(of) is None, "in the gap nothing is known; 0 W would be a wrong figure"
    of.add(read(5.0, 50, True))
    of.add(read(5.5, 550, False))
    assert watts_of(of) is None, "what was counted in the gap was not drawn in the last second"
    of.add(read(6.0, 600, False))
    assert watts_of(of) == pytest.approx(100)
