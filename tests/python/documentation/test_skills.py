"""The playbooks of skills/: each says when to use it, is in the table, and has commands that are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documentation import TOP, pages

SKILLS = TOP / "skills"
PLAYBOOKS = sorted(path for path in SKILLS.glob("*.md") if path.name != "README.md")


def test_the_table_has_every_playbook() -> None:
    linked = re.findall(r"\]\(([\w-]+\.md)\)", (SKILLS / "README.md").read_text(encoding="utf-8"))
    assert sorted(linked) == [path.name for path in PLAYBOOKS]


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda path: path.stem)
def test_a_playbook_says_when_to_use_it_is_short_and_refers_to_files_that_exist(playbook: Path) -> None:
    text = playbook.read_text(encoding="utf-8")
    title, _, use = text.split("\n")[:3]
    assert title.startswith("# ")
    assert use.startswith("Use this ")
    assert len(text.splitlines()) <= 70
    assert all((TOP / name).exists() for name in re.findall(r"`(docs/[\w/.-]+)`", text))


def test_every_playbook_has_commands_that_are_run() -> None:
    run = {page.name for page in pages() if any(not block.entry.skip for block in page.blocks)}
    assert run >= {f"skills/{path.name}" for path in PLAYBOOKS}
