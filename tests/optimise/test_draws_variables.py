"""Transformed parameters and generated quantities of all draws at once are those of each draw alone."""

import numpy as np
import pytest
from laws.fixed_draws import Fixed

import ppl
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import LOOPS
from ppl.optimise.passes.draws_variables import lifted_variables

DATA = {
    "N": 5,
    "J": 3,
    "K": 2,
    "g": [1, 3, 2, 3, 1],
    "x": [0.3, -1.2, 0.8, 0.1, 2.0],
    "n": [1, 2, 3, 2, 1],
}
HEAD = """
functions {
  real largest(vector v) {
    real m = negative_infinity(); for (i in 1:size(v)) if (v[i] > m) m = v[i]; return m; }
  real noisy_rng(real mu, real sigma) { real z = normal_rng(mu, sigma); return z > 0 ? z : -z; }
  int steps(real a) { int k = 0; real b = a; while (b < 10) { b += 1 + b^2; k += 1; } return k; }
  real once_more(real a, int k) { if (k == 0) return a; return once_more(a / 2, k - 1); }
  real noisy(real a) { real m = 1; if (a > 0) m = a; m *= 2; return m; }
  vector back(vector v) { return reverse(v); }
  vector decay(real t, vector y, real k) { return k > 1 ? -k * y : -2 * k * y; }
  real bell(real x, real xc, array[] real s, data array[] real r, data array[] int i) {
    return exp(-s[1] * x^2); }
}
data { int N; int J; int K; array[N] int g; vector[N] x; array[N] int n; }
parameters {
  real mu; real<lower=0> tau; vector[J] theta; real<lower=mu> above; real<upper=above> under;
  simplex[K] p; matrix[J, K] B; array[J] vector[K] eta;
}
"""

PROGRAMS = {
    "the same for all": "real a = 3; real k = N; vector[J] z = rep_vector(1, J);",
    "whole containers": """
        vector[J] a = mu + tau * theta; matrix[J, K] m = B * B' * B; real s = sum(a) + dot_self(theta);""",
    "an independent loop": """
        vector[N] e; for (i in 1:N) e[i] = exp(theta[g[i]] * x[i]) + B[g[i], n[g[i]] > 1 ? 2 : 1];""",
    "a nested loop": "matrix[N, K] m; for (i in 1:N) for (k in 1:K) m[i, k] = eta[g[i], k] * x[i] + mu;",
    "a recurrence": "vector[N] a; a[1] = mu; for (i in 2:N) a[i] = tau * a[i - 1] + x[i];",
    "a triangle": """
        matrix[J, J] m = rep_matrix(0, J, J); for (i in 1:J) for (j in i:J) m[i, j] = theta[i] *
        theta[j];""",
    "a branch on a parameter": """
        real a = mu; if (mu > 0) a = tau; else if (tau > 1) a += 1; else { a = -mu; a *= 2; }""",
    "branches in a recurrence": """
        array[N] real best; real most = negative_infinity();
        for (i in 1:N) {
          best[i] = 1;
          if (theta[g[i]] * x[i] > most) { most = theta[g[i]] * x[i]; best[i] = 2; }
        }""",
    "an index that differs": """
        vector[J] a; real b; { array[J] int k = sort_indices_asc(theta); a = theta[k]; b = a[k[1]]; }""",
    "a while loop": "real k = 0; { real a = tau; while (a < 5) { a *= 1.7; k += 1; } }",
    "each entry of data in a loop": "vector[N] a; for (i in 1:N) for (k in n) a[i] = mu + k;",
    "names used again": """
        real a = 0; { real b = mu; a += b; } { vector[J] b = theta; a += sum(b); }
        for (j in 1:J) { real b = theta[j]; a += b; } while (a < 0) { real b = 1; a += b; }""",
    "functions": """
        real a = largest(theta); real k = steps(tau); real b = once_more(mu, 3); vector[J] v =
        back(theta);""",
    "ranges": """
        vector[2] a = theta[1:2]; array[2] vector[K] b = eta[2:3]; vector[J] c = theta; c[2:3] = a;
        row_vector[K] r = B[2];""",
    "several indices": """
        matrix[2, K] a = B[{3, 1}]; vector[N] b = theta[g]; matrix[J, K] c = B; c[{1, 3}, 1] = a[, 2];""",
    "logic": """
        real a = mu > 0 && tau > 1; real b = mu > 0 || 1 / tau > 2; real c = mu > 1 ? mu : tau > 1 ? tau
        : 3;""",
    "arrays and literals": """
        array[2] real a = {mu, tau}; row_vector[2] b = [1, mu]; matrix[2, 2] c = [[1, mu], [tau, 2]];""",
    "an int of a draw": """
        real a; { int k = 1; for (j in 1:J) if (theta[j] > 0) k += j; a = k * mu + k %/% 2; }""",
    "declared bounds": """
        vector<lower=mu>[J] a = mu + exp(theta); real<lower=mu - 9, upper=above + 9> b = 1; simplex[K] q
        = p;""",
    "break and continue": """
        real a = 0; for (j in 1:J) { if (theta[j] > 1) break; if (theta[j] < -1) continue; a +=
        theta[j]; }""",
}
PROGRAMS["counters of one name"] = """
    real a = 0; {
      int k = 2; for (i in 1:J) if (theta[i] > 0) { k = i; break; }
      for (i in 1:n[k]) { for (j in i:J) { a = sin(a + i * theta[j]); if (theta[i] > 0) a += j; } }
      for (j in 1:J) a = a^2 / 9 + j; }"""
PROGRAMS["tuples"] = """
    tuple(real, real) a = (mu, mu > 0 ? 1.5 : 2.5); array[J] tuple(real, vector[K]) b;
    tuple(real, vector[2]) c = (1.5, [2, 3]'); for (j in 1:J) b[j] = (theta[j], eta[j]);
    b[2].1 = a.2; c.2[1] = b[1].2[2];
    tuple(real<lower=mu - 1>, simplex[K]) d = (a.1, p); real<lower=size(eta)> e = J + tau;"""
PROGRAMS["a choice between vectors"] = "vector[J] a = mu > 0 ? theta : -theta; vector[J] b = a;"
PROGRAMS["choices inside of choices"] = """
    real a = 0; {
      matrix[J, K] m = mu > 0 ? B + 1 : (tau > 1 ? B .* B : exp(B)); a = sum(m);
      array[2] int k = mu > 0 ? {1, 2} : {2, 3}; a += theta[k[1]] + k[2];
      while (a < 9) a += 1 + dot_self(a > 1 ? theta : x[1:J]);
      for (j in 1:J) { vector[K] v = theta[j] > 0 ? eta[j] : [j, theta[1]]'; a += v[1] * j; } }"""
PROGRAMS["a range that differs"] = """
    real a; { int k = mu > 0 ? 1 : 2; a = sum(theta[1:k]); }"""
PROGRAMS["functions with locals in a loop"] = """
    vector[J] a; for (j in 1:J) a[j] = largest(eta[j]) + noisy(theta[j]);"""
PROGRAMS["locals from a range that differs"] = """
    real a; { int k = mu > 0 ? 1 : 2; real s = sum(theta[1:k]); vector[K] t = p * sum(theta[k:2]);
      a = s + t[1]; }"""
PROGRAMS["what the size of a range tells"] = """
    real a = 2; { int k = mu > 0 ? 1 : 2; real s = 1; s += size(theta[1:k]); a += s; }"""
PROGRAMS["tuples of tuples"] = """
    array[2, J] tuple(complex_vector[K], tuple(real, matrix[K, K])) a;
    for (i in 1:2) for (j in 1:J) a[i, j] = (to_complex(eta[j], i), (i * mu, eta[j] * eta[j]'));"""
PROGRAMS["a tuple that is the same in all iterations"] = """
    tuple(real, vector[K]) a = (mu, eta[1]); array[J] tuple(real, vector[K]) b; for (j in 1:J) b[j] = a;"""
PROGRAMS["rows by an index that differs"] = """
    array[J] vector[K] a; { array[J] int k = sort_indices_asc(theta);
      for (j in 1:J) a[j] = B[k[g[j]]]' + eta[k[j], :]; }"""
PROGRAMS["solvers"] = """
    array[2] vector[1] y = ode_rk45(decay, [1 + tau]', 0, {0.5, 1.5}, tau);
    real k = integrate_1d(bell, 0, positive_infinity(), {tau}, {0.0}, {0}, 1e-8);
    array[2] vector[1] z; for (i in 1:2) z[i] = ode_rk45(decay, [1 + i]', 0, {0.5}, tau)[1];"""
DRAWING = {
    "random numbers": """
        real a = normal_rng(mu, tau); vector[J] b; for (j in 1:J) b[j] = normal_rng(theta[j], 1);""",
    "random numbers of data": """
        real a = normal_rng(0, 1); array[N] real b = normal_rng(x, 1); int c = poisson_rng(3);""",
    "random ints": """
        array[N] int y; for (i in 1:N) y[i] = poisson_rng(exp(theta[g[i]])); int c = categorical_rng(p);""",
    "random vectors": """
        vector[J] a = multi_normal_rng(theta, diag_matrix(rep_vector(1, J))); vector[K] q =
        dirichlet_rng(p);""",
    "random counts": """
        array[K] int c = multinomial_rng(p, 10); array[K] int d = multinomial_logit_rng(eta[1], 9);
        array[J, K] int e; for (j in 1:J) e[j] = multinomial_rng(softmax(eta[j]), 8);
        array[K] int f = dirichlet_multinomial_rng(exp(eta[2]), 7);""",
    "random levels": """
        int c = ordered_logistic_rng(mu, sort_asc(theta)); int d = ordered_probit_rng(mu, sort_asc(theta));
        array[J] int e; for (j in 1:J) e[j] = ordered_logistic_rng(theta[j], cumulative_sum(p));""",
    "a function that draws": """
        real a = noisy_rng(mu, tau); vector[J] b; for (j in 1:J) b[j] = noisy_rng(theta[j], 1);""",
    "a chain of states": """
        array[N] int z; z[1] = categorical_rng(p); for (i in 2:N) z[i] = categorical_rng(softmax(eta[z[i
        - 1]]));""",
    "a branch that draws": "real a; if (mu > 0) a = normal_rng(mu, 1); else a = uniform_rng(0, tau);",
    "no argument": "real a = std_normal_rng(); vector[N] b; for (i in 1:N) b[i] = std_normal_rng();",
}


def posterior_of(text):
    return ppl.compile_model(text).condition(DATA)


def assert_same_values(posterior):
    us = np.random.default_rng(1).normal(0.0, 0.7, (7, posterior.param_unc_num()))
    alone = [posterior.param_constrain(u, include_tp=True, include_gq=True, rng=Fixed()) for u in us]
    together = posterior.param_constrain_draws(us, Fixed())
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(posterior.param_constrain_draws(us[:1], Fixed()), together[:1], rtol=1e-13)


@pytest.mark.rotate
@pytest.mark.parametrize("name", PROGRAMS)
def test_transformed_parameters(name):
    posterior = posterior_of(f"{HEAD} transformed parameters {{ {PROGRAMS[name]} }} model {{}}")
    assert_same_values(posterior)


@pytest.mark.rotate
@pytest.mark.parametrize("name", [*PROGRAMS, *DRAWING])
def test_generated_quantities(name):
    posterior = posterior_of(f"{HEAD} model {{}} generated quantities {{ {(PROGRAMS | DRAWING)[name]} }}")
    assert_same_values(posterior)


def test_generated_quantities_read_transformed_parameters():
    blocks = (
        "transformed parameters {"
        " real a = 3; vector[J] b = theta * tau; { real hidden = mu; b[1] = hidden; } }"
        " model {} generated quantities { vector[J] c = a * b; real hidden = c[2]; }"
    )
    assert_same_values(posterior_of(HEAD + blocks))


def notes_of(statements):
    model = ppl.compile_model(f"{HEAD} model {{}} generated quantities {{ {statements} }}")
    return lifted_variables(model.program(LOOPS))[1]


@pytest.mark.parametrize(
    ("statements", "lines"),
    [
        (PROGRAMS["branches in a recurrence"], 0),
        (PROGRAMS["functions"], 0),
        (PROGRAMS["solvers"], 0),
        (PROGRAMS["functions with locals in a loop"], 0),
        (DRAWING["a chain of states"], 0),
        (PROGRAMS["a while loop"], 0),
        (PROGRAMS["break and continue"], 0),
        (PROGRAMS["choices inside of choices"], 0),
        (PROGRAMS["a range that differs"], 1),
        (PROGRAMS["locals from a range that differs"], 2),
        (PROGRAMS["what the size of a range tells"], 2),
        (DRAWING["no argument"], 0),
    ],
)
def test_what_is_left_draw_by_draw(statements, lines):
    assert len(notes_of(statements)) == lines


def test_each_draw_has_random_numbers_of_its_own():
    drawn = "real a = normal_rng(0, 1); real b = std_normal_rng();"
    posterior = posterior_of(f"{HEAD} model {{}} generated quantities {{ {drawn} }}")
    us = np.zeros((4000, posterior.param_unc_num()))
    a, b = posterior.param_constrain_draws(us, np.random.default_rng(1))[:, -2:].T
    for x in (a, b):
        assert abs(x.mean()) < 5 / np.sqrt(4000) and abs(x.std() - 1) < 5 / np.sqrt(8000)
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(4000)


def test_a_random_bound_of_a_loop_is_drawn_once():
    """1 + ... + n is a triangular number: 8 times it, plus 1, is an odd square."""
    drawn = "int s = 0; for (i in 1:poisson_rng(3)) s += i;"
    posterior = posterior_of(f"{HEAD} model {{}} generated quantities {{ {drawn} }}")
    sums = posterior.param_constrain_draws(
        np.zeros((200, posterior.param_unc_num())), np.random.default_rng(1)
    )
    roots = np.sqrt(8 * sums[:, -1] + 1)
    np.testing.assert_array_equal(roots % 2, 1)


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ('model {} generated quantities { print("mu = ", mu); }', "that one draw prints"),
        (
            "model {} generated quantities { tuple(real, int) a = (mu, 1); while (a.1 < 3) a.1 += 1; }",
            "tuple",
        ),
        (
            "model {} generated quantities { real a; { int k = 2 + (mu > 0); vector[k] v; a = size(v); } }",
            "size",
        ),
    ],
)
def test_programs_that_take_one_draw_at_a_time(blocks, words):
    model = ppl.compile_model(HEAD + blocks)
    with pytest.raises(DrawByDraw, match=words):
        lifted_variables(model.program(LOOPS))
    posterior = model.condition(DATA)
    assert posterior.draws_at_once == 1
    with pytest.raises(ValueError, match="one draw at a time"):
        posterior.param_constrain_draws(np.zeros((3, posterior.param_unc_num())), Fixed())
