"""The LALR tables of the grammar, stored as JSON in the user's cache.

Building them takes a quarter of a second, reading them back a hundredth.
"""

import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import Any

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from ppl.cache import Parts
from ppl.frontend.lalr import Fast


@cache
def grammar_text() -> str:
    return files("ppl.grammar").joinpath("model.lark").read_text("utf-8")


@cache
def parser() -> lark.Lark:
    """The parser of the language, from the tables in the cache or from the grammar."""
    digest = hashlib.sha256(f"{lark.__version__} {grammar_text()}".encode()).hexdigest()
    parts = Parts(digest, "the grammar")
    if (tables := parts.read("tables")) is not None:
        return load(tables)
    built = lark.Lark(
        grammar_text(), start="program", parser="lalr", lexer="contextual", propagate_positions=True
    )
    parts.write("tables", dump(built))
    return built


def parse(text: str) -> lark.Tree[lark.Token]:
    """The tree of a text; raises lark.UnexpectedInput where it is not of the language."""
    return fast().parse(text)


def is_identifier(name: str) -> bool:
    """Whether a program may call something so: a reserved word is none."""
    pattern = next(t.pattern for t in parser().terminals if t.name == "IDENTIFIER")
    return re.fullmatch(pattern.to_regexp(), name) is not None


@cache
def fast() -> Fast:
    """The same parser, run by a shorter loop."""
    return Fast(parser())


def dump(built: lark.Lark) -> str:
    """The tables as JSON."""
    data, memo = built.memo_serialize([TerminalDef, Rule])
    return json.dumps({"data": data, "memo": memo})


def load(tables: str) -> lark.Lark:
    """The parser again."""
    stored = json.loads(tables, object_hook=integer_keys)
    read: lark.Lark = lark.Lark._load_from_dict(stored["data"], stored["memo"])  # type: ignore[no-untyped-call]
    return read


def integer_keys(table: dict[str, Any]) -> dict[str | int, Any]:
    """States and symbols are numbered; JSON made strings of the numbers."""
    return {int(key) if key.isdigit() else key: value for key, value in table.items()}
