"""The form of a row: what is taken, and what is refused with which words."""

import json
from typing import Any

import pytest

from job_collector import example_rows, row
from lull.jobs.rows import Invalid, read_row
from lull.record import EnergyKind


def test_the_examples_of_the_service_are_rows() -> None:
    rows = example_rows()
    assert [(one.job, one.restart, one.node) for one in rows] == [
        ("4711", 0, "n1"),
        ("4711", 0, "n2"),
        ("4712", 0, "n3"),
        ("4712", 1, "n3"),
        ("f2Xs9", 0, "n4"),
    ]
    assert rows[0].energy["package"].uj == 4_352_000_001
    assert rows[0].energy["dram"].kind is EnergyKind.VENDOR_MODEL


def test_fields_of_a_newer_service_are_ignored_and_its_flags_are_kept_as_other() -> None:
    found = read_row(row("1", colour="blue", flags=["shared", "tilted"]))
    assert found.known_flags == ["shared", "other"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"v": 2}, "v: Input should be 1"),
        ({"uid": -1}, "uid: Input should be greater than or equal to 0"),
        ({"uid": (1 << 32) - 1}, "uid: Input should be less than"),
        ({"job": ""}, "job: String should have at least 1 character"),
        ({"project": "\x1b[31m"}, "project: String should match pattern"),
        ({"node": "\u202enode"}, "node: String should match pattern"),
        ({"cpu_us": 1 << 61}, "cpu_us: Input should be less than"),
        ({"begin_us": 1 << 59}, "begin_us: Input should be less than"),
        ({"energy": {"package": {"kind": "guessed"}}}, "energy.package.kind: Input should be 'measured'"),
        ({"energy": None}, "energy: Input should be a"),
    ],
)
def test_what_is_no_row_is_named(changes: dict[str, Any], words: str) -> None:
    for content in (row("1") | changes, json.dumps(row("1") | changes).encode()):
        with pytest.raises(Invalid) as error:
            read_row(content)
        assert str(error.value).startswith(words)


def test_half_a_line_is_no_row() -> None:
    line = json.dumps(row("1")).encode()
    for length in range(0, len(line), 7):
        with pytest.raises(Invalid):
            read_row(line[:length])
