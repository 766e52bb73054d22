"""Errors and warnings about a program, for people and for editors."""

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from ppl.cli.output import wrapped
from ppl.errors import ModelError
from ppl.programs.lints import Lint
from ppl.source import Span

if TYPE_CHECKING:
    from ppl.compilation.phases import Compilation

Diagnostic = ModelError | Lint

BOLD, RED, YELLOW, END = "\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[0m"


def likely_bugs(c: "Compilation") -> list[Lint]:
    """The warnings that are given without being asked for."""
    return [Lint(*warned) for warned in c.warnings]


def severity(d: Diagnostic) -> str:
    return "error" if isinstance(d, ModelError) else "warning"


def show(diagnostics: Iterable[Diagnostic], stream: TextIO) -> None:
    """Each diagnostic as text, an empty line between two; in colour on a terminal."""
    text = "\n\n".join(as_text(d, has_colour(stream)) for d in diagnostics)
    if text:
        print(text, file=stream)


def has_colour(stream: TextIO) -> bool:
    """Whether to use colour: on a terminal that has it, unless NO_COLOR is set (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def as_text(d: Diagnostic, colour: bool = False) -> str:
    """Place and code, the line with carets, what is wrong, what to do; sentences wrapped to the terminal."""
    bold, end = (BOLD, END) if colour else ("", "")
    tone = ("" if not colour else RED if severity(d) == "error" else YELLOW) + bold
    line, carets = d.span.excerpt().split("\n")
    gutter, marks = carets.split("|", 1)
    return "\n".join(
        [
            f"{bold}{d.span.place}: {tone}{severity(d)} {d.code}{end}",
            line,
            f"{gutter}|{tone}{marks}{end}",
            f"{bold}{wrapped(d.message)}{end}",
            *([wrapped(d.hint)] if d.hint else []),
        ]
    )


def as_json(d: Diagnostic) -> str:
    """One line for an editor; lines and columns count from 1, the end is exclusive.

    `fix` is the text to put in place of what stands at its range, where the hint proposes that.
    """
    record = {
        "file": d.span.source.name,
        "range": as_range(d.span),
        "severity": severity(d),
        "code": d.code,
        "message": d.message,
        "hint": d.hint,
        "fix": d.fix and {"range": as_range(d.fix.span), "text": d.fix.text},
    }
    return json.dumps(record, ensure_ascii=False)


def as_range(span: Span) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": span.line, "column": span.column},
        "end": {"line": span.end_line, "column": span.end_column},
    }
