"""Which terms of the target are those of rows, and which N is a size."""

import numpy as np
import pytest
from laws.passes import lowered

from ppl import compile_model
from ppl.density.rows import by_rows
from ppl.optimise.passes.one_side import sides_of
from ppl.optimise.passes.split_rows import split_rows
from ppl.stages import show_stage

DECLARED = "data { int N; int K; matrix[N, K] x; vector[N] y; }\nparameters { vector[K] b; }\nmodel {\n"
X = np.random.default_rng(2).normal(size=(6, 2))
DATA = {"N": 6, "K": 2, "x": X, "y": X @ [1.0, -2.0]}


@pytest.mark.parametrize(
    "row_term",
    [
        "y ~ normal((x * b) / N, 1);",
        "y ~ normal(x * b, sqrt(N));",
        "y ~ normal(x * b + rep_vector(b[1] / N, N), 1);",
        "for (n in 1:N) { if (b[1] > 99) break; y[n] ~ normal(x[n] * b, N); }",
        "for (n in 1:N) x[n] ~ multi_student_t(N, b, identity_matrix(2));",
    ],
)
def test_a_size_that_is_a_number_keeps_its_value_in_a_batch(row_term: str) -> None:
    posterior = compile_model(f"{DECLARED} b ~ normal(0, N); {row_term} }}").condition(DATA)
    batches, u = by_rows(posterior, "N"), np.array([0.3, -0.8])
    of_rows = [batches.minibatch(np.array([n])).log_density(u) for n in range(6)]
    assert np.mean(of_rows) == pytest.approx(posterior.log_density(u), rel=1e-12)


def test_what_has_no_entry_a_row_is_no_row_term() -> None:
    split = split_rows(
        lowered(f"{DECLARED} vector[K] c = 2 * b;\n c ~ normal(0, 1);\n y ~ normal(x * c, 1); }}"), "N"
    )
    assert [span.line for span in split.terms] == [6]
    assert [span.line for span in split.rest_terms] == [5]


@pytest.mark.parametrize(
    "filled",
    [
        "vector[N] c; for (n in 1:size(c)) c[n] = b[1];",
        "vector[N] c = rep_vector(b[1], num_elements(rep_vector(2, N)));",
        "vector[6] c; for (n in 1:N) c[n] = b[1];",
        "vector[6] c; c = rep_vector(b[1], N);",
    ],
)
def test_a_variable_with_an_entry_a_row_is_one_of_rows(filled: str) -> None:
    split = split_rows(lowered(f"{DECLARED} b ~ normal(0, 1);\n {filled}\n c ~ normal(0, 1); }}"), "N")
    assert [span.line for span in split.terms] == [6]
    assert [span.line for span in split.rest_terms] == [4]


def test_branches_of_a_function_that_a_solver_calls_have_two_sides() -> None:
    """That on `k`, a parameter; not that on data."""
    text = """
    functions {
      vector decay(real t, vector y, real k, int n) {
        real rate = n > 0 ? 1 : 2;
        if (k > 1) rate *= k;
        return -rate * y;
      }
    }
    data { int n; }
    parameters { real k; }
    model { target += sum(ode_rk45(decay, [1.0]', 0, {1.0}, k, n)[1]); }
    """
    assert sides_of(lowered(text)) == [((1, True),)]


def test_branches_in_a_while_loop_have_no_side() -> None:
    """Without that which holds, the loop would not end."""
    body = "real q = k; while (q < 1) { if (q > 0) q += 1; else q = 0.5; } if (k > 0) target += -q;"
    text = f"parameters {{ real k; }} model {{ {body} }}"
    assert sides_of(lowered(text)) == [((1, True),)]


def test_the_plan_names_a_line_of_two_terms_once() -> None:
    data = "data { int N; vector[N] x; vector[N] y; } parameters { real a; }"
    plan = show_stage(f"{data}\nmodel {{ x ~ normal(a, 1); y ~ normal(a, 2); }}", "plan")
    assert plan.count(":2: model { x ~ normal(a, 1);") == 1
