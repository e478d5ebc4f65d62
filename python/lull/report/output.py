"""The table of a report on the cost of a simulation's output, by record and role."""

from __future__ import annotations

from lull.comparison.quantity import Quantity
from lull.record.output import typical_output
from lull.report.tables import Cell, joules, seconds


def output_rows(quantities: list[tuple[str, Quantity]]) -> list[list[Cell]]:
    """Medians over the successful repeats, of whole runs; empty if no record has the cost of output."""
    rows = []
    for name, of in quantities:
        succeeded = {sample.index for sample in of.samples}
        found = typical_output(repeat for repeat in of.run.repeats if repeat.index in succeeded)
        for role in found.roles if found else []:
            times = (role.compute_s, role.stall_s, role.idle_s, role.write_s, role.cpu_s)
            rows.append(
                [
                    Cell(name, name),
                    Cell(found.approach, found.approach) if found else Cell(""),
                    Cell(role.role, role.role),
                    Cell(str(role.processes), role.processes),
                    *(Cell("–", -1.0) if time is None else seconds(time) for time in times),
                    joules(role.energy),
                    Cell(f"{role.files:.0f}", role.files),
                    Cell(f"{role.bytes / 1e6:.1f}", role.bytes),
                ]
            )
    return rows
