"""The latent structure in words, as a plan with data ends with."""

import pytest

import ppl
from ppl.methods.correct.draw_source import DrawSource
from ppl.results.report.latent_structure import entries
from ppl.stages import show_stage

GROUPED = """
data { int J; int N; array[N] int g; vector[N] x; vector[N] y; }
parameters { vector[J] a; vector[J] b; real m; real<lower=0> s; }
model { m ~ normal(0, 1); s ~ normal(0, 1); a ~ normal(m, s); b ~ normal(0, s);
  y ~ normal(a[g] + b[g] .* x, 1); }
"""
MATRIX = """
data { int J; matrix[2, J] y; }
parameters { array[2] real m; matrix[2, J] z; cholesky_factor_corr[2] L; }
model { m ~ normal(0, 1); L ~ lkj_corr_cholesky(2); to_vector(z) ~ normal(0, 1);
  to_vector(y) ~ normal(to_vector(rep_matrix(to_vector(m), J) + L * z), 1); }
"""
Y = [0.3, -1.0, 2.0, 0.5, 1.1]


def last_lines(program, data):
    return show_stage(program, "plan", data=data).partition("Latent structure:\n")[2].splitlines()


def test_blocks_of_one_set_of_variables_are_one_line():
    data = {"J": 5, "N": 5, "g": [1, 2, 3, 4, 5], "x": [1.0, 2.0, 1.0, 0.0, 1.0], "y": Y}
    assert last_lines(GROUPED, data) == [
        "  a (4 entries), b (4 entries): independent given m, s (4 blocks of 2)",
        "  a[4]: independent given m, s (1 block of 1)",
        "  b[4]: independent given m, s (1 block of 1)",
    ]


def test_rows_of_a_matrix_are_ranges():
    (line,) = last_lines(MATRIX, {"J": 15, "y": [3 * Y, 3 * Y]})
    assert line == "  z[1:2, 1:15]: independent given m[1:2], L[1] (15 blocks of 2)"


WALK = """
data { int T; array[T] int y; }
parameters { real mu; real<lower=0> s; vector[T] x; }
model { mu ~ normal(0, 1); s ~ normal(0, 1); x[1] ~ normal(mu, s); x[2:T] ~ normal(x[1:(T - 1)], s);
  y ~ poisson_log(x); }
"""


def test_a_chain_is_one_line():
    (line,) = last_lines(WALK, {"T": 9, "y": [1, 0, 2, 3, 1, 4, 2, 5, 3]})
    assert line == "  x[1:9]: each depends on at most 2 others given mu, s (bandwidth 1)"


def test_a_chain_is_integrated_out():
    post = ppl.compile_model(WALK).condition({"T": 9, "y": [1, 0, 2, 3, 1, 4, 2, 5, 3]})
    fit = post.variational(seed=1, draws=100)
    assert fit.verdict.made is DrawSource.NESTED and fit.verdict.level == "good"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["mu", "tau"], ["mu", "tau"]),
        (["b.1", "mu", "b.2"], ["b[1:2]", "mu"]),
        (["b.1", "b.3"], ["b (2 entries)"]),
        (["z.2.1", "z.2.2", "z.2.3"], ["z[2, 1:3]"]),
    ],
)
def test_names_as_ranges(names, expected):
    assert entries(names) == expected


def test_where_there_is_none():
    scale = "add_diag(rep_matrix(1, 9, 9), 1)"
    program = f"parameters {{ vector[9] x; }} model {{ x ~ multi_normal(rep_vector(0, 9), {scale}); }}"
    assert show_stage(program, "plan", data={}).splitlines()[-1].startswith("No latent structure was found: ")
