"""The readers in Python get each file of their corpus: the seeds of the fuzzers, and files that found faults."""

import sys
from pathlib import Path

import pytest

from places import TESTS

sys.path.insert(0, str(TESTS / "fuzz"))
from python_readers import CORPUS, READERS, given

FILES = [(name, path) for name in READERS for path in sorted((CORPUS / name).iterdir())]


@pytest.mark.parametrize(("name", "path"), FILES, ids=[f"{name}-{path.name}" for name, path in FILES])
def test_a_reader_reads_or_refuses_each_file_of_its_corpus(name: str, path: Path, tmp_path: Path) -> None:
    assert given(name, path.read_bytes(), tmp_path) is None


def test_every_reader_has_a_file_to_begin_with() -> None:
    assert {name for name, _ in FILES} == set(READERS)
