"""The idle power of this node, measured before a program runs: what the node draws without it."""

from __future__ import annotations

from dataclasses import dataclass

from lull import _core
from lull.base.interrupts import Interrupts
from lull.meter.cpu_time import cpu_time, utilisation
from lull.meter.meter import Meter
from lull.record import IdlePower

BUSY = 0.05  # utilisation from which on the machine does not count as idle


@dataclass(frozen=True)
class IdleMeasured:
    """Power of every channel without the program, and the utilisation of the CPUs by other processes."""

    power: list[IdlePower]
    utilisation: float

    @property
    def warning(self) -> str:
        """A warning if the CPUs were busy; otherwise empty."""
        if self.utilisation <= BUSY:
            return ""
        return f"the CPUs were {self.utilisation:.0%} busy while idle power was measured: it is too high by their work"


def measure_idle(meter: Meter, seconds: float, interrupts: Interrupts) -> IdleMeasured:
    """Read the meter for `seconds` while this process sleeps.

    Raises:
        InterruptedBySignal: A signal asked to stop.
        LullError: The meter failed.
    """
    before = cpu_time()
    meter.start()
    try:
        begin = _core.now_ns()
        interrupts.sleep("measure idle power", seconds)
        end = _core.now_ns()
    finally:
        series = meter.stop()
    length = (end - begin) / 1e9
    power = [
        IdlePower(
            node=energy.node,
            domain=energy.domain,
            channel=energy.channel,
            kind=energy.kind,
            watts=energy.joules / length,
            low_w=energy.low_j / length,
            high_w=energy.high_j / length,
            seconds=length,
        )
        for energy in series.energy([(begin, end)])
    ]
    return IdleMeasured(power, utilisation(before, cpu_time()))
