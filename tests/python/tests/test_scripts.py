"""Scripts that no test runs, of benchmarks, studies and packaging, import existing modules."""

import ast
import importlib
from importlib.util import find_spec
from pathlib import Path

import pytest

from places import TOP

SCRIPTS = sorted(path for folder in ("benchmarks", "studies", "packaging") for path in (TOP / folder).rglob("*.py"))


def is_there(module: str, name: str) -> bool:
    return hasattr(importlib.import_module(module), name) or find_spec(f"{module}.{name}") is not None


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(TOP)))
def test_what_a_script_imports_of_lull_is_there(script: Path) -> None:
    missing = []
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "lull":
            missing += [f"{node.module}.{one.name}" for one in node.names if not is_there(str(node.module), one.name)]
    assert missing == []
