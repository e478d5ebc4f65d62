"""The study of output computes power from a run as the model of output does from its prediction."""

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from documentation import TOP
from lull.model.output import Case, case_of, read_site, site_content


@pytest.fixture(scope="module")
def study() -> ModuleType:
    spec = importlib.util.spec_from_file_location("io_run", TOP / "studies" / "io" / "run.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures_of(case: Case, approach: str, write_s: float) -> dict[str, Any]:
    """The figures of a run that goes as the model predicts."""
    outputs = case.simulation.steps // case.simulation.steps_per_output
    count = int(approach.partition("=")[2] or 0)
    on_nodes = approach.startswith("dedicated-nodes")
    servers = count * (case.machine.cores if on_nodes else case.machine.nodes)
    writers = servers or case.machine.nodes * case.machine.cores
    handed_over = case.simulation.bytes_per_output * outputs if servers else 0
    written = writers * outputs * write_s
    return {
        "approach": approach,
        "clients": {"write_s": 0 if servers else written, "handed_over": {"bytes": handed_over}},
        "servers": {"processes": servers, "write_s": written if servers else 0},
    }


@pytest.mark.parametrize(
    "approach", ["time-partitioning", "dedicated-cores=1", "dedicated-cores=2", "dedicated-nodes=1"]
)
def test_cores_are_busy_for_as_long_as_the_model_says(study: ModuleType, approach: str) -> None:
    case = case_of(read_site(site_content("nancy"), "test"), None)
    predicted = case.choices([approach])[0]
    core_seconds = case.machine.nodes * case.machine.cores * predicted.seconds
    computing = case.simulation.core_seconds_per_step * case.simulation.steps
    figures = figures_of(case, approach, predicted.write_seconds_per_output)
    busy = study.busy_core_seconds(figures, case, core_seconds, computing)
    assert busy / core_seconds == pytest.approx(predicted.cpu_use)


def test_a_run_that_waits_less_may_draw_more(study: ModuleType) -> None:
    case = case_of(read_site(site_content("nancy"), "test"), None)
    figures = figures_of(case, "time-partitioning", 1.0)
    writes, waits = (study.busy_core_seconds(figures | {"clients": {**figures["clients"], "write_s": write_s}},
                                             case, 100.0, 50.0) for write_s in (50.0, 0.0))  # fmt: skip
    assert writes < waits == pytest.approx(85.0)


def test_nodes_of_fewer_cores_draw_less_idle_power(study: ModuleType) -> None:
    site = read_site(site_content("rennes"), "test")
    assert study.idle_watts(site, 24) == 516
    assert study.idle_watts(site, 8) == pytest.approx(172)
