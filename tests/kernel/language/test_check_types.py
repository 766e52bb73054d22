"""What the checker accepts, and the type it gives to it."""

import pytest

import ppl
from ppl.kernel.language.check import check
from ppl.kernel.language.parser import parse
from ppl.source import SourceText

HEADER = """functions {
  real over(int a) { return 1; }
  vector over(vector a) { return a; }
  real forward(real a);
  real both(real a) { return forward(a); }
  real forward(real a) { return a > 0 ? both(a - 1) : 0; }
  real own_lpdf(real y, real m) { return -(y - m) ^ 2; }
}
data {
  int N;
  real r;
  vector[3] v;
  row_vector[3] w;
  matrix[3, 3] A;
  array[3] int k;
  array[3] real q;
  array[2] vector[3] vs;
  array[2, 3] int kk;
}
transformed data {
  tuple(int, vector[3]) t = (1, v);
}
parameters {
  real p;
}
"""

TYPES = {
    "N + 1": "int",
    "N + 1.0": "real",
    "N / 2": "int",
    "N %/% 2": "int",
    "N ^ 2": "real",
    "-N": "int",
    "!N": "int",
    "N > r": "int",
    "N && N > r": "int",
    "r > 0 ? 1 : 2.0": "real",
    "v + 1": "vector",
    "v * 2": "vector",
    "w * v": "real",
    "v * w": "matrix",
    "A * v": "vector",
    "w * A": "row_vector",
    "A * A": "matrix",
    "A .* A": "matrix",
    "A \\ v": "vector",
    "w / A": "row_vector",
    "v'": "row_vector",
    "A'": "matrix",
    "v[1]": "real",
    "v[1:2]": "vector",
    "v[{1, 2}]": "vector",
    "v[k]": "vector",
    "A[1]": "row_vector",
    "A[, 1]": "vector",
    "A[1, 2:3]": "row_vector",
    "A[1:2, 1]": "vector",
    "A[k, k]": "matrix",
    "vs[1]": "vector",
    "vs[1, 2]": "real",
    "vs[, 2]": "array[] real",
    "vs[1:2, 2:3]": "array[] vector",
    "kk[1]": "array[] int",
    "kk[, 1]": "array[] int",
    "kk[1, 2]": "int",
    "{1, 2.0}": "array[] real",
    "{v, v}": "array[] vector",
    "{{1}, {2}}": "array[,] int",
    "[1, 2]": "row_vector",
    "[w, w]": "matrix",
    "(1, v)": "tuple(int, vector)",
    "t.1": "int",
    "t.2[1]": "real",
    "exp(v)": "vector",
    "exp(k)": "array[] real",
    "sum(k)": "int",
    "sum(q)": "real",
    "size(vs)": "int",
    "over(1)": "real",
    "over(v)": "vector",
    "forward(1)": "real",
    "normal_lpdf(v | 0, 1)": "real",
    "normal_lpdf(q | v, w)": "real",
    "own_lpdf(1 | 2)": "real",
    "poisson_lpmf(k | 2)": "real",
    "to_vector(q)": "vector",
    "append_row(v, v)": "vector",
    "target()": "real",
}


@pytest.mark.parametrize(("expression", "expected"), TYPES.items(), ids=TYPES)
def test_type_of_an_expression(expression: str, expected: str) -> None:
    tree = parse(SourceText(f"{HEADER}model {{ print({expression}); }}"))
    facts = check(tree)
    assert str(facts.types[tree.model[0].args[0]]) == expected


@pytest.mark.parametrize(
    "program",
    [
        "",
        "parameters { real p; } model { real p2 = p; { real a = p2; } { vector[2] a; } }",
        "model { for (i in 1:2) { } for (i in {1.5, 2}) { real j = i; } }",
        "transformed data { int n = poisson_rng(3); vector[n] z; }",
        "data { array[2] int<lower=0> k; } parameters { vector<lower=0>[k[1] + 1] s; }",
        "data { int N; vector[N] m; } parameters { vector<offset=m, multiplier=2>[N] z; }",
        "parameters { real<lower=0> a; real<lower=a, upper=a + 1> b; }",
        "functions { real f_lp(real a) { a ~ normal(0, 1); return target(); } } model { real a = f_lp(1); }",
        "functions { int f_rng() { return poisson_rng(1); } } generated quantities { int g = f_rng(); }",
        "functions { real f(real a) { if (a > 0) return 1; else reject(a); } }",
        "functions { real f(real a) { while (1) return a; } }",
        "parameters { real p; } transformed parameters { real q; { real local = p; q = local; } }",
        "parameters { vector[2] u; } transformed parameters { vector[2] x = exp(u); jacobian += sum(u); }",
        "data { int x; } generated quantities { int y; y = x; y += 2; { vector[y] z; } }",
        "parameters { real exp_; } model { real sum = exp_; target += sum; }",
        "transformed data { int a; real b; (a, b) = (1, 2); }",
    ],
)
def test_accepted(program: str) -> None:
    ppl.compile_model(f"{program}\n")
