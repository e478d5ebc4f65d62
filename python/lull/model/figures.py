"""Convert the figures of a run's output (`lull.record.Output`) to a case for the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lull import _core
from lull.base.documents import DamagedError, parse_json
from lull.base.errors import LullError, describe_os_error

if TYPE_CHECKING:  # importing the record takes time, and `lull stage` starts other commands
    from lull.record import Output

FORM = 1  # version of the file; see src/stage/accounts/figures.cpp


def seconds_of(run: Output) -> float:
    """The duration of the simulation, in seconds."""
    return run.clients.wall_s / max(run.clients.processes, 1)


def bytes_of(run: Output) -> int:
    """The bytes of all output, including dropped output."""
    return run.clients.handed_over.bytes + run.clients.wrote_itself.bytes + run.clients.dropped.bytes


def case_of_runs(runs: Sequence[Output]) -> tuple[_core.OutputMachine, _core.OutputSimulation] | None:
    """The machine and the simulation according to the first run, or None if that wrote nothing.

    The other runs show how the rate of the storage depends on the number of writers.
    """
    return _core.output_case_of([_asked(run) for run in runs])


def _asked(run: Output) -> _core.OutputRun:
    asked = _core.OutputRun()
    asked.nodes, asked.outputs = run.nodes, run.outputs
    asked.clients, asked.servers = run.clients.processes, run.servers.processes
    asked.compute_s, asked.client_cpu_s = run.clients.compute_s, run.clients.cpu_s
    asked.client_write_s = run.clients.write_s
    asked.server_write_s, asked.server_cpu_s = run.servers.write_s, run.servers.cpu_s
    asked.handed_over_bytes = run.clients.handed_over.bytes
    asked.wrote_itself_bytes = run.clients.wrote_itself.bytes
    asked.dropped_bytes = run.clients.dropped.bytes
    return asked


def read_figures(path: Path) -> Output:
    """Read the figures of a run from the file that LULL_STAGE_FIGURES named, or the last ones in a record.

    Raises:
        LullError: There are none, or the file contains something else.
    """
    from pydantic import ValidationError

    from lull.record import Output, read

    fix = "lull stage --figures FILE writes them"
    asked = f"read the figures of a run's output, {path}"
    if path.is_dir():
        jobs = [job for repeat in read(path).succeeded for job in repeat.output]
        if not jobs:
            raise LullError(asked, "the record has none", "measure a command that lull stage starts")
        return jobs[-1]
    try:
        content = parse_json(path.read_bytes())
        if not isinstance(content, dict) or content.pop("schema", None) != FORM:
            raise LullError(asked, "it holds none, or of another version of Lull", fix)
        return Output.model_validate(content)
    except OSError as error:
        raise LullError(asked, describe_os_error(error), fix) from error
    except DamagedError as error:
        raise LullError(asked, f"it is not JSON: {error}", fix) from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LullError(asked, f"{where}: {first['msg']}" if where else first["msg"]) from error
