"""The loops of programs' densities: how many there are, and which the compiler leaves, with the reason.

    python -m tests.benchmarks.loop_census tests/conformance/programs models tests/benchmarks/loops

Counted are the loops of transformed parameters, of the model, and of the functions that these call, in
programs as lowered and in the form whose gradients are taken (`ppl show --stage ir --form gradient`).
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.forms import GRADIENT, LOOPS
from ppl.optimise.passes.vectorise_loops import vectorised
from ppl.source import Span
from tests.benchmarks.clock import head, row

BY_WIDTH = "goes through all segments of one length at once"
WITHIN = "goes through the arrays of the loop around it"


class Census(NamedTuple):
    """Of one program: the number of loops as written, and the places and reasons of those that are left."""

    name: str
    written: int
    left: tuple[tuple[Span, str], ...]


def census(path: Path) -> Census:
    """The loops of a program's density."""
    p = ppl.compile_model(path).lowered
    reasons: dict[Span, str] = {}
    for note in vectorised(LOOPS.of(p))[1]:
        if note.reason or note.by_width:
            reasons.setdefault(note.span, BY_WIDTH if note.by_width else note.reason)
    left = [(s.span, reasons.get(s.span, WITHIN)) for s in loops(GRADIENT.of(p))]
    return Census(path.stem, len({s.span for s in loops(p)}), tuple(dict(left).items()))


def loops(p: ir.Program) -> Iterator[Any]:
    """The loops of the density; of several made of one, each."""
    density = (p.transformed_parameters, p.model)
    return (n for n in walk((density, called(density, p))) if isinstance(n, ir.For | ir.While))


def called(body: Any, p: ir.Program) -> list[Any]:
    """The bodies of the functions that it calls, and that these call."""
    functions, names = {f.name: f.body for f in p.functions}, set[str]()
    while new := calls((body, [functions[name] for name in names])) - names:
        names |= new
    return [functions[name] for name in sorted(names)]


def calls(body: Any) -> set[str]:
    return {n.name for n in walk(body) if isinstance(n, ir.CallUser)}


def programs(folders: Sequence[Path]) -> list[Path]:
    """The programs in the folders, each name once."""
    found = sorted(path for folder in folders for path in folder.rglob("*.*") if is_program(path))
    return list({path.stem: path for path in found}.values())


def is_program(path: Path) -> bool:
    return path.suffix in (".stan", ".model") and "parameters" in path.read_text("utf-8")


def table(found: Sequence[Census]) -> Iterator[str]:
    """All of them in a line, a line for each loop that is left, and how often for what reason."""
    left = [(c.name, span, why) for c in found for span, why in c.left]
    yield f"{len(found)} programs, {sum(c.written for c in found)} loops, {len(left)} left."
    yield ""
    yield from head("program", "line", "loop", "reason")
    for name, span, why in left:
        yield row(name, span.line, f"`{span.source.line(span.line).strip()}`", why)
    yield ""
    counts = Counter(why for _, _, why in left)
    yield from (f"{count} x {why}" for why, count in counts.most_common())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    for line in table([census(path) for path in programs(parser.parse_args().folders)]):
        print(line)
