"""The LALR tables of the grammar, kept as JSON in the user's cache folder.

Building them takes a quarter of a second, reading them back a hundredth.  A cache that cannot be read
or written costs that time and nothing else.
"""

import hashlib
import json
import re
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from ppl.files import user_cache, write_whole
from ppl.frontend.lalr import Fast

SAMPLE = "parameters { real x; } model { x ~ normal(0, 1); }"
"""What tables must read to be used."""


@cache
def grammar_text() -> str:
    return files("ppl.grammar").joinpath("model.lark").read_text("utf-8")


@cache
def parser() -> lark.Lark:
    """The parser of the language."""
    return stored() or built()


def cache_file() -> Path | None:
    folder = user_cache()
    return folder and folder / "ppl" / f"model-{digest(lark.__version__ + grammar_text())}.json"


def stored() -> lark.Lark | None:
    """The parser in the cache; None where there is none, or none that reads a program."""
    file = cache_file()
    if file is not None:
        with suppress(Exception):
            read = load(file.read_text("utf-8"))
            Fast(read).parse(SAMPLE)
            return read
    return None


def built() -> lark.Lark:
    """The parser made of the grammar, which goes into the cache."""
    made = lark.Lark(
        grammar_text(), start="program", parser="lalr", lexer="contextual", propagate_positions=True
    )
    file = cache_file()
    if file is not None:
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, [dump(made)])
    return made


def parse(text: str) -> lark.Tree[lark.Token]:
    """The tree of a text; raises lark.UnexpectedInput where it is not of the language.

    Nothing that the cache holds is an error of the program: where its tables fail, those of the grammar have
    the word.
    """
    try:
        return fast().parse(text)
    except Exception:
        return anew().parse(text)


def is_identifier(name: str) -> bool:
    """Whether a program may call something so: a reserved word is none."""
    pattern = next(t.pattern for t in parser().terminals if t.name == "IDENTIFIER")
    return re.fullmatch(pattern.to_regexp(), name) is not None


@cache
def fast() -> Fast:
    """The same parser, run by a shorter loop."""
    return Fast(parser())


@cache
def anew() -> Fast:
    """The same by tables that are not read from the cache."""
    return Fast(built())


def dump(built: lark.Lark) -> str:
    """The tables as JSON under a line with their digest."""
    data, memo = built.memo_serialize([TerminalDef, Rule])
    tables = json.dumps({"data": data, "memo": memo})
    return f"{digest(tables)}\n{tables}"


def load(text: str) -> lark.Lark:
    """The parser again; raises ValueError when the text is not as `dump` left it."""
    checksum, _, tables = text.partition("\n")
    if digest(tables) != checksum:
        raise ValueError("the cached tables are damaged")
    stored = json.loads(tables, object_hook=integer_keys)
    read: lark.Lark = lark.Lark._load_from_dict(stored["data"], stored["memo"])  # type: ignore[no-untyped-call]
    return read


def integer_keys(table: dict[str, Any]) -> dict[str | int, Any]:
    """States and symbols are numbered; JSON made strings of the numbers."""
    return {int(key) if key.isdigit() else key: value for key, value in table.items()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
