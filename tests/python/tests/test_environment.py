"""Only base/environment.hpp reads the environment, and of Lull's variables only those that are settings."""

import re
from collections.abc import Iterator
from pathlib import Path

from places import TESTS

TOP = TESTS.parent
READER = TOP / "src" / "base" / "environment.hpp"
PROLOGS = TOP / "src" / "service" / "scheduler"  # in C; they read those that schedulers give to prologs and epilogs
SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".in", ".py", ".S"}


def sources() -> Iterator[tuple[Path, str]]:
    for folder in ("src", "include"):
        for path in sorted((TOP / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path, path.read_text(encoding="utf-8")


def test_one_file_of_the_source_and_prologs_read_variables() -> None:
    reading = {path for path, text in sources() if re.search(r"\b(secure_)?getenv\s*\(", text)}
    assert {path for path in reading if path.parent != PROLOGS} == {READER}


def test_variables_of_lull_that_are_read_are_settings() -> None:
    settings = {
        name
        for path in (TOP / "src").glob("*/settings.hpp")
        for name in re.findall(r'setting\{\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert "LULL_WAIT" in settings
    read = {
        name
        for _, text in sources()
        if "_of_environment(" in text or re.search(r"\bsetting_\w+\(", text)
        for name in re.findall(r'"(LULL_[A-Z0-9_]+)"', text)
    }
    assert read - settings == set()


def test_variables_of_launchers_are_named_in_one_file() -> None:
    rank = r"PMIX?_RANK|OMPI_COMM_WORLD_RANK|SLURM_PROCID|FLUX_TASK_RANK|PALS_RANKID"
    ranks = re.compile(rf'"({rank}|PMIX_NAMESPACE|PMI_JOBID|PMIX_SERVER_URI2)"')
    naming = {path.relative_to(TOP) for path, text in sources() if ranks.search(text)}
    assert naming == {Path("src/base/launcher.hpp")}
