"""The notebooks of the documentation: each runs from its first cell to its last, and is stored without output."""

import os
import sys
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

from bounds import TIMEOUT_S
from places import TOP

NOTEBOOKS = sorted((TOP / "docs" / "notebooks").glob("*.ipynb"))


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [one for cell in notebook.cells if cell.cell_type == "code" for one in cell.outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_to_its_end(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LULL_METER_SOURCES", "estimate,net")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = nbformat.read(path, as_version=4)
    # Over TCP another process may take the ports that are chosen for the kernel before it binds them.
    NotebookClient(
        notebook,
        km=AsyncKernelManager(kernel_name="python3", transport="ipc", ip=str(tmp_path / "kernel")),
        timeout=TIMEOUT_S,
        resources={"metadata": {"path": tmp_path}},
    ).execute()
    assert not [one for one in outputs(notebook) if one.output_type == "stream" and one.name == "stderr"]
    shown = [kind for one in outputs(notebook) for kind in one.get("data", {})]
    assert shown.count("text/html") >= 3 and shown.count("image/png") >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not outputs(notebook)
    assert all(cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code")
