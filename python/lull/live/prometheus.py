"""The newest readings as metrics for Prometheus: served over HTTP, or as a file for node_exporter.

lull_energy_joules_total{host,source,channel,domain,kind}   counter, since the exporter or the measurement started
lull_power_watts{host,source,channel,domain,kind}           gauge, mean over about a second
lull_bytes_total{host,source,channel}                       counter, of channels of the wire: sent and received
lull_total_power_watts{host,domain,scope,kind}              gauge, the node, which counts nothing twice, and its wires
lull_measurement_run{host,label}                            gauge, the current run of a measurement
lull_up                                                     gauge, 1 while there are readings
lull_info{version}                                          1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from lull import __version__
from lull.base.errors import LullError, UsageError, describe_os_error
from lull.base.interrupts import Interrupts
from lull.base.whole_file import find_output, write_whole
from lull.live.feed import Feed
from lull.live.node_reading import NodeReading, totals

OF_A_CHANNEL = ("host", "source", "channel", "domain", "kind")


class Readings(Collector):
    """Reads the feed at each request of Prometheus."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def collect(self) -> Iterable[Metric]:
        """The metrics of every node; without any reading, only `lull_up`, which is 0."""
        try:
            found = self._feed.read()
        except LullError:
            found = []
        yield GaugeMetricFamily("lull_up", "1 while there are readings.", value=1 if found else 0)
        yield InfoMetricFamily("lull", "The version of Lull.", value={"version": __version__})
        yield from metrics(found)


def metrics(readings: Sequence[NodeReading]) -> Iterator[Metric]:
    """The metrics of these readings."""
    energy = CounterMetricFamily("lull_energy_joules", "Energy of a channel since the start.", labels=OF_A_CHANNEL)
    power = GaugeMetricFamily("lull_power_watts", "Mean power over about a second.", labels=OF_A_CHANNEL)
    octets = CounterMetricFamily(
        "lull_bytes", "Bytes sent and received since the start.", labels=("host", "source", "channel")
    )
    whole = GaugeMetricFamily(
        "lull_total_power_watts",
        "Power of the node, with nothing counted twice, and separately of its wires.",
        labels=("host", "domain", "scope", "kind"),
    )
    run = GaugeMetricFamily("lull_measurement_run", "The run a measurement is at.", labels=("host", "label"))
    for reading in readings:
        for one in reading.channels:
            labels = (reading.node, one.source, one.channel, one.domain.value, one.kind.value)
            energy.add_metric(labels, one.joules)
            if one.watts is not None:
                power.add_metric(labels, one.watts)
            if one.bytes is not None:
                octets.add_metric(labels[:3], one.bytes)
        for total in totals(reading):
            whole.add_metric((reading.node, total.domain.value, total.scope, total.kind.value), total.watts)
        if reading.measuring is not None and not reading.measuring.warmup:
            run.add_metric((reading.node, reading.measuring.label), reading.measuring.run)
    yield from (energy, power, octets, whole, run)


def registry_of(*collectors: Collector) -> CollectorRegistry:
    """A registry with the metrics of these and no others."""
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    return registry


@contextmanager
def serving(registry: CollectorRegistry, address: str) -> Iterator[str]:
    """Serve the metrics of a registry at HOST:PORT within a `with` block.

    Yields:
        The URL, with the port chosen by the system if 0 was requested.

    Raises:
        UsageError: `address` is not HOST:PORT.
        LullError: The address cannot be used.
    """
    host, port = parsed_address(address)
    asked = f"listen at {address}"
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), "choose another --listen HOST:PORT") from error
    shown = f"[{host}]" if ":" in host else host
    try:
        yield f"http://{shown}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def parsed_address(address: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, :PORT or PORT; without a host, only this machine has access.

    Raises:
        UsageError: It is none of these.
    """
    host, _, port = address.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise UsageError("export --listen", f"{address!r} is not HOST:PORT", "e.g. 127.0.0.1:9464")
    return host.strip("[]") or "127.0.0.1", int(port)


def write_textfile(registry: CollectorRegistry, out: Path, every_s: float, interrupts: Interrupts) -> None:
    """Write the metrics for node_exporter's textfile collector every `every_s` until a signal asks to stop.

    The file is removed at the end, because node_exporter would continue to show its last figures.

    Raises:
        LullError: It cannot be written.
    """
    write_whole(out, generate_latest(registry), "metrics", "--textfile", sync=False)
    try:
        while interrupts.stop is None:
            interrupts.wait(None, every_s)
            write_whole(out, generate_latest(registry), "metrics", "--textfile", sync=False)
    finally:
        with suppress(OSError):
            if (found := find_output(out)).is_file:
                found.path.unlink(missing_ok=True)
