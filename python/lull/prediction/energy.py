"""Energy of a simulated run on a machine: power from the machine's file times simulated times.

links       all links of the network: mean power, as simulated, times their number, watts.link and the run time
switches    all switches: watts.switch times the run time
nics        of the program's nodes: watts.nic times the run time
nodes       of the program's nodes: idle_node times the run time, and (busy_node - idle_node) / cores for each second
            that a process computes, and waiting_use of that for each second that it sends or waits
"""

from __future__ import annotations

from lull.model.machine import Figure, Machine
from lull.prediction.account import Energies, Joules
from lull.simulation.account import JobAccount, RepeatAccount


def energies(
    machine: Machine, repeat: RepeatAccount, job: JobAccount, *, links: int, switches: int, nodes: int
) -> Energies:
    """The energies of one simulated run of one program.

    Args:
        machine: The machine.
        repeat: The simulation.
        job: The program in it, which has a time account.
        links: Links of the network, one direction each.
        switches: Switches of the network.
        nodes: Nodes of the program.
    """
    watts, seconds = machine.watts, job.run_time_s
    return Energies(
        links=_times(watts.link, repeat.power.share * links * seconds),
        switches=_times(watts.switch, switches * seconds),
        nics=_times(watts.nic, nodes * seconds),
        nodes=_nodes(machine, job, nodes),
    )


def _times(watts: Figure | None, seconds: float) -> Joules | None:
    if watts is None:
        return None
    low, value, high = (one * seconds for one in watts.band)
    return Joules(joules=value, low=low, high=high)


def _nodes(machine: Machine, job: JobAccount, nodes: int) -> Joules | None:
    idle, busy = machine.watts.idle_node, machine.watts.busy_node
    if idle is None or busy is None or job.time is None:
        return None
    of_process = job.time.computing_s + machine.node.waiting_use * (job.time.sending_s + job.time.waiting_s)
    node_s, core_s = nodes * job.run_time_s, job.processes * of_process / machine.node.cores
    low, value, high = (
        one * node_s + (other - one) * core_s for one, other in zip(idle.band, busy.band, strict=True)
    )  # fmt: skip
    return Joules(joules=value, low=low, high=high)
