"""One simulation in its own process, so that its peak memory is its own (for benchmarks/netsim.py).

Reads a description as JSON from standard input; prints one line of JSON. Imports nothing that the simulator does not
need. A job without nodes runs on all.
"""

from __future__ import annotations

import json
import resource
import sys
import time

from lull import _core


def mean_us(latency: _core.LatencyHistogram) -> float:
    """The mean of a latency, in microseconds."""
    return latency.sum_ps / latency.count * 1e-6


def main() -> None:
    """Simulate and print costs and results."""
    described = _core.read_simulation(json.load(sys.stdin), "read the description")
    nodes = _core.topology_nodes(described.network.name, described.network.parameters)
    placed = [job.nodes or list(range(nodes)) for job in described.jobs]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run = _core.simulate(described, placed)
    print(
        json.dumps(
            {
                "loop_cpu_s": run.loop_cpu_s,
                "loop_wall_s": run.loop_wall_s,
                "setup_cpu_s": run.setup_cpu_s,
                "process_cpu_s": time.process_time(),
                "rss_before_mb": before / 1024,
                "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "packet_hops": run.packet_hops,
                "packets": run.packets,
                "messages": run.messages_delivered,
                "simulated_us": run.ended_ps * 1e-6,
                "fifo": run.fifo,
                "why_not_fifo": run.why_not_fifo,
                "latency_from_creation_us": mean_us(run.packet_latency),
                "latency_from_first_bit_us": mean_us(run.network_latency),
            }
        )
    )


if __name__ == "__main__":
    main()
