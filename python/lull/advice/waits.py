"""Predict other wait policies for the waits in a record, from the latencies and CPU times of the machine file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lull import _core
from lull.advice.account import Alternative, Band, OwnPolling, Unpredicted
from lull.advice.facts import Facts
from lull.model.machine import Figure, Machine, WakeUp
from lull.record.waiting import TypicalWaiting
from lull.statistics.formatting import si

CHOICE: Final = "wait policy"
OF_MPI: Final = (
    "wake-ups of MPI's calls are taken to cost what OpenSHMEM's do: they wait by the same policies, and are woken alike"
)

# The call that waits, for each that only asks.
INSTEAD: Final = {
    "MPI_Test": "MPI_Wait",
    "MPI_Testall": "MPI_Waitall",
    "MPI_Testany": "MPI_Waitany",
    "MPI_Testsome": "MPI_Waitsome",
    "MPI_Iprobe": "MPI_Probe",
    "MPI_Improbe": "MPI_Mprobe",
    "MPI_Request_get_status": "MPI_Wait",
    "MPI_Request_get_status_all": "MPI_Waitall",
    "MPI_Request_get_status_any": "MPI_Waitany",
    "MPI_Parrived": "MPI_Wait",
    "MPI_Win_test": "MPI_Win_wait",
}
LEAST_SHARE: Final = 0.01  # of the CPU time of the ranks


def own_polling(seen: TypicalWaiting | None) -> list[OwnPolling]:
    """Where the program polls in loops of its own for a notable time, longest first."""
    if seen is None:
        return []
    return [
        OwnPolling(
            function=row.operation,
            site=row.site,
            calls=row.count,
            seconds=row.cpu_s,
            share=seen.share(row),
            instead=INSTEAD[row.operation],
        )
        for row in seen.rows
        if row.operation in INSTEAD and row.waits == 0 and seen.share(row) >= LEAST_SHARE
    ]


def wait_policies(facts: Facts, machine: Machine) -> list[Alternative] | Unpredicted:
    """Every calibrated policy instead of the program's; or why there is no prediction."""
    seen, known = facts.waiting, machine.wake_ups.policies
    if seen is None:
        return Unpredicted(
            choice=CHOICE, why="the record does not count waits", measure="LULL_STATS=1 lull measure -- CMD"
        )
    if (obstacle := _obstacle(facts, seen, known)) is not None:
        return obstacle
    waits = [(row.waits, row.waited_s * 1e9) for row in seen.rows if row.waits > 0]
    watts = watts_of(machine)
    idle, core = watts or ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    present = _measured(known[seen.policy])
    of_mpi = _is_of_mpi(seen)
    found = []
    for policy, lengths in known.items():
        if policy == seen.policy:
            continue
        seconds, joules = _core.policy_change(waits, present, _measured(lengths), seen.pes, facts.nodes, idle, core)
        count = sum(one for one, _ in waits)
        mean = sum(ns for _, ns in waits) / count if count else 0
        terms = [
            f"{count:.0f} waits of {si(mean * 1e-9, 's')} on average, {seen.pes} PEs",
            f"a PE continues {si(abs(seconds[1]), 's')} {'later' if seconds[1] > 0 else 'sooner'} by all its waits; "
            "this changes nothing if others wait as long anyway",
            f"a busy core draws {core[0]:.3g} to {core[2]:.3g} W, the idle node {idle[0]:.3g} to {idle[2]:.3g} W"
            if watts
            else "energy: the machine file does not distinguish busy and idle cores",
            *([OF_MPI] if of_mpi else []),
        ]
        found.append(
            Alternative(
                choice=CHOICE,
                name=policy,
                instead_of=seen.policy,
                seconds=seconds,
                joules=joules if watts else None,
                set={} if of_mpi else {"LULL_WAIT": policy},
                arguments={"wait": policy} if of_mpi else {},
                lines=[f"lull wait {policy} -- CMD" if of_mpi else f"export LULL_WAIT={policy}"],
                terms=terms,
            )
        )
    return found


def _is_of_mpi(seen: TypicalWaiting) -> bool:
    return any(row.site or row.operation.startswith("MPI_") for row in seen.rows)


def _obstacle(facts: Facts, seen: TypicalWaiting, known: Mapping[str, object]) -> Unpredicted | None:
    """Why other policies cannot be predicted, or None."""
    in_turn = "lull measure --interleave: the program under LULL_WAIT=poll and LULL_WAIT=interrupt in turn"
    if _is_of_mpi(seen):
        in_turn = "lull measure --interleave: lull wait poll -- CMD and lull wait adaptive -- CMD in turn"
    rows = (
        (not known, "the machine file has no wake-ups", "lull calibrate"),
        (
            seen.policy not in known,
            f"the program waited by {seen.policy}, which is not calibrated",
            "LULL_STATS=1 LULL_WAIT=interrupt lull measure -- CMD",
        ),
        (facts.nodes > 1, "wake-ups by messages of other nodes are not calibrated", in_turn),
        (
            seen.pes > facts.cores,
            f"{seen.pes} PEs outnumber {facts.cores} cores: policies then yield, which is not calibrated",
            in_turn,
        ),
    )
    return next((Unpredicted(choice=CHOICE, why=why, measure=measure) for is_so, why, measure in rows if is_so), None)


def watts_of(machine: Machine) -> tuple[Band, Band] | None:
    """Power of the idle node, and the additional power of a busy core; None if the file lacks them."""
    idle, one = machine.watts.idle_node, machine.watts.one_core
    if idle is None or one is None:
        return None
    low, mid, high = (busy - alone for busy, alone in zip(one.band, idle.band, strict=True))
    # Errors of one source are correlated: a reading that is too high when idle is too high under load.
    return (idle.band, (max(0.0, min(low, mid)), mid, max(mid, high))) if mid > 0 else None


def _measured(lengths: list[WakeUp]) -> list[tuple[float, Band, Band]]:
    def band(figure: Figure) -> Band:
        return figure.band

    return [(one.length_ns, band(one.late_ns), band(one.cpu_ns)) for one in lengths]
