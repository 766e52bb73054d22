"""How discrete parameters are summed out, in words."""

from collections.abc import Sequence

from ppl.kernel.language import ast
from ppl.programs.rewriting import text_of
from ppl.structure.discrete.rewrite import Summed
from ppl.structure.discrete.steps import Elimination


def plan_of(summed: Summed) -> list[str]:
    """How a program was summed: why it was written out, if it was, and a paragraph on each step, in order."""
    if summed.needs_data:
        return ["The marginalisation of the discrete parameters depends on data."]
    why = [f"Unrolled per entry, because {summed.written_out}."] if summed.written_out else []
    head = "Marginalised in this order, and drawn in reverse order:"
    return [*why, head, *(line for step in summed.steps for line in lines_of(step))]


def lines_of(s: Elimination) -> list[str]:
    d = s.parameter
    met = f", beside {' and '.join(n.text.removesuffix('[]') for n in s.neighbours)}" if s.neighbours else ""
    if s.order:
        same = "with the same matrix at each step" if s.steady else "with one matrix for each step"
        how = f"along its index {s.chain_axis + 1} by forward messages {same}{met}"
        several = [*(size for k, size in enumerate(d.dims) if k != s.chain_axis), d.dims[s.chain_axis]]
    else:
        how = f"{'each entry by itself' if d.dims else 'at once'}{met}"
        several = list(d.dims)
    entries = product_of(s.entries)
    cost = product_of((*several, *s.entries))
    return [f"  {d.name}: {how}", f"    largest table {entries}; cost {cost}"]


def product_of(sizes: Sequence[ast.Expr]) -> str:
    """`N x K`, with brackets around sums."""
    texts = [text_of(e) for e in sizes]
    return " x ".join(t if " " not in t else f"({t})" for t in texts)
