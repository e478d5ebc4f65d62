"""The input of the model of output: a machine and a simulation, from a TOML file or a measured run.

title           its description
[machine]       nodes, cores; rates, uses and watts (src/model/costs/output.hpp); missing keys have their defaults
[simulation]    core_seconds_per_step, steps, steps_per_output, bytes_per_output
[paper]         results of a publication: cpu_use_pct by steps between outputs and approach; claims
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lull import _core
from lull.base.documents import DamagedError, parse_toml
from lull.base.errors import LullError, UsageError, describe_os_error
from lull.model.figures import case_of_runs, read_figures

SITES = Path(__file__).parent / "sites"

Positive = Field(default=None, gt=0, allow_inf_nan=False)
Count = Field(default=None, ge=1)
Share = Field(default=None, ge=0, le=1)


class DescriptionTable(BaseModel):
    """A table of the TOML."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Machine(DescriptionTable):
    """The given keys of `_core.OutputMachine`."""

    nodes: int | None = Count
    cores: int | None = Count
    storage_bytes_per_s: float | None = Positive
    writer_bytes_per_s: float | None = Positive
    writers_at_half_speed: float | None = Positive
    link_bytes_per_s: float | None = Positive
    copy_bytes_per_s: float | None = Positive
    computing_use: float | None = Share
    writing_use: float | None = Share
    waiting_use: float | None = Share
    idle_node_watts: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    busy_core_watts: float | None = Field(default=None, ge=0, allow_inf_nan=False)


class Simulation(DescriptionTable):
    """The given keys of `_core.OutputSimulation`."""

    core_seconds_per_step: float | None = Positive
    steps: int | None = Count
    steps_per_output: int | None = Count
    bytes_per_output: float | None = Positive


class Claim(DescriptionTable):
    """A claim that a quantity is less for some approaches than for others, named as in LULL_STAGE, or WAY@STEPS."""

    says: str
    quantity: Literal["seconds", "watts", "joules", "cpu_use"]
    less: list[str] = Field(min_length=1)
    than: list[str] = Field(min_length=1)
    paper_pct: float | None = None  # by how much, for the first of each side


class Paper(DescriptionTable):
    """Results of a publication for the machine."""

    source: str
    cpu_use_pct: dict[int, dict[str, float]] = {}  # by steps between outputs, then by approach
    claims: list[Claim] = []


class Site(DescriptionTable):
    """The whole file."""

    title: str = ""
    machine: Machine = Machine()
    simulation: Simulation = Simulation()
    paper: Paper | None = None


@dataclass(frozen=True)
class Case:
    """The input of the model."""

    machine: _core.OutputMachine
    simulation: _core.OutputSimulation
    simulation_is_assumed: bool

    def every(self, steps: int) -> Case:
        """The same case, with an output after every `steps` steps."""
        changed = _core.OutputSimulation()
        for name in Simulation.model_fields:
            setattr(changed, name, getattr(self.simulation, name))
        changed.steps_per_output = steps
        return Case(self.machine, changed, self.simulation_is_assumed)

    def choices(self, approaches: list[str], objective: str = "time") -> list[_core.OutputChoice]:
        """The costs of approaches, the best first."""
        return _core.choose_output(self.machine, self.simulation, approaches, objective)

    def quantity(self, name: str, of: str) -> float:
        """A quantity for an approach, given as APPROACH or APPROACH@STEPS."""
        approach, _, steps = of.partition("@")
        case = self.every(int(steps)) if steps else self
        return float(getattr(case.choices([approach])[0], name))


def site_content(name: str) -> dict[str, Any]:
    """The TOML content of a site that comes with Lull, or of a file.

    Raises:
        UsageError: There is no such site, or its file cannot be read or is not TOML.
    """
    known = {path.stem: path for path in sorted(SITES.glob("*.toml"))}
    path = known.get(name, Path(name))
    if name not in known and not name.endswith(".toml"):
        raise UsageError(
            f"read the site {name}", "there is none of that name", f"name {', '.join(known)} or a TOML file"
        )
    try:
        return parse_toml(path.read_bytes())
    except OSError as error:
        raise UsageError(f"read the site {path}", describe_os_error(error)) from error
    except DamagedError as error:
        raise UsageError(f"read the site {path}", f"it is not TOML: {error}") from error


def read_site(content: Mapping[str, Any], asked: str) -> Site:
    """Validate the content of a site's file.

    Raises:
        UsageError: A key or value is wrong.
    """
    try:
        return Site.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        words = "there is no such key" if first["type"] == "extra_forbidden" else first["msg"]
        raise UsageError(asked, f"{where}: {words}") from error


def case_of(site: Site, figures: Path | None) -> Case:
    """Combine a site, a run's figures and the assumed defaults; an earlier one overrides a later one.

    Raises:
        UsageError: The numbers of nodes and cores are not given.
        LullError: The figures cannot be read, or belong to a run without output.
    """
    machine = _core.OutputMachine()
    simulation: _core.OutputSimulation | None = None
    if figures is not None:
        found = case_of_runs([read_figures(figures)])
        if found is None:
            raise LullError(f"advise by {figures}", "the run wrote no output that was measured")
        machine, simulation = found
    elif site.machine.nodes is None or site.machine.cores is None:
        raise UsageError(
            "advise on output",
            "the numbers of nodes and cores are missing",
            "add --nodes and --cores, name a site, or the figures of a run with --from",
        )
    _set(machine, site.machine)
    given = site.simulation.core_seconds_per_step is not None and site.simulation.bytes_per_output is not None
    assumed = simulation is None and not given
    if simulation is None:
        simulation = _core.assumed_simulation(machine)
    _set(simulation, site.simulation)
    return Case(machine, simulation, assumed)


def _set(core: _core.OutputMachine | _core.OutputSimulation, given: DescriptionTable) -> None:
    for name, value in given.model_dump(exclude_none=True).items():
        setattr(core, name, value)
