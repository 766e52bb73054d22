"""The decisions of the compiler, in words: which loops became arrays, and what is computed only once."""

from collections.abc import Sequence
from itertools import zip_longest

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.printer import expr
from ppl.kernel.ir.rows import row_sizes
from ppl.kernel.ir.walk import walk
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import ARRAYS, LOOPS, VALUES
from ppl.optimise.passes.draws_axis import lifted_density
from ppl.optimise.passes.draws_variables import lifted_variables
from ppl.optimise.passes.split_rows import RowSplit, split_rows
from ppl.optimise.passes.vectorise_loops import Note, vectorised
from ppl.source import Span


def plan(p: ir.Program) -> str:
    """The plan of a program as lowered, before any pass, a line for each decision."""
    with_loops, done = LOOPS.of(p), VALUES.of(p)
    once = [f"  {s.name} = {expr(s.value)}" for s in walk(done.prepared) if isinstance(s, ir.Assign)]
    paragraphs = (
        loop_lines(vectorised(with_loops)[1]) or ["no loops"],
        ["Computed once, when the data are read:", *once]
        if once
        else ["Nothing is computed from data only."],
        draws_lines(with_loops),
        values_lines(with_loops),
        *split_lines(p),
    )
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines) + "\n"


def loop_lines(notes: Sequence[Note]) -> list[str]:
    """A note on each loop; one that was divided has two notes, the first for its counters."""
    lines, divided = [], False
    for note, following in zip_longest(notes, notes[1:]):
        if following is not None and following.span == note.span and note.reason:
            divided = True
        else:
            lines.append(loop_line(note) + (", its counters computed once from the data" if divided else ""))
            divided = False
    return list(dict.fromkeys(lines))


def loop_line(note: Note) -> str:
    if note.by_width:
        fate = "array operations, for each length of its segments"
    elif note.scan:
        fate = f"a scan for its state, array operations for the rest: {note.reason}"
    else:
        fate = f"remains a loop: {note.reason}" if note.reason else "array operations"
    return f"{statement_line(note.span)}\n  {fate}"


def draws_lines(p: ir.Program) -> list[str]:
    """Which statements of the log density run for a subset of the draws, and which draw by draw."""
    try:
        _, notes = lifted_density(p)
    except DrawByDraw as why:
        return [f"Draws are evaluated one after the other: {why}."]
    out = ["Many draws are evaluated at once."]
    if notes.parts:
        out += ["Run only for the draws, or rows of a function, that take the branch:"]
        out += dict.fromkeys(f"  {statement_line(span)}" for span in notes.parts)
    return out + draw_by_draw(notes.draw_by_draw)


def values_lines(p: ir.Program) -> list[str]:
    """How transformed parameters and generated quantities are computed for the draws of a fit; `p` as LOOPS
    has it.
    """
    if not (p.transformed_parameters or p.generated_quantities):
        return []
    try:
        _, notes = lifted_variables(p)
    except DrawByDraw as why:
        return [f"Transformed parameters and generated quantities are computed draw by draw: {why}."]
    at_once = "Transformed parameters and generated quantities are computed for all draws at once."
    return [at_once, *draw_by_draw([(note.span, note.reason) for note in notes])]


def draw_by_draw(statements: Sequence[tuple[Span, str]]) -> list[str]:
    """Statements that run draw by draw, each with its reason."""
    lines = dict.fromkeys(f"  {statement_line(span)}  ({reason})" for span, reason in statements)
    return ["Statements that run draw by draw:", *lines] if lines else []


def split_lines(p: ir.Program) -> list[list[str]]:
    """For each size of the data, which terms `--minibatch` would take row by row along it.

    Whether they add up over rows is tried out once there are data.
    """
    resolved = ARRAYS.of(p)
    splits = [split_rows(resolved, size) for size in row_sizes(resolved)]
    return [split_by(split) for split in splits if split.terms]


def split_by(split: RowSplit) -> list[str]:
    lines = ([f"  {statement_line(s)}" for s in terms] for terms in (split.terms, split.rest_terms))
    rows, rest = (list(dict.fromkeys(each)) for each in lines)
    return [
        f"With --minibatch --rows {split.size}, for the rows of a minibatch:",
        *rows,
        "and these terms in full:",
        *(rest or ["  nothing"]),
    ]


def statement_line(span: Span) -> str:
    return f"{span.source.name}:{span.line}: {span.source.line(span.line).strip()}"
