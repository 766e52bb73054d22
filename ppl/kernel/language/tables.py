"""The LALR tables of the grammar, stored as JSON in the user's cache.

Building them takes a quarter of a second and Lark, reading them back a hundredth.
"""

import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ppl.cache import Parts
from ppl.kernel.language.lalr import NAME, Fast, Make, tables_of

if TYPE_CHECKING:
    import lark
    from lark.exceptions import UnexpectedInput


@cache
def grammar_text() -> str:
    return files("ppl.grammar").joinpath("model.lark").read_text("utf-8")


@cache
def parser() -> "lark.Lark":
    """The parser of the language as Lark makes it of the grammar."""
    import lark

    return lark.Lark(
        grammar_text(), start="program", parser="lalr", lexer="contextual", propagate_positions=True
    )


@cache
def fast() -> Fast:
    """The same parser, run by a shorter loop, from the tables in the cache or from the grammar."""
    reader = files(__package__).joinpath("lalr.py").read_text("utf-8")
    parts = Parts(hashlib.sha256((reader + grammar_text()).encode()).hexdigest(), "the grammar")
    tables = parts.read("tables")
    if tables is None:
        tables = json.dumps(tables_of(parser()))
        parts.write("tables", tables)
    return Fast(json.loads(tables))


def parse(text: str, make: Make) -> Any:
    """What the rules of a text become; None where it is not of the language.

    Raises:
        ModelError, RecursionError: as `make` does.
    """
    return fast().run(text, make)


def refusal(text: str) -> "UnexpectedInput":
    """Lark's error for a text that is not of the language."""
    from lark.exceptions import UnexpectedInput

    try:
        tree = parser().parse(text)
    except UnexpectedInput as error:
        return error
    raise AssertionError(f"Lark reads {tree}")


def is_identifier(name: str) -> bool:
    """Whether a program may call something so: a reserved word is none."""
    return re.fullmatch(fast().patterns[NAME], name) is not None
