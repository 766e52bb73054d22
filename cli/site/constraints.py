"""A page for each constraint, made from its record."""

import re
from collections.abc import Iterator

from ppl.cli.site.markdown import fenced, heading, prose, table
from ppl.cli.site.mathml import inline, line
from ppl.stdlib.constraints.record import ELEMENTWISE, Constraint, ConstraintPage
from ppl.stdlib.constraints.table import CONSTRAINTS
from ppl.stdlib.library import standard
from ppl.stdlib.reference import free_example, meaning

PAGED = tuple((c, c.page) for c in CONSTRAINTS if c.page)
ELEMENTS = "as many as x has elements"
LETTER = re.compile(r"(?<=[=\[ ])[A-Za-z](?=[,\]>])")
"""A size or an argument in a declaration."""


def overview() -> Iterator[str]:
    yield (
        "# Constraints\n\nA parameter is declared with a type and, where it has one, a constraint. Inference "
        "works on free numbers u; a map gives the constrained value x, and the log of the absolute Jacobian "
        "determinant of the map is added to the target."
    )
    rows = ((f"`{page.declared.partition(';')[0]}`", link(c), prose(c.meaning)) for c, page in PAGED)
    yield table(("declaration", "constraint", "a value is"), rows)


def link(c: Constraint) -> str:
    return f"[`{c.keyword}`]({c.keyword}.md)"


def page(c: Constraint, described: ConstraintPage) -> Iterator[str]:
    """Its declaration, free numbers, map, log-Jacobian, functions, an example, and relatives."""
    declared, _, note = described.declared.partition(";")
    yield f"{heading(c.keyword, 1)}\n\n{prose(c.meaning)}"
    yield f"`{declared};`{prose(note)}"
    size = inline(described.size.replace("//", "/")) if described.size != ELEMENTWISE else ELEMENTS
    yield f"Free numbers u: {size}."
    yield "## Map"
    yield from map(line, described.transform)
    yield "## Log-Jacobian"
    yield line(described.log_jacobian, "log(abs(J(u)))")
    yield from functions(c)
    yield "## Example"
    yield "The log density of a program without statements is the log-Jacobian."
    yield example(c, described)
    near = [other for other, others in PAGED if other is not c and related(c, described, other, others)]
    if near:
        yield f"## See also\n\n{', '.join(map(link, near))}"


def functions(c: Constraint) -> Iterator[str]:
    word = c.function or c.keyword
    names = (f"{word}_{suffix}" for suffix in ("constrain", "jacobian", "unconstrain"))
    callees = [standard().callees[name] for name in names if name in standard().callees]
    if callees:
        yield "## Functions"
        yield table(("function", "returns"), ((f"`{f.name}`", prose(meaning(f))) for f in callees))


def example(c: Constraint, described: ConstraintPage) -> str:
    """The value and the log-Jacobian at a few numbers."""
    values = iter([*described.arguments, *described.shape])
    declaration = LETTER.sub(lambda letter: f"{next(values):g}", described.declared.partition(";")[0])
    return fenced(
        f'import ppl\n\nposterior = ppl.compile_model("parameters {{ {declaration}; }}").condition({{}})\n'
        f"u = {free_example(c, described).tolist()}\n"
        f"print(posterior.param_constrain(u))\nprint(posterior.log_density(u))",
        "python",
    )


def related(c: Constraint, own: ConstraintPage, other: Constraint, others: ConstraintPage) -> bool:
    """Whether one page speaks of the other's constraint, or they share most of their names."""
    own_text, other_text = (" ".join([*p.transform, p.log_jacobian]) for p in (own, others))
    pairs = ((other.keyword, own_text), (c.keyword, other_text))
    mentioned = any(re.search(rf"\b{name}\b(?! triangle)", text) for name, text in pairs)
    words, words_there = (set(k.keyword.split("_")) - {"to", "vector", "matrix"} for k in (c, other))
    return mentioned or bool(words & words_there)
