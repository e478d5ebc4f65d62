"""The thread of a rank's wrapper, apart from a measurement."""

from pathlib import Path

import pytest

from conftest import wait_until
from lull.job import node_agent
from lull.job.election import Line, Reader, elect
from lull.job.launchers import JobRank
from lull.job.node import this_node
from lull.job.node_agent import Job, NodeAgent
from lull.job.part import MeasurementRequest


def test_a_rank_that_gives_up_while_it_becomes_the_reader_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = MeasurementRequest("app", ["true"], 10, {}, 2)
    agent = NodeAgent(Job(JobRank("slurm", "7", 0, 2), tmp_path / "r", asked, 60.0), this_node(), lambda _: None)

    def elect_meanwhile(address: str) -> Reader | Line:
        agent._abandoned = True
        return elect(address)

    monkeypatch.setattr(node_agent, "elect", elect_meanwhile)
    agent.start()
    with pytest.raises(node_agent._AbandonedError):
        wait_until(lambda: agent.ended)
    assert list(tmp_path.iterdir()) == []
