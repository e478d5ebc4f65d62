"""The service of this node and the spool of its rows as metrics for Prometheus.

For administrators (root, the group lull-admin), where nothing is counted twice:

lull_node_energy_joules_total{host,channel,domain,kind}             counter, since the service counts
lull_node_energy_share_joules_total{host,channel,domain,kind,part}  counter; part: jobs, system, unheld
lull_node_unattributed_joules{host,channel,domain}                  gauge, the node minus its parts; always 0
lull_node_idle_watts{host,channel,domain}                           gauge, the idle power with which energy is divided
lull_node_accounts, lull_node_reading_age_seconds, lull_node_rows_waiting{host}                    gauges
lull_node_readings_total, lull_node_lost_readings_total, lull_node_rows_lost_total{host}           counters

For every user:

lull_service_up{host}                                               gauge, 1 if the service answers
lull_service_administrator{host}                                    gauge, 1 if this user may see the whole node
lull_account_energy_joules{host,project,domain,kind}                gauge, the user's own open accounts
lull_spool_files, lull_spool_oldest_seconds, lull_spool_refused_rows{host}  gauges, where the spool can be read
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector as MetricsCollector

from lull.base.energy_kind import EnergyKind
from lull.base.errors import LullError
from lull.jobs.node_service import NodeChannel, OwnAccounts, Refused, WholeNode, ask_node
from lull.jobs.spool import PATTERN, REFUSED

UJ_PER_J: Final = 1e6
KINDS: Final = tuple(EnergyKind)
OF_A_CHANNEL: Final = ("host", "channel", "domain")


@dataclass(frozen=True)
class ServiceMetrics(MetricsCollector):
    """Asks the service at each request of Prometheus.

    Args:
        host: Name of this node.
        path: Socket of the service.
        spool: Folder of its rows; it need not be readable.
    """

    host: str
    path: Path
    spool: Path

    def collect(self) -> Iterable[Metric]:
        """All metrics that this user may see; without a service, `lull_service_up` is 0."""
        whole, own = None, OwnAccounts(accounts=[])
        up = True
        try:
            own = ask_node(self.path, "mine", OwnAccounts)
            whole = ask_node(self.path, "node", WholeNode)
        except Refused:
            pass
        except LullError:
            up = False
        yield self._gauge("lull_service_up", "1 if the service of the node answers.", up)
        if up:
            found = "1 if the exporter may see the whole node."
            yield self._gauge("lull_service_administrator", found, whole is not None)
        if whole is not None:
            yield from self._energies(whole.channels)
            yield from self._state(whole)
        yield from self._own(own)
        yield from self._spooled()

    def _energies(self, channels: Iterable[NodeChannel]) -> Iterator[Metric]:
        whole = CounterMetricFamily(
            "lull_node_energy_joules", "Energy of the node; nothing is counted twice.", labels=(*OF_A_CHANNEL, "kind")
        )
        shares = CounterMetricFamily(
            "lull_node_energy_share_joules",
            "Energy of all jobs, of the system, and of what no job held.",
            labels=(*OF_A_CHANNEL, "kind", "part"),
        )
        rest = GaugeMetricFamily(
            "lull_node_unattributed_joules", "Energy of the node minus its parts; always 0.", labels=OF_A_CHANNEL
        )
        idle = GaugeMetricFamily(
            "lull_node_idle_watts", "Idle power with which energy is divided.", labels=OF_A_CHANNEL
        )
        for one in channels:
            labels = (self.host, one.channel, one.domain)
            derived = KINDS[max(KINDS.index(one.kind), KINDS.index(EnergyKind.DERIVED))]
            parts = {"jobs": one.open_uj + one.closed_uj, "system": one.system_uj, "unheld": one.unheld_uj}
            whole.add_metric((*labels, one.kind.value), one.node_uj / UJ_PER_J)
            for part, uj in parts.items():
                shares.add_metric((*labels, derived.value, part), uj / UJ_PER_J)
            rest.add_metric(labels, (one.node_uj - sum(parts.values())) / UJ_PER_J)
            idle.add_metric(labels, one.idle_w)
        yield from (whole, shares, rest, idle)

    def _state(self, whole: WholeNode) -> Iterator[Metric]:
        yield self._gauge("lull_node_accounts", "Open accounts.", whole.accounts)
        yield self._gauge("lull_node_reading_age_seconds", "Time since the last reading was divided.", whole.age_s)
        yield self._gauge("lull_node_rows_waiting", "Rows that are not on the disk yet.", whole.rows_waiting)
        yield self._counter("lull_node_readings", "Readings of all counters.", whole.readings)
        yield self._counter("lull_node_lost_readings", "How often a counter has lost energy.", whole.lost)
        yield self._counter("lull_node_rows_lost", "Rows that the full disk has cost.", whole.rows_lost)

    def _own(self, own: OwnAccounts) -> Iterator[Metric]:
        joules: dict[tuple[str, str, str], float] = defaultdict(float)
        for account in own.accounts:
            for one in account.energy:
                joules[account.project, one.domain, one.kind.value] += one.uj / UJ_PER_J
        energy = GaugeMetricFamily(
            "lull_account_energy_joules",
            "Energy so far of the exporter's own open accounts.",
            labels=("host", "project", "domain", "kind"),
        )
        for labels, amount in joules.items():
            energy.add_metric((self.host, *labels), amount)
        yield energy

    def _spooled(self) -> Iterator[Metric]:
        try:
            list(self.spool.iterdir())
            changed = [path.stat().st_mtime for path in self.spool.glob(PATTERN)]
            refused = self.spool / REFUSED
            lines = refused.read_bytes().count(b"\n") if refused.exists() else 0
        except OSError:  # not readable for this user, or sent meanwhile: absent, rather than 0
            return
        oldest = max(0.0, time.time() - min(changed)) if changed else 0.0
        yield self._gauge("lull_spool_files", "Files of rows that have not been sent.", len(changed))
        yield self._gauge("lull_spool_oldest_seconds", "Age of the oldest of them; 0 if there is none.", oldest)
        yield self._gauge("lull_spool_refused_rows", "Rows that no collector takes.", lines)

    def _gauge(self, name: str, meaning: str, value: float) -> Metric:
        found = GaugeMetricFamily(name, meaning, labels=("host",))
        found.add_metric((self.host,), value)
        return found

    def _counter(self, name: str, meaning: str, value: float) -> Metric:
        found = CounterMetricFamily(name, meaning, labels=("host",))
        found.add_metric((self.host,), value)
        return found
