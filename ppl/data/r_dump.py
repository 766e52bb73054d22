"""R's dump of data: `name <- value`, a value a number, `c(...)`, `a:b` or `structure(..., .Dim = c(...))`.

The text is read, never run. Source: CmdStan User's Guide, "RDump Format for CmdStan".
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ppl.data.text import BadText, utf8

TOKEN = re.compile(
    r"""(?P<space>[\s;]+|\#[^\n]*)
      | (?P<number>[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?L?|(?:Inf|NaN|NA|NA_integer_|NA_real_)\b))
      | (?P<name>[A-Za-z.][\w.]*)
      | (?P<quoted>"[^"\n]*"|`[^`\n]*`)
      | (?P<sign><-|[=(),:])
      | (?P<other>.)""",
    re.VERBOSE,
)
WHOLE = re.compile(r"[-+]?\d+L?")
END = ("end", "the end of the text", 0)


def parse_r_dump(text: bytes) -> dict[str, Any]:
    """The variables of a dump: numbers, and ndarrays whose axes are those of `.Dim`.

    Raises:
        BadText: something else stands there, or a number is missing (NA).

    Example:
        >>> parse_r_dump(b"N <- 2L\\nX <- structure(1:4, .Dim = c(2, 2))")
        {'N': 2, 'X': array([[1, 3],
               [2, 4]])}
    """
    return dict(Reader(utf8(text)).variables())


@dataclass
class Reader:
    """The tokens of a text, (kind, text, place), read one after the other."""

    text: str

    def __post_init__(self) -> None:
        found = TOKEN.finditer(self.text)
        self.tokens = ((str(m.lastgroup), m.group(), m.start()) for m in found if m.lastgroup != "space")
        self.now = next(self.tokens, END)

    def wrong(self, message: str, token: tuple[str, str, int]) -> BadText:
        at = len(self.text) if token is END else token[2]
        return BadText(message, self.text.count("\n", 0, at) + 1)

    def take(self) -> tuple[str, str, int]:
        taken, self.now = self.now, next(self.tokens, END)
        return taken

    def expect(self, *texts: str) -> None:
        taken = self.take()
        if taken[1] not in texts:
            raise self.wrong(f"found {taken[1]}, where {' or '.join(texts)} should stand", taken)

    def variables(self) -> Iterator[tuple[str, Any]]:
        names: set[str] = set()
        while self.now is not END:
            kind, name, _ = token = self.take()
            name = name.strip('"`')
            if kind not in ("name", "quoted"):
                raise self.wrong(f"found {name}, where the name of a variable should stand", token)
            if name in names:
                raise self.wrong(f"`{name}` is given twice", token)
            names.add(name)
            self.expect("<-", "=")
            yield name, self.value()

    def value(self) -> Any:
        kind, word, _ = token = self.take()
        if kind == "number":
            first = self.number(token)
            if self.now[1] != ":":
                return first
            self.take()
            return self.range_from(first, token)
        call = self.calls().get(word)
        if kind != "name" or call is None:
            raise self.wrong(f"found {word}, where a number, c(...) or structure(...) should stand", token)
        self.expect("(")
        return call()

    def calls(self) -> Mapping[str, Callable[[], Any]]:
        zeros = (self.zeros(t) for t in (np.int64, float, float))
        return {
            "c": self.combined,
            "structure": self.structure,
            **dict(zip(("integer", "double", "numeric"), zeros, strict=True)),
        }

    def number(self, token: tuple[str, str, int]) -> int | float:
        _, text, _ = token
        if text.lstrip("+-").startswith("NA") and not text.endswith("NaN"):
            raise self.wrong("a number is missing (NA), which no data of a program can be", token)
        return int(text.rstrip("L")) if WHOLE.fullmatch(text) else float(text.rstrip("L"))

    def range_from(self, first: int | float, token: tuple[str, str, int]) -> Any:
        last_token = self.take()
        last = self.number(last_token) if last_token[0] == "number" else None
        if not (isinstance(first, int) and isinstance(last, int)):
            raise self.wrong("a range goes from one integer to another, such as 1:10", token)
        step = 1 if last >= first else -1
        return np.arange(first, last + step, step)

    def combined(self) -> Any:
        """What stands after `c(`, in one row."""
        parts: list[Any] = []
        while self.now[1] != ")":
            parts.append(np.atleast_1d(self.value()))
            if self.now[1] != ")":
                self.expect(",", ")")
        self.take()
        return np.concatenate(parts) if parts else np.zeros(0)

    def structure(self) -> Any:
        values = np.atleast_1d(self.value())
        self.expect(",")
        self.expect(".Dim")
        self.expect("=")
        token = self.now
        sizes = tuple(int(size) for size in np.atleast_1d(self.value()))
        self.expect(")")
        if min(sizes, default=0) < 0 or np.prod(sizes) != values.size:
            raise self.wrong(f"{values.size} values have no .Dim of {'x'.join(map(str, sizes))}", token)
        return values.reshape(sizes, order="F")

    def zeros(self, dtype: Any) -> Callable[[], Any]:
        """What stands after `integer(` and the like: how many zeros."""

        def made() -> Any:
            token = self.take()
            count = self.number(token) if token[0] == "number" else 0
            self.expect(")")
            return np.zeros(int(count), dtype)

        return made
