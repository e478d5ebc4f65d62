"""Records of older schemas: every command reads them, and `lull record upgrade` rewrites them.

`kept_records/schema-N` is a record written by the Lull of schema N; all are of the same run.
"""

import json
import shutil
from pathlib import Path

import pytest

from conftest import Lull
from lull import record
from lull.base.errors import LullError
from lull.record import SCHEMA, Combination
from places import TESTS

KEPT = TESTS / "python" / "kept_records"
SCHEMAS = range(1, SCHEMA + 1)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_record_of_each_schema_is_kept_and_read(schema: int) -> None:
    folder = KEPT / f"schema-{schema}"
    assert json.loads((folder / "run.json").read_text())["schema"] == schema
    run = record.read(folder)
    assert run.schema_version == SCHEMA and run.label == "kept" and len(run.repeats) == 2
    assert run.repeats[0].metrics["updates"].value == 4e6


def test_metrics_of_the_first_schema_were_sums() -> None:
    run = record.read(KEPT / "schema-1")
    assert {metric.combination for metric in run.repeats[0].metrics.values()} == {Combination.SUM}


def test_old_and_new_records_are_compared(lull: Lull) -> None:
    done = lull.run("compare", str(KEPT / "schema-1"), str(KEPT / f"schema-{SCHEMA}"))
    assert done.returncode == 0, done.stderr


def test_an_upgrade_keeps_what_was_there(lull: Lull) -> None:
    shutil.copytree(KEPT / "schema-1", lull.folder / "old")
    done = lull.run("record", "upgrade", "old")
    assert done.returncode == 0, done.stderr
    assert f"old: schema 1 made {SCHEMA}; the older form is run.json.1" in done.stderr
    assert json.loads((lull.folder / "old" / "run.json").read_text())["schema"] == SCHEMA
    assert (lull.folder / "old" / "run.json.1").read_bytes() == (KEPT / "schema-1" / "run.json").read_bytes()
    assert record.read(lull.folder / "old") == record.read(KEPT / "schema-1")


def test_a_record_of_the_present_schema_is_left_alone(lull: Lull) -> None:
    shutil.copytree(KEPT / f"schema-{SCHEMA}", lull.folder / "new")
    done = lull.run("record", "upgrade", "new")
    assert done.returncode == 0 and "nothing to do" in done.stderr
    assert sorted(path.name for path in (lull.folder / "new").iterdir()) == ["run.json", "samples.parquet"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"schema": SCHEMA + 1}, "read it with a newer Lull"),
        ({"schema": 0}, "schemas begin at 1"),
        ({"schema": 1, "repeats": [{"metrics": [1]}]}, "not a valid record of schema 1"),
        ({"schema": 1}, "not a valid record at"),
    ],
)
def test_what_is_no_record_of_a_schema_is_one_line(tmp_path: Path, content: object, words: str) -> None:
    (tmp_path / "run.json").write_text(json.dumps(content))
    with pytest.raises(LullError, match=words):
        record.read(tmp_path)
