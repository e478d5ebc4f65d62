"""The front page: its pictures are as the program draws them now, and README and docs/index.md state the same facts."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

import pytest

from browser import browser
from documentation import TOP, plain

sys.path.insert(0, str(TOP / "docs" / "_ext"))
import front_pictures
import rows_role

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = "draw it again: python docs/_ext/front_pictures.py"
# Texts of a picture that leave the box drawn before them, or the picture.
OUTSIDE = """
(() => {
  const all = document.documentElement.getBoundingClientRect(), found = [];
  let box = all;
  for (const one of document.querySelectorAll('rect, text')) {
    const place = one.getBoundingClientRect();
    if (one.tagName === 'rect') { box = one.closest('clipPath') ? all : place; continue; }
    if (place.left < box.left || place.right > box.right || place.left < all.left || place.right > all.right)
      found.push(one.textContent);
  }
  return found;
})()
"""


def section(text: str, title: str) -> str:
    """The words of a section, without how its lines are broken."""
    found = re.search(rf"^## {title}\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    return " ".join(found[1].split())


def lines_of(picture: str) -> list[str]:
    """The lines of a terminal in a picture, without numbers."""
    lines: dict[str, str] = {}
    for one in tree.fromstring(picture).iter(f"{SVG}text"):
        if (line := one.get("clip-path", "")) != "":
            lines[line] = lines.get(line, "") + (one.text or "")
    return [shown for text in lines.values() if (shown := plain(text.replace("\N{NO-BREAK SPACE}", " ")))]


def test_readme_and_index_state_the_same_facts_with_the_numbers_of_kept_rows() -> None:
    index = rows_role.filled_in("index", (TOP / "docs" / "index.md").read_text(encoding="utf-8"))
    readme = (TOP / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    assert section(readme, "Highlights") == section(index, "Highlights")


def test_the_terminal_shows_the_output_of_this_program() -> None:
    kept = (front_pictures.IMAGES / "first-result.svg").read_text(encoding="utf-8")
    shown = lines_of(kept)
    assert shown == lines_of(front_pictures.terminal_picture()), DRAWN
    assert len(shown) > 20
    assert "estimated" in kept, "a picture with energy shows its kind"


def test_the_overview_is_as_drawn() -> None:
    kept = (front_pictures.IMAGES / "overview.svg").read_text(encoding="utf-8")
    assert kept == front_pictures.overview_picture(), DRAWN


@pytest.mark.parametrize("name", ["first-result", "overview"])
def test_a_picture_loads_nothing_and_has_a_description(name: str) -> None:
    text = (front_pictures.IMAGES / f"{name}.svg").read_text(encoding="utf-8")
    assert "url(http" not in text
    assert 'url("' not in text
    assert tree.fromstring(text).get("aria-label")


def test_no_text_of_a_picture_leaves_its_box(tmp_path: Path) -> None:
    with browser(tmp_path) as chromium:
        for name in ("first-result", "overview"):
            for width in (390, 1400):  # a phone, a screen
                chromium.open(front_pictures.IMAGES / f"{name}.svg", width)
                assert chromium.run(OUTSIDE) == [], (name, width)
