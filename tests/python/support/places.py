"""The places of files in the checkout."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
TESTS = TOP / "tests"
PROGRAMS = TESTS / "python" / "programs"  # that tests compile as a user would
EXAMPLES = TOP / "docs" / "how-to" / "measure" / "examples"
