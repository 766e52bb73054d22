"""Printing and parsing are inverse, and the print is canonical."""

import dataclasses
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppl.kernel.language import ast
from ppl.kernel.language.parser import parse
from ppl.kernel.language.printer import PRECEDENCE, expression, print_program
from ppl.source import SourceText, Span

SHARED = Path(os.environ.get("PPL_SHARED", Path(__file__).parents[4] / "shared")) / "conformance" / "programs"

CANONICAL = """functions {
  @extern real f(data real x, array[,] int n);
  tuple(real, array[] int) g() {
    return (1.5, {1, 2});
  }
  @grad(h, (x, 1)) @inline tuple(real,) h(tuple(real,) x) {
    return (x.1,);
  }
}
data {
  int<lower=0> N;
  array[N, 2] vector<lower=-1, upper=(N > 1 ? 2 : 3)>[3] x;
  tuple(real<lower=0>, array[2] matrix[2, 3]) t;
  @gpu array[2] tuple(matrix[2, 2],) u;
}
transformed data {
  profile("once") {
    print("N is ", N);
  }
}
parameters {
  simplex[N] theta;
}
model {
  real a = b, c;
  t.1 = -a ^ 2 + (-a) ^ 2;
  (a, c) = g();
  for (i in 1 : N) {
    x[i, 2:, :3, :] ~ normal(a, c) T[, 2];
  }
  for (y in x) {
    ;
  }
  if (a < c) {
    target += normal_lpdf(a | 0, 1);
  } else if (c) {
    jacobian += a' * c'[1];
  } else {
    reject("no");
  }
  while (1) {
    break;
    continue;
  }
  {
    f(a, {1});
  }
}
"""


def printed(text: str) -> str:
    return print_program(parse(SourceText(text)))


def test_canonical_text_is_kept() -> None:
    expected = CANONICAL.replace("real a = b, c;", "real a = b;\n  real c;")
    assert printed(CANONICAL) == expected
    assert printed(expected) == expected


def test_a_statement_alone_gets_braces_and_layout_is_dropped() -> None:
    assert printed("model{if(a)x=1;else{x=2;}}") == (
        "model {\n  if (a) {\n    x = 1;\n  } else {\n    x = 2;\n  }\n}\n"
    )


def test_needless_parentheses_go() -> None:
    assert (
        printed("model { target += ((a * b)) + (c) - (d + e); }")
        == "model {\n  target += a * b + c - (d + e);\n}\n"
    )


@pytest.mark.skipif(not SHARED.exists(), reason="the conformance programs are not here")
def test_conformance_programs_print_the_same_twice() -> None:
    for file in sorted(SHARED.glob("*.stan")):
        once = printed(file.read_text())
        assert printed(once) == once, file.name


# --- Any expression ------------------------------------------------------------------------------

HERE = Span(SourceText(""), 1, 1, 1, 1)
names = st.sampled_from("abc").map(lambda name: ast.Variable(HERE, name))
numbers = st.sampled_from(
    [ast.IntLiteral(HERE, 2), ast.RealLiteral(HERE, "1.5"), ast.RealLiteral(HERE, "2.")]
)


def larger(inner: st.SearchStrategy[ast.Expr]) -> st.SearchStrategy[ast.Expr]:
    few = st.lists(inner, min_size=1, max_size=2).map(tuple)
    bounds = st.none() | inner
    index = st.builds(ast.SingleIndex, st.just(HERE), inner) | st.builds(
        ast.RangeIndex, st.just(HERE), bounds, bounds
    )
    return st.one_of(
        st.builds(ast.Binary, st.just(HERE), st.sampled_from(sorted(PRECEDENCE)), inner, inner),
        st.builds(ast.Unary, st.just(HERE), st.sampled_from("-+!"), inner),
        st.builds(ast.Ternary, st.just(HERE), inner, inner, inner),
        st.builds(ast.Transpose, st.just(HERE), inner),
        st.builds(ast.Indexed, st.just(HERE), inner, st.lists(index, min_size=1, max_size=2).map(tuple)),
        st.builds(ast.Projection, st.just(HERE), names, st.integers(1, 3)),
        st.builds(ast.Call, st.just(HERE), st.just("f"), few, st.booleans()),
        st.builds(ast.ArrayLiteral, st.just(HERE), few),
        st.builds(ast.RowVectorLiteral, st.just(HERE), few),
    )


def shape(node: object) -> object:
    """A tree without its spans, to be compared by value."""
    if isinstance(node, ast.Node):
        fields = [field.name for field in dataclasses.fields(node) if field.name != "span"]
        return (type(node).__name__, *(shape(getattr(node, name)) for name in fields))
    return tuple(map(shape, node)) if isinstance(node, tuple) else node


@pytest.mark.rotate
@settings(max_examples=300, deadline=None)
@given(st.recursive(names | numbers, larger, max_leaves=12))
def test_any_expression_comes_back(tree: ast.Expr) -> None:
    (statement,) = parse(SourceText(f"model {{ target += {expression(tree)}; }}")).model
    assert isinstance(statement, ast.TargetIncrement)
    assert shape(statement.value) == shape(tree)
