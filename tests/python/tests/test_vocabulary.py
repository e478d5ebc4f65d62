"""`scripts/vocabulary`, which `make lint` calls: it finds private words where they are, and nowhere else."""

import shutil
import subprocess
import sys
from pathlib import Path

from places import TOP

TABLE = """
[[words]]
avoid = "frobs?"
write = "adjusts"
but_in = ["own/*"]
"""


def test_a_private_word_is_found_with_its_line_and_what_to_write(tmp_path: Path) -> None:
    for folder in ("scripts", "tests", "own", "src"):
        (tmp_path / folder).mkdir()
    shutil.copy(TOP / "scripts" / "vocabulary", tmp_path / "scripts")
    (tmp_path / "tests" / "vocabulary.toml").write_text(TABLE)
    (tmp_path / "own" / "a.py").write_text("frob\n")
    (tmp_path / "src" / "b.cpp").write_text("// It adjusts,\n// or frobnicates.\n")
    (tmp_path / "src" / "picture.bin").write_bytes(b"\xff\xfe frob")

    def check() -> "subprocess.CompletedProcess[str]":
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
        script = [sys.executable, tmp_path / "scripts" / "vocabulary"]
        return subprocess.run(script, capture_output=True, text=True, check=False)

    assert check().returncode == 0
    (tmp_path / "src" / "b.cpp").write_text("// It adjusts,\n// or Frobs.\n")
    done = check()
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "src/b.cpp:2: write 'adjusts' instead of 'Frobs'"


def test_the_project_has_none() -> None:
    done = subprocess.run([sys.executable, TOP / "scripts" / "vocabulary"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
