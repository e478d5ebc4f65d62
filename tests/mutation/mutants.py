"""The mutants of a source: each is one small change that a test should notice.

A syntax tree (tree-sitter) locates operators, numbers and statements, so that no comment, text, preprocessor directive
or template bracket is changed. In an f-string the expressions are changed, not the text. Existing generators do less:
universalmutator changes lines by regular expressions, and half of its mutants of C++ do not compile; mutmut and Cosmic
Ray support only Python; Mull and Dextool need their own compiler.

The operators are those that the literature finds sufficient (Offutt et al. 1996, with the deletion of statements of
Deng, Offutt and Li 2013): a relation is shifted at its boundary and negated, an arithmetic or logical operator becomes
its opposite, a number becomes another, a condition is negated, a statement is deleted.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_cpp
import tree_sitter_python
from tree_sitter import Language, Node, Parser

OPERATORS = {
    "<": ["<=", ">="],
    "<=": ["<", ">"],
    ">": [">=", "<="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
    "is": ["is not"],
    "is not": ["is"],
    "in": ["not in"],
    "not in": ["in"],
    "&&": ["||"],
    "||": ["&&"],
    "and": ["or"],
    "or": ["and"],
    "+": ["-"],
    "-": ["+"],
    "*": ["/"],
    "/": ["*"],
    "//": ["*"],
    "**": ["*"],
    "%": ["*"],
    "<<": [">>"],
    ">>": ["<<"],
    "&": ["|"],
    "|": ["&"],
    "+=": ["-=", "="],
    "-=": ["+=", "="],
    "*=": ["/=", "="],
    "/=": ["*=", "="],
    "|=": ["&="],
    "&=": ["|="],
    "++": ["--"],
    "--": ["++"],
}
OF_OPERATORS = {
    "binary_expression",
    "assignment_expression",
    "update_expression",
    "binary_operator",
    "augmented_assignment",
    "boolean_operator",
    "comparison_operator",
}
COMPARISONS = {"<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in"}
LITERALS = {"true": "false", "false": "true", "True": "False", "False": "True"}
FUNCTIONS = {
    one: other
    for pair in [
        ("min", "max"),
        ("floor", "ceil"),
        ("any_of", "all_of"),
        ("any", "all"),
        ("min_element", "max_element"),
        ("lower_bound", "upper_bound"),
    ]
    for one, other in (pair, pair[::-1])
}
UNARY = {"unary_expression", "unary_operator", "not_operator"}
CONDITIONS = {"if_statement", "elif_clause", "while_statement", "conditional_expression"}
LEFT_OUT = {"continue_statement", "break_statement", "throw_statement", "raise_statement"}
# Code that only the compiler checks, or that is not compiled here, or that is no code. What the parser did not
# understand is not changed either.
NOT_ENTERED = {
    "ERROR",
    "comment",
    "string_literal",
    "raw_string_literal",
    "char_literal",
    "type",
    "format_specifier",
    "static_assert_declaration",
    "attribute_declaration",
    "requires_clause",
    "concept_definition",
    "template_parameter_list",
    "template_argument_list",
    "preproc_include",
    "preproc_def",
    "preproc_function_def",
    "preproc_call",
    "preproc_if",
    "preproc_ifdef",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one source: the bytes from `begin` to `end` become `now`."""

    path: str  # below the top of the checkout
    line: int  # from 1
    text: str  # of that line, without the space around it
    begin: int
    end: int
    was: str
    now: str
    same: int  # number of equal changes of equal lines before it in this source

    @property
    def change(self) -> str:
        """`was -> now` on one line."""
        return " ".join(f"{self.was} -> {self.now}".split())

    @property
    def identity(self) -> str:
        """Its identity while its line is unchanged, wherever that line moves."""
        named = "\0".join([self.path, self.text, self.change, str(self.same)])
        return hashlib.sha256(named.encode()).hexdigest()

    def rank(self, seed: int) -> str:
        """Its place in the random order: the same for the same seed, whatever changes on other lines."""
        return hashlib.sha256(f"{seed} {self.identity}".encode()).hexdigest()

    def applied(self, source: bytes) -> bytes:
        """The source with this change."""
        return source[: self.begin] + self.now.encode() + source[self.end :]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """All mutants of a source, in the order of their places."""
    python = Path(path).suffix == ".py"
    language = Language(tree_sitter_python.language() if python else tree_sitter_cpp.language())
    lines = source.decode().splitlines()
    found = []
    seen: Counter[tuple[str, str]] = Counter()
    for begin, end, now in sorted(_changes(Parser(language).parse(source).root_node, python)):
        line = source.count(b"\n", 0, begin) + 1
        text, was = lines[line - 1].strip(), source[begin:end].decode()
        same = seen[text, f"{was} -> {now}"]
        seen[text, f"{was} -> {now}"] += 1
        found.append(Mutant(path, line, text, begin, end, was, now, same))
    return found


def _changes(node: Node, python: bool) -> Iterator[tuple[int, int, str]]:
    if node.type in NOT_ENTERED:
        return
    yield from _of_operators(node)
    yield from _of_conditions(node, python)
    yield from _of_statements(node, python)
    yield from _of_values(node)
    for child in node.children:
        yield from _changes(child, python)


def _of_operators(node: Node) -> Iterator[tuple[int, int, str]]:
    if node.type in OF_OPERATORS:
        for token in node.children_by_field_name("operator") + node.children_by_field_name("operators"):
            for now in OPERATORS.get(_text(token), []):
                yield token.start_byte, token.end_byte, now
    elif node.type in UNARY and _text(node.children[0]) in {"!", "-", "~", "not"}:
        yield node.children[0].start_byte, node.children[1].start_byte, ""


def _of_conditions(node: Node, python: bool) -> Iterator[tuple[int, int, str]]:
    if node.type not in CONDITIONS:
        return
    condition = node.child_by_field_name("condition")
    if python and node.type == "conditional_expression":  # VALUE if CONDITION else VALUE, without names for its parts
        condition = node.named_children[1]
    if condition is not None and condition.type == "condition_clause":
        condition = condition.child_by_field_name("value")
    if condition is None or _is_comparison(condition) or condition.type in {*UNARY, "declaration"}:
        return  # the mutants of operators negate it already
    yield condition.start_byte, condition.end_byte, f"not ({_text(condition)})" if python else f"!({_text(condition)})"


def _is_comparison(node: Node) -> bool:
    tokens = node.children_by_field_name("operator") + node.children_by_field_name("operators")
    return len(tokens) == 1 and _text(tokens[0]) in COMPARISONS


def _of_statements(node: Node, python: bool) -> Iterator[tuple[int, int, str]]:
    done = node.named_children[0].type if node.type == "expression_statement" and node.named_children else ""
    # Without its assignment a Python name is unknown, which every test notices; a string statement is a comment.
    if node.type in LEFT_OUT or (done and done not in {"assignment", "string"}):
        yield node.start_byte, node.end_byte, "pass" if python else ";"


def _of_values(node: Node) -> Iterator[tuple[int, int, str]]:
    text = _text(node) if node.child_count == 0 else ""
    if node.type in {"number_literal", "integer", "float"}:
        whole = node.type == "integer" or not any(mark in text.lower() for mark in ".e") or text.startswith("0x")
        zero = not whole and float(text.rstrip("fFlL").replace("'", "")) == 0
        yield node.start_byte, node.end_byte, f"({text} + 1)" if whole else "1.0" if zero else f"(2 * {text})"
    elif text in LITERALS:
        yield node.start_byte, node.end_byte, LITERALS[text]
    elif node.type in {"call_expression", "call"}:
        called = node.child_by_field_name("function")
        while called is not None and called.type in {"qualified_identifier", "template_function", "attribute"}:
            called = called.child_by_field_name("attribute" if called.type == "attribute" else "name")
        if called is not None and _text(called) in FUNCTIONS:
            yield called.start_byte, called.end_byte, FUNCTIONS[_text(called)]


def _text(node: Node) -> str:
    return (node.text or b"").decode()
