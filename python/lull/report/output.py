"""The section of a report on the cost of a simulation's output, by record and role."""

from __future__ import annotations

from lull.record.output import typical_output
from lull.report.section import Body, ReportData
from lull.report.tables import Cell, Table, joules, seconds

HEADINGS = (
    "Record",
    "Approach",
    "Role",
    "Processes",
    "Compute",
    "Stall",
    "Idle",
    "Write",
    "CPU time",
    "Energy",
    "Files",
    "MB",
)


def output(data: ReportData) -> Body | None:
    """Medians over the successful repeats, of whole runs."""
    rows = []
    for name, of in data.quantities:
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
    if not rows:
        return None
    return Body(
        words="Jobs whose output is staged: medians over the runs; seconds are sums over the processes of a role. "
        "Energy is that of the processors and their memory (of the node, if only that is metered) times the role’s "
        "share of the CPU time of clients and servers.",
        tables=[Table("Cost of output", HEADINGS, rows, texts=(0, 1, 2))],
    )
