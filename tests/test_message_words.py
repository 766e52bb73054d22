"""What a fit says to its user is said in the terms of the field, which `ppl docs glossary` defines."""

import ast
import re
from functools import cache
from pathlib import Path

from laws.every import every

ROOT = Path(__file__).parents[1]
FILES = sorted(path for folder in ("ppl", "cli") for path in (ROOT / folder).rglob("*.py"))
PRIVATE = re.compile(
    r"remember|forg[eo]t|from afar|\bclimb|the polish\b|not polished|least sure|settled?\b|"
    r"step(ped)? up\b|where they began|loop was left out",
    re.IGNORECASE,
)

TURNS = re.compile(
    r"in need of|comes? to the same|as one calls|stands? in\b|stand alone|"
    r"(?<!here )\b(is|are) no (?!longer|more|such)[a-z`{]|"
    r"relied on|believed|says? nothing|comes upon|levelled off|read forward|goes on from|"
    r"(?<!which )are asked for|\bmend\b|will do too|waits? for it|which way to go|unless told|hangs on|"
    r"next to (no|all)\b|but for an? |drifted from|there is no number\b|may not take what",
    re.IGNORECASE,
)
"""Turns of phrase that a reader whose first language is another has to read twice."""


LAYERS = ("kernel", "density", "methods", "run")


@cache
def sentences(path):
    """The string literals of a file that are sentences, docstrings left out."""
    nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
    documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    literals = (
        node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in documentation
    )
    return [text for text in literals if isinstance(text, str) and " " in text.strip()]


def test_there_are_sentences():
    assert sum(len(sentences(path)) for path in FILES) > 500


@every("path", FILES)
def test_no_private_word_reaches_a_user(path):
    assert [text for text in sentences(path) if PRIVATE.search(text)] == []


@every("path", FILES)
def test_sentences_are_plain(path):
    assert [text for text in sentences(path) if TURNS.search(text)] == []


def test_layers_below_the_command_line_name_no_options():
    """An `Advice` (ppl/advice.py) is an option to a reader in a shell, a keyword to one in Python."""
    below = [path for path in FILES if path.parts[len(ROOT.parts) + 1] in LAYERS]
    assert len(below) > 150
    assert [text for path in below for text in sentences(path) if re.search(r"(?<!\w)--[a-z]", text)] == []
