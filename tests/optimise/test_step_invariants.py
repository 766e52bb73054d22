"""A step of a recurrence computes what differs from step to step, and declares nothing that it sets whole."""

import numpy as np
import pytest
from laws.passes import assert_law, lowered

import ppl
from ppl.errors import DataError, InferenceError
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.nodes import Program
from ppl.kernel.ir.walk import used_names, walk
from ppl.optimise.forms import ARRAYS, GRADIENT

FORWARD = """
data { int<lower=1> T; int<lower=1> K; vector[T] y; }
parameters { vector[K] mu; matrix[K, K] A; }
model {
  vector[K] la = mu;
  for (t in 2:T) {
    vector[K] after;
    for (k in 1:K) {
      array[K] real terms;
      for (j in 1:K) terms[j] = la[j] + A[j, k] + normal_lpdf(y[t] | mu[k], 1);
      after[k] = log_sum_exp(terms);
    }
    la = after;
  }
  target += log_sum_exp(la);
}
"""


def steps(p: Program) -> tuple[ir.Scan, ...]:
    return tuple(n for n in walk(p.model) if isinstance(n, ir.Scan))


def test_a_step_computes_nothing_from_index_sets_alone() -> None:
    (scan,) = steps(ARRAYS.of(lowered(FORWARD)))
    (before,) = steps(ARRAYS.of(lowered(FORWARD), without={"step-invariants"}))
    names = {v.name for v in scan.fixed}
    assert any(name.startswith("fixed_") for name in names)
    assert names <= used_names((scan.step, scan.next, scan.batch, scan.batch_next))
    assert len(list(walk(scan.step))) < len(list(walk(before.step)))


def test_each_scan_has_its_own() -> None:
    loop, end = "for (t in 2:T) {", "target +="
    again = f"la = mu; {loop}{FORWARD.split(loop)[1].split(end)[0]}{end}"
    model = ARRAYS.of(lowered(FORWARD.replace(end, again))).model
    made = [n.name for n in walk(model) if isinstance(n, ir.Assign) and n.name.startswith("fixed_")]
    assert sum(isinstance(n, ir.Scan) for n in walk(model)) == 2
    assert len(made) == len({*made}) > 1


def test_what_is_set_whole_is_not_declared_first() -> None:
    (scan,) = steps(ARRAYS.of(lowered(FORWARD)))
    (before,) = steps(ARRAYS.of(lowered(FORWARD), without={"dead-stores"}))
    unset = [sum(isinstance(n, ir.Declare) for n in walk(s.step)) for s in (scan, before)]
    assert unset == [0, 2]


def test_the_numbers_are_the_same_without() -> None:
    data = {"T": 6, "K": 3, "y": np.linspace(-1, 1, 6)}
    u = np.random.default_rng(1).normal(size=12)
    found = [
        ppl.compile_model(FORWARD, without=without).condition(data).log_density_gradient(u)
        for without in ((), ("step-invariants", "dead-stores"))
    ]
    assert found[0][0] == found[1][0]
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize(
    ("M", "K", "body"),
    [
        (0, 3, "matrix[K, M] A = p; for (i in 2:K) for (j in 1:M) A[i, j] = q + 0.5 * A[i - 1, M];"),
        (0, 3, "vector[M] A = to_vector(p[1]); for (i in 1:K) A = tanh(q * A);"),
        (0, 3, "vector[1] A; real a = q; for (i in 1:K) a = tanh(a) * (a > 9 ? p[i, M] : 1); A[1] = a;"),
        (2, 0, "vector[1] A; real a = q; for (i in 1:K) a = tanh(a) * p[K, M]; A[1] = a;"),
    ],
    ids=["an entry of a row", "a state", "a side of a ternary", "no steps"],
)
def test_of_nothing_no_step_looks_at_an_entry(M: int, K: int, body: str) -> None:
    program = f"""
    data {{ int M; int K; }}
    parameters {{ matrix[K, M] p; real q; }}
    model {{ {body} target += sum(A) - q ^ 2; }}
    """
    assert_law(program, {"M": M, "K": K}, np.array([0.7]))


@pytest.mark.parametrize("bound", ["", "<lower=-3>"])
def test_a_size_that_may_be_negative_is_looked_at(bound: str) -> None:
    program = f"""
    data {{ int{bound} K; vector[2] y; }}
    parameters {{ real a; }}
    model {{ vector[K] z; for (k in 1:K) z[k] = a * y[k]; target += sum(z); }}
    """
    declared = [n for n in walk(GRADIENT.of(lowered(program)).model) if isinstance(n, ir.Declare)]
    assert [d.name for d in declared] == ["z"]
    with pytest.raises((DataError, InferenceError), match=r"negative|at least 0|-1"):
        ppl.compile_model(program).condition({"K": -1, "y": [1.0, 2.0]}).log_density(np.zeros(1))


def test_a_view_does_where_nothing_changes_in_place() -> None:
    text = ppl.compile_model("""
    data { int<lower=1> N; vector[N] y; }
    parameters { vector[N] a; }
    model {
      vector[N] b = a; vector[N] c = a;
      c[1] = 2;
      b ~ normal(c, 1);
      y ~ normal(a, 1);
    }
    """).python_source
    assert "b = lib.sized(a, N)\n" in text and "c = lib.sized(lib.own(a), N)\n" in text
