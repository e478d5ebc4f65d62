"""Columns of Arrow tables that are made without pandas."""

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from conftest import Lull
from lull.base.columns import dtype_of, numbers, texts


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.float64])
def test_numbers_are_those_of_the_array_and_of_its_type(kind: type) -> None:
    values: NDArray[Any] = np.array([3, 0, -7], dtype=kind)
    assert numbers(values).equals(pa.array([3, 0, -7], pa.from_numpy_dtype(kind)))
    assert numbers(values[::2]).to_pylist() == [3, -7]
    assert len(numbers(values[:0])) == 0


def test_texts_are_those_given() -> None:
    given = ["µJ", "", "node 1", "µJ"]
    assert texts(given).equals(pa.array(given, pa.string()))
    assert len(texts([])) == 0


@pytest.mark.parametrize("name", ["int8", "uint16", "int32", "uint64", "float16", "float32", "float64"])
def test_a_column_has_the_type_of_its_array_and_back(name: str) -> None:
    assert dtype_of(numbers(np.zeros(1, name)).type) == np.dtype(name)


@pytest.mark.parametrize(
    "words",
    [
        ["measure", "--runs", "2", "--out", "record", "--", "true"],
        ["simulate", "net.toml", "--out", "simulated"],
    ],
)
def test_a_command_that_writes_a_record_does_not_import_pandas(lull: Lull, words: list[str]) -> None:
    pytest.importorskip("pandas")
    (lull.folder / "net.toml").write_text(
        '[topology]\nname = "fat-tree"\nradix = 4\n\n[[jobs]]\npattern = "uniform"\nload = 0.1\nmessages = 10\n'
    )
    script = (
        "import sys\nfrom lull.cli import main\n"
        f"sys.argv = ['lull', *{words!r}]\n"
        "try:\n    code = main()\nexcept SystemExit as end:\n    code = end.code\n"
        "assert not code, code\nassert 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=lull.folder,
        env=lull.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
