"""Comparisons as JUnit XML, the form in which CI systems read and show the results of tests.

A comparison is a test case, named by its candidate. It fails if a condition of `--fail-if` is met, with a line for each
such condition, and is skipped if a condition could not be decided. Elements and attributes are those of Ant's JUnit
task, with all that the schema of github.com/windyroad/JUnit-Schema requires.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from collections.abc import Sequence
from dataclasses import dataclass

from lull import __version__
from lull.comparison import conditions
from lull.comparison.result import ConditionFinding
from lull.record import Run

NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 has no other characters


@dataclass(frozen=True)
class Case:
    """One candidate, compared with the baseline."""

    run: Run
    verdict: str  # the result in a sentence
    seconds: float = (
        0.0  # median time compared, of the candidate; 0 for a simulation, whose time is not that of a clock
    )


def as_junit(baseline: Run, cases: Sequence[Case], findings: Sequence[ConditionFinding]) -> bytes:
    """A test suite with a test case for each candidate, as UTF-8.

    Args:
        baseline: The record that all candidates are compared with.
        cases: The candidates, whose labels differ.
        findings: The conditions, each tested for each candidate.
    """
    suites = tree.Element("testsuites")
    suite = tree.SubElement(suites, "testsuite")
    properties = tree.SubElement(suite, "properties")
    for name, value in (("lull", __version__), ("baseline", baseline.label)):
        tree.SubElement(properties, "property", name=name, value=_text(value))
    outcomes = [_add_case(suite, baseline, case, _of(case, findings)) for case in cases]
    tree.SubElement(suite, "system-out").text = _text("\n".join(f"{one.run.label}: {one.verdict}" for one in cases))
    tree.SubElement(suite, "system-err")
    last = max((case.run for case in cases), key=lambda run: run.created)
    suite.attrib |= {
        "id": "0",
        "package": "lull",
        "name": _text(f"against {baseline.label}"),
        "timestamp": f"{last.created:%Y-%m-%dT%H:%M:%S}",
        "hostname": last.hosts[0].node if last.hosts else "localhost",
        "tests": str(len(cases)),
        "failures": str(outcomes.count("failure")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(case.seconds for case in cases):.6f}",
    }
    tree.indent(suites, " ")
    return bytes(tree.tostring(suites, encoding="utf-8", xml_declaration=True)) + b"\n"


def _of(case: Case, findings: Sequence[ConditionFinding]) -> list[ConditionFinding]:
    return [finding for finding in findings if finding.candidate == case.run.label]


def _add_case(suite: tree.Element, baseline: Run, case: Case, findings: Sequence[ConditionFinding]) -> str:
    """Add a test case; return `failure`, `skipped`, or an empty string if it passes."""
    made = tree.SubElement(
        suite,
        "testcase",
        classname=_text(f"lull.compare.{baseline.label}"),
        name=_text(case.run.label),
        time=f"{case.seconds:.6f}",
    )
    met = _lines([finding for finding in findings if finding.met])
    if met:
        failure = tree.SubElement(made, "failure", type="fail-if", message=_text(met[0]))
        failure.text = _text("\n".join([*met, case.verdict]))
        return "failure"
    undecided = _lines([finding for finding in findings if not finding.decided])
    if undecided:
        tree.SubElement(made, "skipped", message=_text("; ".join(undecided)))
        return "skipped"
    return ""


def _lines(findings: Sequence[ConditionFinding]) -> list[str]:
    return [line for line in map(conditions.sentence, findings) if line is not None]


def _text(words: str) -> str:
    """`words` without the characters that XML does not allow, such as those that colour a terminal."""
    return NOT_XML.sub("�", words)
