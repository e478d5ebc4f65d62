"""Numbers on study pages come from kept rows (docs/_ext/rows_role.py), or tests/study_numbers.toml has their source."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator

import pytest

from documentation import TOP

sys.path.insert(0, str(TOP / "docs" / "_ext"))
import rows_role

GIVEN: dict[str, dict[str, str]] = tomllib.loads((TOP / "tests" / "study_numbers.toml").read_text(encoding="utf-8"))
UNITS = (
    r"%|times\b|points?\b|µs\b|ns\b|ms\b|s\b|min\b|seconds?\b|hours?\b|days?\b|[mnkp]?J\b|[mk]?W\b|mJ/MB|nJ/B|pJ/bit"
)
NUMBER = r"[−-]?\d[\d,]*(?:\.\d+)?"
SEVERAL = rf"(?:{NUMBER}(?:\s*–\s*|\s+(?:to|and|or|by)\s+|,\s+))*{NUMBER}"  # of which the last has the unit
MEASURED = re.compile(
    rf"(?<![\w.,]){SEVERAL}\s?(?:{UNITS})"
    rf"|(?:Speedup|Greenup|Powerup)s?\s+(?:of\s+)?{SEVERAL}"
    r"|(?<![\w.,])[−-]?\d[\d,]*\.\d+(?![\w.])"
)
IN_CELL = re.compile(rf"(?<![\w.,]){NUMBER}")
ONLY_NUMBERS = re.compile(rf"(?:{NUMBER}|[\s()–;,/×]|{UNITS})+")
ROW = re.compile(r"^\|.*\|$", re.MULTILINE)
HIDDEN = re.compile(  # what is not a sentence of the author
    r"^```.*?^```$|^<!-- .*? -->$|^#+ .*?$|^\| ?---.*?$|\{rows\}`[^`]+`|`[^`\n]+`|\]\([^)]+\)", re.MULTILINE | re.DOTALL
)


def text_of(page: str) -> str:
    return (TOP / "docs" / f"{page}.md").read_text(encoding="utf-8")


def written_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Where a text states a result of its own: in sentences with a unit or decimals, in tables any number."""
    seen = HIDDEN.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), text)
    for row in ROW.finditer(seen):
        at = row.start()
        for number, cell in enumerate(row[0].split("|")):
            if number > 1 and ONLY_NUMBERS.fullmatch(cell.strip()) and re.search(r"\d", cell):
                for found in IN_CELL.finditer(cell):
                    yield at + found.start(), at + found.end()
            at += len(cell) + 1
    for found in MEASURED.finditer(seen):
        yield found.span()


def places(text: str, words: str) -> list[tuple[int, int]]:
    """Where `words` occur, however the page breaks its lines."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [found.span() for found in re.finditer(pattern, text)]


def test_every_page_of_a_study_is_in_the_list() -> None:
    assert set(GIVEN) >= {page for page, module in rows_role.PAGES.items() if module != "rows_benchmarks"}


@pytest.mark.parametrize("page", GIVEN)
def test_a_number_comes_from_kept_rows_or_has_a_source(page: str) -> None:
    text = text_of(page)
    covered = [place for words in GIVEN[page] for place in places(text, words)]
    alone = [
        text[start:end]
        for start, end in written_numbers(text)
        if not any(low <= start and end <= high for low, high in covered)
    ]
    assert not alone, f"docs/{page}.md: take these from kept rows, or give their source in tests/study_numbers.toml"


@pytest.mark.parametrize("page", GIVEN)
def test_every_number_with_a_source_is_on_its_page(page: str) -> None:
    text = text_of(page)
    assert not [words for words in GIVEN[page] if not places(text, words)]
    assert all(GIVEN[page].values()), "a text without a source"


@pytest.mark.parametrize("page", rows_role.PAGES)
def test_the_numbers_from_kept_rows_have_values(page: str) -> None:
    text = text_of(page)
    assert rows_role.MARK.search(text)
    assert "{rows}" not in rows_role.filled_in(page, text)


def test_a_number_without_a_source_is_found() -> None:
    sentence = "It saves 12.5 and takes 3 to\n4 % more, `5 %`, on 2 nodes."
    text = f"{sentence}\n\n| a | 7 (8–9) |\n| 3 % | 64 KiB |\n```text\n6 %\n```\n"
    found = [text[start:end] for start, end in written_numbers(text)]
    assert sorted(found) == ["12.5", "3 %", "3 to\n4 %", "7", "8", "9"]


def names_used(code: str) -> set[str]:
    """The names and attributes that some Python code reads."""
    nodes = list(ast.walk(ast.parse(code)))
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    return imported | {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in nodes
        if isinstance(node, ast.Name | ast.Attribute)
    }


def test_every_function_of_rows_has_a_number_on_a_page() -> None:
    modules = {path.stem: path.read_text(encoding="utf-8") for path in (TOP / "docs" / "_ext").glob("*.py")}
    used = set().union(*map(names_used, modules.values()))
    for page in rows_role.PAGES:
        for mark in rows_role.MARK.findall(text_of(page)):
            used |= names_used(" ".join(mark.split()))
    defined = {
        f"{name}.{node.name}"
        for name, code in modules.items()
        if name.startswith("rows_")
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {name for name in defined if name.partition(".")[2] not in used} == set()
