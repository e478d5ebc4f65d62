"""The node of each process."""

from __future__ import annotations

import pytest

from lull.base.errors import UsageError
from lull.simulation.description import read_description
from lull.simulation.mapping import place


def placed(*described, seed=1):
    """The nodes of the jobs in a network of 16."""
    content = {"seed": seed, "topology": {"name": "fat-tree", "radix": 4}, "jobs": list(described)}
    return place(read_description(content, "read net.toml"), 16, "read net.toml")


def test_linear_takes_the_next_free_nodes():
    assert placed({"processes": 3}, {"processes": 2}) == [[0, 1, 2], [3, 4]]


def test_a_job_without_a_number_gets_what_others_leave():
    first, second = placed({}, {"processes": 4})
    assert (len(first), second) == (12, [12, 13, 14, 15])


def test_lists_come_before_all_others():
    assert placed({"processes": 2}, {"mapping": [0, 5]}) == [[1, 2], [0, 5]]


def test_random_is_drawn_from_the_seed_and_shares_no_node():
    one = placed({"processes": 6, "mapping": "random"}, {"mapping": "random"})
    assert one == placed({"processes": 6, "mapping": "random"}, {"mapping": "random"})
    assert sorted(one[0] + one[1]) == list(range(16))
    assert one != placed({"processes": 6, "mapping": "random"}, {"mapping": "random"}, seed=2)


def test_processes_of_a_program_may_share_nodes():
    program = {"pattern": "collective", "per_node": 3}
    assert placed({**program, "processes": 7}, {"processes": 2}) == [[0, 0, 0, 1, 1, 1, 2], [3, 4]]
    assert placed({**program, "mapping": [5, 2]}) == [[5, 5, 5, 2, 2, 2]]
    assert placed({**program, "mapping": [5, 2], "processes": 4}) == [[5, 5, 5, 2]]
    (all_of_them,) = placed(program)
    assert all_of_them == [node for node in range(16) for _ in range(3)]
    (drawn,) = placed({**program, "mapping": "random", "processes": 6})
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3]


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ([{"processes": 17}], "jobs.0.processes is 17, with 16 of 16 nodes free"),
        ([{}, {}], "jobs.0 and jobs.1 both leave out processes"),
        ([{"processes": 16}, {}], "jobs.1 would have no node"),
        ([{"mapping": [1, 16]}], "jobs.0.mapping names node 16; the network has nodes 0 to 15"),
        ([{"mapping": [1, 2]}, {"mapping": [2, 3]}], "jobs.1.mapping names node 2, which another job has"),
        (
            [{"processes": 33, "pattern": "collective", "per_node": 2}],
            "jobs.0.processes is 33 on 17 nodes, with 16 of 16 nodes free",
        ),
        (
            [{"processes": 2, "mapping": [1, 2], "pattern": "collective", "per_node": 2}],
            "jobs.0.processes is 2, but mapping lists 2 nodes, with 2 processes on each",
        ),
        ([{"processes": 8, "pattern": "neighbours-2d", "grid": [3, 3]}], "has 9 processes, but the job has 8"),
    ],
)
def test_what_does_not_fit_names_the_job(described, words):
    with pytest.raises(UsageError, match=r".*") as caught:
        placed(*described)
    assert words in str(caught.value)
