"""The nodes that the builder makes, and where it places them."""

import dataclasses
from collections.abc import Iterator

import pytest

from ppl.errors import ModelError
from ppl.kernel.language import ast, lalr
from ppl.kernel.language.builder import PARTS, Builder, class_name
from ppl.programs.explained import parse
from ppl.source import SourceText

PROGRAM = """functions {
  real half(data real x, array[,] int n);
}
data {
  array[3, 4] real<lower=0, upper=2> x, y;
  cholesky_factor_cov[3, 2] L;
}
transformed data {
  int n = 1, m;
}
model {
  y[1, 2:, :n] = x[, 2];
  for (i in 1:n) {
    2 * x ~ normal(0, 1) T[0, ];
  }
  if (n) reject("no ", n); else fatal_error("x");
  target += normal_lpdf(x | 0, 1) + target();
}
"""


@pytest.fixture(scope="module")
def program() -> ast.Program:
    return parse(SourceText(PROGRAM))


def nodes(node: object) -> Iterator[ast.Node]:
    """All nodes under a node, itself first."""
    if isinstance(node, ast.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))
    elif isinstance(node, tuple):
        for item in node:
            yield from nodes(item)


def text_of(node: ast.Node) -> str:
    lines = PROGRAM.split("\n")[node.span.line - 1 : node.span.end_line]
    lines[-1] = lines[-1][: node.span.end_column - 1]
    lines[0] = lines[0][node.span.column - 1 :]
    return "\n".join(lines)


def test_naming_law() -> None:
    """Every alias builds the class of its name, or has a method of its name, or is a part of a node."""
    aliases = {str(rule.alias) for rule in lalr.parser().rules if rule.alias}
    assert len(aliases) > 30
    for rule in aliases:
        assert hasattr(ast, class_name(rule)) or hasattr(Builder, f"_{rule}") or rule in PARTS, rule


def test_function(program: ast.Program) -> None:
    (function,) = program.functions
    assert (function.name, function.body, function.returns.keyword) == ("half", None, "real")
    assert [(a.name, a.data_only, a.type.keyword, a.type.dims) for a in function.args] == [
        ("x", True, "real", 0),
        ("n", False, "int", 2),
    ]


def test_declarations(program: ast.Program) -> None:
    x, y, chol = program.data
    assert (x.name, y.name, chol.name) == ("x", "y", "L")
    assert isinstance(x.type, ast.SizedType) and isinstance(chol.type, ast.SizedType)
    assert (x.type.keyword, len(x.type.dims), x.type.sizes) == ("real", 2, ())
    assert x.type.bounds is not None and [name for name, _ in x.type.bounds.items] == ["lower", "upper"]
    assert (chol.type.keyword, len(chol.type.sizes), chol.type.bounds) == ("cholesky_factor_cov", 2, None)
    assert (y.name_span.line, y.name_span.column) == (5, 41)


def test_one_statement_declares_several(program: ast.Program) -> None:
    n, m = program.transformed_data
    assert isinstance(n, ast.Declaration) and isinstance(m, ast.Declaration)
    assert isinstance(n.value, ast.IntLiteral) and m.value is None


def test_indices(program: ast.Program) -> None:
    assignment = program.model[0]
    assert isinstance(assignment, ast.Assignment)
    assert isinstance(assignment.target, ast.Indexed) and isinstance(assignment.value, ast.Indexed)
    single, tail, head = assignment.target.indices
    assert isinstance(single, ast.SingleIndex)
    assert isinstance(tail, ast.RangeIndex) and tail.upper is None and tail.lower is not None
    assert isinstance(head, ast.RangeIndex) and head.lower is None and head.upper is not None
    empty = assignment.value.indices[0]
    assert isinstance(empty, ast.RangeIndex) and empty.lower is None and empty.upper is None


def test_tilde_with_truncation(program: ast.Program) -> None:
    loop = program.model[1]
    assert isinstance(loop, ast.For) and isinstance(loop.body, ast.Block)
    (tilde,) = loop.body.statements
    assert isinstance(tilde, ast.Tilde) and tilde.distribution == "normal" and len(tilde.args) == 2
    assert tilde.truncation is not None and tilde.truncation.upper is None
    assert isinstance(tilde.truncation.lower, ast.IntLiteral)


def test_reject_and_fatal_error(program: ast.Program) -> None:
    choice = program.model[2]
    assert isinstance(choice, ast.If)
    assert isinstance(choice.then, ast.Reject) and not choice.then.fatal
    assert isinstance(choice.otherwise, ast.Reject) and choice.otherwise.fatal
    text = choice.then.args[0]
    assert isinstance(text, ast.StringLiteral) and text.value == "no "


def test_density_call_has_a_bar(program: ast.Program) -> None:
    calls = [node for node in nodes(program) if isinstance(node, ast.Call)]
    assert [(call.name, len(call.args), call.bar) for call in calls] == [
        ("normal_lpdf", 3, True),
        ("target", 0, False),
    ]


def test_spans_are_the_text(program: ast.Program) -> None:
    texts = {(type(node).__name__, text_of(node)) for node in nodes(program)}
    assert ("Binary", "2 * x") in texts
    assert ("Tilde", "2 * x ~ normal(0, 1) T[0, ];") in texts
    assert ("Truncation", "T[0, ]") in texts
    assert ("Bounds", "<lower=0, upper=2>") in texts
    assert ("SizedType", "array[3, 4] real<lower=0, upper=2>") in texts
    assert ("RangeIndex", "2:") in texts
    assert ("Indexed", "x[, 2]") in texts
    assert ("Call", "normal_lpdf(x | 0, 1)") in texts


def test_parentheses_belong_to_the_outer_span() -> None:
    source = "model { target += (a + b) * c; }"
    statement = parse(SourceText(source)).model[0]
    assert isinstance(statement, ast.TargetIncrement)
    span = statement.value.span
    assert source[span.column - 1 : span.end_column - 1] == "(a + b) * c"


def test_a_declaration_as_the_body_is_a_block_of_its_own() -> None:
    text = "parameters { real x; } model { if (x > 0) real a, b = 1; else int c; x ~ normal(0, 1); }"
    program = parse(SourceText(text))
    choice = program.model[0]
    assert isinstance(choice, ast.If) and isinstance(choice.then, ast.Block)
    assert [s.name for s in choice.then.statements if isinstance(s, ast.Declaration)] == ["a", "b"]
    assert isinstance(choice.otherwise, ast.Block) and len(program.model) == 2


@pytest.mark.parametrize(
    ("target", "fits"),
    [
        *(("a", True), ("v[(1)]", True), ("(a, t.1)", True), ("((a, b), c)", True), ("(a)", False)),
        *(("(v)[1]", False), ("(v[1])", False), ("(t).1", False), ("((a, b))", False)),
    ],
)
def test_what_is_assigned_to_stands_in_no_parentheses(target: str, fits: bool) -> None:
    source = SourceText(f"model {{ {target} = 2; }}")
    if fits:
        assert isinstance(parse(source).model[0], ast.Assignment)
    else:
        with pytest.raises(ModelError, match="no parentheses") as refused:
            parse(source)
        assert refused.value.code == "PPL139"
