"""Which int data index the axes of variables: `u[clinic]` varies over clinics."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from ppl.kernel.language import ast
from ppl.kernel.language.facts import Facts
from ppl.kernel.language.walk import walk
from ppl.structure.definitions import DATA_BLOCKS, Definitions
from ppl.structure.factors import Factors


def named_axes(
    factors: Factors,
    first: Mapping[str, int],
    axes: Mapping[str, str],
    sizes: Mapping[str, str],
) -> dict[str, list[str | None]]:
    """The names of the axes of variables, None where they have none.

    `first` are the lowest values of int data, `axes` the names of what these index, `sizes` those of axes of
    a declared size. The annotation of a declaration comes first, then its sizes, then what indexes it, from
    1: also `u[sex + 1]` where `sex` begins at 0.
    """
    indices = defaultdict[tuple[str, int], set[str]](set)
    program, facts, definitions = factors.program, factors.facts, factors.definitions
    blocks = (program.transformed_parameters, program.model, program.generated_quantities)
    for node in walk(statement for block in blocks for statement in block):
        if isinstance(node, ast.Indexed) and isinstance(node.base, ast.Variable):
            for axis, index in enumerate(node.indices):
                if isinstance(index, ast.SingleIndex):
                    name, added = source_of(index.value, facts, definitions)
                    if name in first and first[name] + added == 1:
                        indices[node.base.name, axis].add(axes[name])

    def name_of(d: ast.Declaration, axis: int, size: ast.Expr) -> str | None:
        word = annotated(d)[axis] if axis < len(annotated(d)) else ""
        declared = sizes.get(size.name) if isinstance(size, ast.Variable) else None
        indexing = indices.get((d.name, axis), set())
        return (
            axes.get(word) or sizes.get(word) or declared or (min(indexing) if len(indexing) == 1 else None)
        )

    return {
        d.name: [name_of(d, axis, size) for axis, size in enumerate(ast.all_sizes(d.type))]
        for d in declarations(program)
    }


def declarations(program: ast.Program) -> Iterator[ast.Declaration]:
    """The global variables that have sizes."""
    p = program
    blocks = (p.data, p.transformed_data, p.parameters, p.transformed_parameters, p.generated_quantities)
    for statement in (statement for block in blocks for statement in block):
        if isinstance(statement, ast.Declaration) and isinstance(statement.type, ast.SizedType):
            yield statement


def annotated(d: ast.Declaration) -> list[str]:
    """The names in its annotation `@dims(...)`."""
    texts = [
        a.text.removeprefix(ast.DIMS).removesuffix(")") for a in d.annotations if a.text.startswith(ast.DIMS)
    ]
    return [name.strip() for text in texts for name in text.split(",")]


def source_of(e: ast.Expr, facts: Facts, definitions: Definitions) -> tuple[str, int]:
    """The data variable whose values an index is, and what is added to them; "" for anything else."""
    match e:
        case ast.Variable(name=name) if facts.symbols[e].block in DATA_BLOCKS:
            return name, 0
        case ast.Variable():
            others = dict(definitions)  # less its own, which may read it
            symbols = others.pop(facts.symbols[e], [])
            return source_of(symbols[0].value, facts, others) if len(symbols) == 1 else ("", 0)
        case ast.Indexed(base=base):
            return source_of(base, facts, definitions)
        case ast.Binary(op="+", left=left, right=ast.IntLiteral(value=added)):
            name, before = source_of(left, facts, definitions)
            return name, before + added
    return "", 0
