"""The table after a measurement: energies are summed over nodes, one column per domain."""

from __future__ import annotations

import random
import re

import pytest

from lull.comparison.compare import compare_runs
from lull.measurement.summary import costs_in_words, summary_table
from lull.present.document import Document
from lull.present.terminal import as_text
from lull.record.notes import notes_of_times
from lull.statistics.groups import first_differs, two_groups
from records import repeat, run, waiting, with_waiting


def shown(*repeats) -> str:
    return as_text(Document("", (summary_table(repeats),)))


def test_nodes_are_one_column_that_says_how_many() -> None:
    text = shown(repeat(0, 10, 1000, nodes=("a", "b"), wire_bytes=10**9), repeat(1, 10, 1200, nodes=("a", "b")))
    assert "node J on 2 nodes" in text
    assert text.count("vendor-model") == 1
    assert "1000" in text
    assert "1100" in text  # the median of the sums


def test_one_node_is_not_counted_in_words() -> None:
    text = shown(repeat(0, 10, 1000))
    assert "node J" in text
    assert "nodes" not in text


def test_failed_repeats_are_in_no_median() -> None:
    text = shown(repeat(0, 0.1, 5, exit_code=1), repeat(1, 10, 1000), repeat(2, 12, 1200))
    assert re.search(r"median +11 +\S+ +1100", text)
    assert "median" not in shown(repeat(0, 0.1, 5, exit_code=1), repeat(1, 0.1, 5, exit_code=1))


def test_what_waiting_cost_is_that_of_repeats_that_succeeded() -> None:
    waited = with_waiting(run(times=[10.0]), waiting({("put", 8): 20.0})).repeats[0]
    assert costs_in_words([waited]) != []
    assert costs_in_words([waited.model_copy(update={"exit_code": 1})]) == []


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([5.0, 1.0, 1.05, 1.1], "the first repeat took 5.00 s, the others 1.00–1.10 s"),
        ([0.1, 1.0, 1.05, 1.1], "the first repeat took 100 ms"),
        ([1.0, 2.0, 1.01, 2.02, 1.02, 2.01], "the repeats are of two groups: 3 of about 1.01 s and 3 of about 2.01 s"),
        ([1.0, 1.05, 1.1, 0.98, 1.02, 1.04], ""),
        ([1.0, 3.0], ""),
    ],
)
def test_repeats_that_did_other_work_have_a_note(times: list[float], expected: str) -> None:
    found = notes_of_times([repeat(i, seconds, 100 * seconds) for i, seconds in enumerate(times)])
    assert len(found) == bool(expected)
    assert expected in "".join(found)


def test_repeats_of_one_kind_nearly_never_have_a_note() -> None:
    draw = random.Random(1)
    series = [[draw.gauss(1.0, 0.03) for _ in range(10)] for _ in range(2000)]
    assert sum(first_differs(values) or two_groups(values) is not None for values in series) < 5


def test_others_and_processes_left_behind_are_caveats() -> None:
    whole = run(times=[10.0] * 6)
    busy = [one.model_copy(update={"others_cpu_s": 8 * 16.0, "left_behind": 1}) for one in whole.repeats]
    caveats = compare_runs(whole, whole.model_copy(update={"repeats": busy, "label": "B"})).warnings
    assert any("B: other programs used up to 80 % of the CPUs" in line for line in caveats)
    assert any("B: 6 repeats left processes behind" in line for line in caveats)
