"""What the compiler decided, in words: which loops became arrays, and what is computed only once."""

from collections.abc import Sequence

from ppl.ir import nodes as ir
from ppl.ir.passes.table import run_passes
from ppl.ir.passes.vectorise_loops import Note, vectorised
from ppl.ir.printer import expr
from ppl.ir.walk import walk


def plan(p: ir.Program) -> str:
    """The plan of a program as lowered, before any pass, a line for each decision."""
    _, notes = vectorised(p)
    loops = [loop_line(n) for n in notes] or ["no loops"]
    prepared = run_passes(p).prepared
    once = [f"  {s.name} = {expr(s.value)}" for s in walk(prepared) if isinstance(s, ir.Assign)]
    return "\n".join([*loops, "", *prepared_lines(once)]) + "\n"


def loop_line(note: Note) -> str:
    place = f"{note.span.source.name}:{note.span.line}"
    head = note.span.source.line(note.span.line).strip()
    fate = "array operations" if not note.reason else f"stays a loop: {note.reason}"
    return f"{place}: {head}\n  {fate}"


def prepared_lines(once: Sequence[str]) -> list[str]:
    if not once:
        return ["Nothing is computed from the data alone."]
    return ["Computed once, when the data arrive:", *once]
