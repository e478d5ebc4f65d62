"""The jobs of a site as metrics for Prometheus: what the collector answers to the user of the exporter.

An ordinary user exports the own jobs, the head of a project those of the project, an administrator all. Sums are of the
jobs that began in this day or month (UTC), one for each kind; they are gauges, because a job changes its kind when the
row of another node arrives.

lull_project_energy_joules{project,kind,period}          gauge; period: day, month
lull_project_energy_low_joules, …_high_joules            the interval
lull_project_jobs, lull_project_cpu_seconds
lull_user_energy_joules{uid,user,kind,period}            the same by user, with all of these
lull_price_per_kwh{currency,source}, lull_carbon_grams_per_kwh{source}   of the site, where it has them
lull_collector_up                                        1 if the collector answers
lull_collector_incomplete                                1 if there are more sums than one answer contains
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as MetricsCollector

from lull.base.errors import LullError
from lull.jobs.connection import Address, ask
from lull.jobs.price import Prices
from lull.jobs.question import Answer, By, Question, Sum
from lull.jobs.site import Site, name_of

AGAIN_S: Final = 60.0  # the collector is asked once a minute at most, however often Prometheus asks
LABELS: Final = {By.PROJECT: ("project",), By.USER: ("uid", "user")}
MEASURES: Final = {
    "energy_joules": "Energy of the jobs that began in this day or month.",
    "energy_low_joules": "Lower end of its interval.",
    "energy_high_joules": "Upper end of its interval.",
    "jobs": "Number of these jobs.",
    "cpu_seconds": "CPU time of these jobs.",
}
US_PER_S: Final = 1e6


@dataclass(frozen=True)
class Asked:
    """What the collector has answered, by what sums are of and period."""

    sums: dict[tuple[By, str], list[Sum]]
    prices: Prices
    incomplete: bool


class JobsMetrics(MetricsCollector):
    """Asks the collector at a request of Prometheus, unless the last answer is less than a minute old."""

    def __init__(self, site: Site, address: Address) -> None:
        self._site, self._address = site, address
        self._lock = threading.Lock()
        self._until = 0.0
        self._asked: Asked | None = None

    def collect(self) -> Iterable[Metric]:
        """All metrics; without a collector, only `lull_collector_up`, which is 0."""
        with self._lock:
            if time.monotonic() >= self._until:
                self._asked = self._ask()
                self._until = time.monotonic() + AGAIN_S
            found = self._asked
        yield GaugeMetricFamily("lull_collector_up", "1 if the collector answers.", value=found is not None)
        if found is not None:
            yield from metrics(found)

    def _ask(self) -> Asked | None:
        now = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        begins = {"day": now, "month": now.replace(day=1)}
        sums: dict[tuple[By, str], list[Sum]] = {}
        prices, incomplete = Prices(), False
        try:
            for by in LABELS:
                for period, begin in begins.items():
                    question = Question(ask="sums", by=by, since_s=int(begin.timestamp()))
                    answer = ask(self._site, self._address, question, Answer)
                    sums[by, period] = answer.sums
                    prices, incomplete = answer.prices, incomplete or answer.more
        except LullError:
            return None
        return Asked(sums, prices, incomplete)


def metrics(asked: Asked) -> Iterator[Metric]:
    """The metrics of an answer."""
    yield GaugeMetricFamily(
        "lull_collector_incomplete", "1 if one answer does not contain all sums.", value=asked.incomplete
    )
    for by, names in LABELS.items():
        families = {
            measure: GaugeMetricFamily(f"lull_{by.value}_{measure}", meaning, labels=(*names, "kind", "period"))
            for measure, meaning in MEASURES.items()
        }
        for period in ("day", "month"):
            for one in asked.sums[by, period]:
                labels = (*_names(one), one.kind.value if one.kind else "not metered", period)
                for family, amount in zip(families.values(), _amounts(one), strict=True):
                    family.add_metric(labels, amount)
        yield from families.values()
    yield from _of_prices(asked.prices)


def _names(one: Sum) -> tuple[str, ...]:
    return (one.project,) if one.project is not None else (str(one.uid), name_of(one.uid or 0))


def _amounts(one: Sum) -> Sequence[float]:
    return one.joules, one.low_j, one.high_j, one.jobs, one.cpu_us / US_PER_S


def _of_prices(prices: Prices) -> Iterator[Metric]:
    if prices.price is not None:
        price = GaugeMetricFamily("lull_price_per_kwh", "Price of a kWh.", labels=("currency", "source"))
        price.add_metric((prices.price.currency, prices.price.source), prices.price.per_kwh)
        yield price
    if prices.carbon is not None:
        carbon = GaugeMetricFamily("lull_carbon_grams_per_kwh", "g CO2e of a kWh.", labels=("source",))
        carbon.add_metric((prices.carbon.source,), prices.carbon.g_per_kwh)
        yield carbon
