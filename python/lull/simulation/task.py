"""One simulation of a sweep as a task for a worker: text in, text and bytes out, so that it can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from lull.base.errors import LullError


@dataclass(frozen=True)
class Task:
    """Repeat `index` of the point `point`; `content` is its description as JSON, including the seed."""

    point: str
    index: int
    content: str
    links: bool = True  # whether to return the table of links, too

    @property
    def name(self) -> str:
        """The point and the repeat in words."""
        return f"{self.point} repeat {self.index + 1}"


@dataclass(frozen=True)
class TaskResult:
    """The result of a simulation: a SimulationFile as JSON, and links.parquet if requested; or an error in one line."""

    file: str = ""
    links: bytes = b""
    failure: str = ""


def simulate_task(task: Task) -> TaskResult:
    """Simulate one task; the result reports an expected failure."""
    import json

    from lull.simulation import account
    from lull.simulation.description import read_description, waits, without_questions
    from lull.simulation.engine import run

    asked = "read the description"
    try:
        description = read_description(json.loads(task.content), asked)
        if waits(description):  # savings and tolerance are of the point with links always active
            description = without_questions(description, asked)
        result = run(description, asked, baseline=False)
    except LullError as error:
        return TaskResult(failure=str(error))
    links = account.parquet_bytes(account.links_table(result.links, task.index)) if task.links else b""
    return TaskResult(account.file_of(result).model_dump_json(by_alias=True), links)
