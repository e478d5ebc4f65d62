"""Pages as people see them: axe-core finds no barrier on a phone, a tablet and a screen, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import records
from browser import Browser, browser
from conftest import Lull
from records import run

NET = """
[topology]
name = "fat-tree"
radix = 4
[power]
mode = "deep-sleep"
[[jobs]]
pattern = "uniform"
load = 0.2
messages = 20
"""
PAGES = {
    "list": ("list",),
    "record": ("show", "results/first"),
    "simulation": ("show", "results/net"),
    "comparison": ("compare", "results/first", "results/second"),
    "machine": ("doctor",),
    "settings": ("settings",),
    "sources": ("sources",),
    "topology": ("topology", "torus"),
    "report": ("report", "results/first", "results/second", "--to", "page.html"),
    "report of a simulation": ("report", "results/net", "--to", "page.html"),
}


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_no_barriers(lull: Lull, chromium: Browser, name: str) -> None:
    records.write(lull.folder / "results" / "first", run("first"))
    records.write(lull.folder / "results" / "second", run("second"))
    if "net" in " ".join(PAGES[name]):
        (lull.folder / "net.toml").write_text(NET)
        assert lull.run("simulate", "net.toml", "--out", "results/net").returncode == 0
    page = lull.folder / "page.html"
    done = lull.run(*PAGES[name], *(() if "--to" in PAGES[name] else ("--format", "html")))
    assert done.returncode in (0, 1), done.stderr
    if not page.exists():
        page.write_text(done.stdout)
    chromium.open(Path(page))
    for width, scheme in (390, "light"), (768, "dark"), (1400, "light"):
        assert chromium.barriers(width, scheme) == [], (width, scheme)
    assert chromium.complaints == []
