"""`lull compare --junit`: XML in the shape that the readers of CI systems expect, with conditions as failures."""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from datetime import timedelta

import pytest

import records
from conftest import Lull
from records import TIMES, faster, run

SOON = records.NOON + timedelta(seconds=30)
# The shape of github.com/windyroad/JUnit-Schema: attributes that are required and allowed, and children in their order.
DECIMAL, INTEGER, TEXT = r"\d+(\.\d+)?", r"\d+", r"(?s).+"
ATTRIBUTES = {
    "testsuites": ({}, {}),
    "testsuite": (
        {
            "id": INTEGER,
            "package": TEXT,
            "name": TEXT,
            "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
            "hostname": TEXT,
            "tests": INTEGER,
            "failures": INTEGER,
            "errors": INTEGER,
            "time": DECIMAL,
        },
        {"skipped": INTEGER},
    ),
    "properties": ({}, {}),
    "property": ({"name": TEXT, "value": TEXT}, {}),
    "testcase": ({"name": TEXT, "classname": TEXT, "time": DECIMAL}, {}),
    "failure": ({"type": TEXT}, {"message": TEXT}),
    "skipped": ({}, {"message": TEXT}),
    "system-out": ({}, {}),
    "system-err": ({}, {}),
}
CHILDREN = {
    "testsuites": "(testsuite )*",
    "testsuite": "properties (testcase )*system-out system-err ",
    "properties": "(property )*",
    "testcase": "((skipped|error|failure) )?",
}


def misshapen(element: tree.Element) -> list[str]:
    """What the schema does not allow in an element and those below it."""
    required, optional = ATTRIBUTES[element.tag]
    wrong = [f"{element.tag} lacks {name}" for name in required if name not in element.attrib]
    for name, value in element.attrib.items():
        pattern = (required | optional).get(name)
        if pattern is None or not re.fullmatch(pattern, value):
            wrong.append(f"{element.tag} {name}={value!r}")
    children = "".join(f"{child.tag} " for child in element)
    if not re.fullmatch(CHILDREN.get(element.tag, ""), children):
        wrong.append(f"{element.tag} with {children}")
    return wrong + [line for child in element for line in misshapen(child)]


@pytest.fixture
def recorded(lull: Lull) -> Lull:
    records.write(lull.folder / "base", run("base"))
    records.write(lull.folder / "saves", run("saves", faster(TIMES, 2), 240, start=SOON))
    records.write(lull.folder / "wastes", run("wastes", faster(TIMES, 0.9), 250, start=SOON))
    records.write(lull.folder / "few", run("few", faster(TIMES, 0.5)[:3], start=SOON))
    return lull


def suite_of(lull: Lull, *words: str, ends_with: int = 0) -> tree.Element:
    done = lull.run("compare", *words, "--junit", "found.xml")
    assert done.returncode == ends_with, done.stderr
    root = tree.parse(lull.folder / "found.xml").getroot()
    assert root.tag == "testsuites"
    assert misshapen(root) == []
    [suite] = root
    cases = suite.findall("testcase")
    counts = {"tests": cases, "failures": suite.findall(".//failure"), "skipped": suite.findall(".//skipped")}
    assert {name: int(suite.attrib[name]) for name in counts} == {name: len(found) for name, found in counts.items()}
    return suite


def test_each_comparison_is_a_case_and_a_condition_that_is_met_a_failure(recorded: Lull) -> None:
    conditions = ("--fail-if", "greenup<0.98", "--fail-if", "speedup<0.95")
    suite = suite_of(recorded, "base", "saves", "wastes", *conditions, ends_with=3)
    passed, failed = suite.findall("testcase")
    assert (passed.attrib["name"], passed.attrib["classname"]) == ("saves", "lull.compare.base")
    assert list(passed) == []
    [failure] = failed
    lines = (failure.text or "").splitlines()
    assert lines[0] == failure.attrib["message"]
    assert [line.partition(":")[0] for line in lines[:2]] == ["--fail-if greenup<0.98", "--fail-if speedup<0.95"]
    assert lines[2].startswith("wastes is 11 % slower")
    assert float(passed.attrib["time"]) == pytest.approx(5.0125)
    assert suite.attrib["hostname"] == "n1"
    assert "saves: saves is 2.00× faster" in (suite.findtext("system-out") or "")


def test_without_conditions_every_case_passes(recorded: Lull) -> None:
    suite = suite_of(recorded, "base", "wastes", "--format", "markdown")
    assert [list(case) for case in suite.findall("testcase")] == [[]]


def test_a_condition_that_too_few_runs_cannot_decide_is_skipped(recorded: Lull) -> None:
    suite = suite_of(recorded, "base", "few", "--fail-if", "speedup<0.9")
    [skipped] = suite.findall("testcase/skipped")
    assert "not decided, few has 0.499 without an interval" in skipped.attrib["message"]


def test_labels_are_escaped_and_have_no_character_that_xml_forbids(recorded: Lull) -> None:
    records.write(recorded.folder / "odd", run('<a & "b">\x1b[1m', start=SOON))
    suite = suite_of(recorded, "base", "odd")
    assert suite.findall("testcase")[0].attrib["name"] == '<a & "b">�[1m'


def test_a_file_that_cannot_be_written_is_an_error_before_anything_is_printed(recorded: Lull) -> None:
    done = recorded.run("compare", "base", "saves", "--junit", ".")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "write the JUnit file" in done.stderr
    assert "--junit" in done.stderr


def test_simulations_are_cases_too(lull: Lull) -> None:
    power = '[power]\nmode = "{}"\n[[jobs]]\npattern = "uniform"\nload = 0.2\nmessages = 20\n'
    for mode in ("active", "deep-sleep"):
        text = f'[topology]\nname = "fat-tree"\nradix = 4\n{power.format(mode)}'
        (lull.folder / f"{mode}.toml").write_text(text)
        assert lull.run("simulate", f"{mode}.toml", "--out", mode).returncode == 0
    suite = suite_of(lull, "active", "deep-sleep", "--fail-if", "greenup<1", "--fail-on-median")
    [case] = suite.findall("testcase")
    assert case.attrib["time"] == "0.000000"
    assert "energy of links, simulated" in (suite.findtext("system-out") or "")
