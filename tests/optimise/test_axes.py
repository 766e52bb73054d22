"""Axes have names: values laid out along different loops do not meet, though the loops be of one length."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from laws.passes import lowered
from laws.verifier.axes import Known, OtherAxes, check_axes

from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import changing_names, rewrite, walk
from ppl.optimise.forms import ARRAYS, GRADIENT, points_of
from ppl.types import VECTOR, axes_of, entry, over_axes

PROGRAM = lowered("""
data { int N; int K; vector[N] y; array[N] int<lower=1, upper=K> g; vector[K] z; }
parameters { vector[K] mu; vector[N] nu; matrix[N, K] b; }
model {
  for (n in 1:N) for (k in 1:K) target += normal_lpdf(y[n] | mu[k] * b[n, k], 1);
  for (n in 1:N) {
    vector[K] lp;
    for (k in 1:K) lp[k] = normal_lpdf(y[n] | mu[k], 1) + normal_lpdf(g[n] | b[n, k], 1);
    target += log_sum_exp(lp);
  }
  for (n in 1:N) if (y[n] > 0) target += normal_lpdf(y[n] | nu[n] + mu[g[n]], 1);
  for (k in 1:K) if (z[k] > 0) target += normal_lpdf(z[k] | mu[k], 1);
}
""")
Y, Z = (ir.Var(name, VECTOR) for name in "yz")
FORMS = [ARRAYS, GRADIENT, points_of(GRADIENT)]

Change = Callable[[ir.Program], ir.Program]


def everywhere(change: Callable[[object], object]) -> Change:
    return lambda p: replace(p, model=tuple(rewrite(s, change) for s in p.model))


def named(old: str, new: str) -> Change:
    """Another parameter of one axis, as long as this one where N is K."""
    return everywhere(lambda n: replace(n, name=new) if isinstance(n, ir.Var) and n.name == old else n)


def other_rows(n: object) -> object:
    """Rows and columns of a matrix that is read along both loops change places."""
    if isinstance(n, ir.Var) and axes_of(n.type)[-2:] == ("N", "K"):
        return replace(n, type=over_axes(entry(n.type), *axes_of(n.type)[:-2], "K", "N"))
    return n


def where_of_another(p: ir.Program) -> ir.Program:
    """z picked at the places of the test on y."""
    where = {n.base.name: n.items for n in walk(p.model) if isinstance(n, ir.Gather) and n.base in (Y, Z)}
    assert where.keys() == {"y", "z"}
    return everywhere(
        lambda n: replace(n, items=where["y"]) if isinstance(n, ir.Gather) and n.base == Z else n
    )(p)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_axes_of_a_program_agree(form) -> None:
    check_axes(form.of(PROGRAM))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        (named("mu", "nu"), "`nu` is read along K, but has an entry for each of N"),
        (everywhere(other_rows), "`b` is read along K, but has an entry for each of N"),
    ],
    ids=["another parameter", "rows and columns"],
)
def test_axes_of_one_length_are_told_apart(form, change, why) -> None:
    program = form.of(PROGRAM)
    if program != change(program):
        with pytest.raises(OtherAxes, match=why):
            check_axes(change(program))


def test_the_axis_of_an_index_set_is_that_set() -> None:
    with pytest.raises(OtherAxes, match=r"is along at_\d+__, but what it is made of along at_\d+__"):
        check_axes(where_of_another(ARRAYS.of(PROGRAM)))


def test_names_of_axes() -> None:
    program = lowered("""
    data { int N; int K; vector[N] y; matrix[N, K] x; array[K] int g; }
    transformed data {
      int T = rows(x); vector[T] z = y; vector[N - 1] w = y[2:N];
      int s = 1; s = 2; vector[s] v;
    }
    parameters { real a; }
    """)
    body = program.transformed_data
    names = Known(changing_names(body), {"y": ("N",), "x": ("N", "K"), "g": ("K",)})
    names.block(body)
    assert {n: names.axes[n] for n in "zwv"} == {"z": ("N",), "w": ("2:N",), "v": (None,)}
