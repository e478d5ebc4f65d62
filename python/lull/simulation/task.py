"""One simulation of a sweep, as a worker runs it: text in, text and bytes out, so that it can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from lull.base.errors import LullError


@dataclass(frozen=True)
class Task:
    """Repeat `index` of the point `point`; `content` is its description as JSON, seed included."""

    point: str
    index: int
    content: str
    links: bool = True  # whether the table of links is wanted too

    @property
    def name(self) -> str:
        """The point and the repeat, for people."""
        return f"{self.point} repeat {self.index + 1}"


@dataclass(frozen=True)
class TaskResult:
    """What a simulation gave: a SimulationFile as JSON, and links.parquet if wanted; or why it failed, in one line."""

    file: str = ""
    links: bytes = b""
    failure: str = ""


def simulate_task(task: Task) -> TaskResult:
    """Simulate one task; an expected failure is told in the outcome."""
    import json

    from lull.simulation import account
    from lull.simulation.description import read_description
    from lull.simulation.engine import run

    asked = "read the description"
    try:
        result = run(read_description(json.loads(task.content), asked), asked, baseline=False)
    except LullError as error:
        return TaskResult(failure=str(error))
    links = account.parquet_bytes(account.links_table(result.links, task.index)) if task.links else b""
    return TaskResult(account.file_of(result).model_dump_json(by_alias=True), links)
