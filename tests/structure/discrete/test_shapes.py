"""Programs of the usual shapes, and some that are not: held to the sum over every configuration."""

from typing import Any

import numpy as np
import pytest

import ppl
from ppl.stages import show_stage
from tests.structure.discrete.held import hold, point

Y = [0.3, -1.2, 0.8, 2.0, -0.4, 1.1]

PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "mixture, vectorised": (
        """
        data { int N; int K; vector[N] y; }
        parameters { simplex[K] theta; ordered[K] mu; real<lower=0> sigma; array[N] int<lower=1, upper=K> z; }
        model { mu ~ normal(0, 3); sigma ~ normal(0, 1); z ~ categorical(theta); y ~ normal(mu[z], sigma); }
        """,
        {"N": 5, "K": 3, "y": Y[:5]},
    ),
    "mixture of a plane, in a loop with a local": (
        """
        data { int N; array[N] vector[2] y; }
        parameters { array[2] vector[2] mu; real<lower=0, upper=1> p; array[N] int<lower=0, upper=1> z; }
        model {
          for (n in 1:N) {
            int k = z[n] + 1;
            vector[2] m = mu[k];
            z[n] ~ bernoulli(p);
            y[n] ~ normal(m, 1);
          }
        }
        """,
        {"N": 3, "y": [[0.1, 1.0], [2.0, -1.0], [0.4, 0.4]]},
    ),
    "one number for all rows": (
        """
        data { int N; vector[N] x; matrix[N, 2] w; vector[N] y; }
        parameters { int<lower=0, upper=1> k; real<lower=0, upper=1> p; real b; vector[2] c; }
        model {
          k ~ bernoulli(p);
          y ~ normal(k + b * x, 1);
          y ~ normal(log1p_exp(-x - k) + rep_vector(k, N), 1);
          y ~ normal(k - w[, 2] .* x, 1);
          y ~ normal(k * w * c, 1);
        }
        """,
        {"N": 3, "x": Y[3:], "w": [[1, 2], [0, 1], [1, 1]], "y": Y[:3]},
    ),
    "if and else": (
        """
        data { int N; array[N] int y; }
        parameters { real<lower=0, upper=1> p; real<lower=0> rate; array[N] int<lower=0, upper=1> never; }
        model {
          never ~ bernoulli(p);
          for (n in 1:N) {
            if (never[n] == 1) { if (y[n] > 0) target += negative_infinity(); }
            else y[n] ~ poisson(rate);
          }
        }
        """,
        {"N": 4, "y": [0, 3, 0, 1]},
    ),
    "a value that cannot be": (
        """
        data { int N; array[N] int y; }
        parameters { real<lower=0, upper=1> p; real<lower=0> rate; array[N] int<lower=0, upper=1> is; }
        model { is ~ bernoulli(p); for (n in 1:N) y[n] ~ poisson(is[n] * rate); }
        """,
        {"N": 4, "y": [0, 3, 0, 1]},
    ),
    "change point by loop bounds": (
        """
        data { int T; array[T] int y; }
        parameters { real<lower=0> e; real<lower=0> l; int<lower=1, upper=T> s; }
        model {
          e ~ exponential(1); l ~ exponential(1);
          for (t in 1:s) y[t] ~ poisson(e);
          for (t in (s + 1):T) y[t] ~ poisson(l);
        }
        """,
        {"T": 6, "y": [4, 5, 3, 0, 1, 0]},
    ),
    "chain": (
        """
        data { int T; int K; vector[T] y; }
        parameters {
          array[K] simplex[K] G; simplex[K] p0; ordered[K] mu; array[T] int<lower=1, upper=K> z;
        }
        model {
          mu ~ normal(0, 3);
          z[1] ~ categorical(p0);
          for (t in 2:T) z[t] ~ categorical(G[z[t - 1]]);
          y ~ normal(mu[z], 0.9);
        }
        generated quantities { int jumps = 0; for (t in 2:T) jumps += z[t] != z[t - 1]; }
        """,
        {"T": 5, "K": 3, "y": Y[:5]},
    ),
    "chain whose moves change, written forwards": (
        """
        data { int T; vector[T] y; vector[T] x; }
        parameters { real a; real b; vector[2] mu; array[T] int<lower=0, upper=1> z; }
        model {
          for (t in 1:(T - 1)) z[t + 1] ~ bernoulli_logit(a + b * x[t] * z[t]);
          for (t in 1:T) y[t] ~ normal(mu[1 + z[t]], 1);
        }
        """,
        {"T": 6, "y": Y, "x": Y[::-1]},
    ),
    "many chains of several lengths": (
        """
        data { int I; int T; array[I, T] int y; array[I] int first; }
        parameters {
          vector<lower=0, upper=1>[T] phi; real<lower=0, upper=1> p;
          array[I, T] int<lower=0, upper=1> z;
        }
        model {
          for (i in 1:I) {
            for (t in 1:first[i]) z[i, t] ~ bernoulli(1);
            for (t in (first[i] + 1):T) {
              z[i, t] ~ bernoulli(z[i, t - 1] * phi[t - 1]);
              y[i, t] ~ bernoulli(z[i, t] * p);
            }
          }
        }
        """,
        {"I": 3, "T": 3, "y": [[1, 0, 1], [0, 1, 0], [0, 0, 1]], "first": [1, 2, 3]},
    ),
    "chain of order two": (
        """
        data { int T; vector[T] y; }
        parameters { real a; vector[2] mu; array[T] int<lower=1, upper=2> z; }
        model {
          for (t in 3:T) target += a * (z[t] == z[t - 1]) + 0.4 * (z[t] == z[t - 2]) * y[t];
          y ~ normal(mu[z], 1);
        }
        """,
        {"T": 6, "y": Y},
    ),
    "two chains that meet": (
        """
        data { int T; vector[T] y; }
        parameters { real a; real b; array[T] int<lower=0, upper=1> z; array[T] int<lower=0, upper=1> w; }
        model {
          for (t in 2:T) target += a * z[t] * z[t - 1] + b * w[t] * w[t - 1];
          for (t in 1:T) y[t] ~ normal(a * z[t] + b * w[t] - z[t] * w[t], 1);
        }
        """,
        {"T": 4, "y": Y[:4]},
    ),
    "a chain seen several times at once": (
        """
        data { int T; int N; array[N] int tt; vector[N] y; }
        parameters { real a; vector[2] mu; array[T] int<lower=1, upper=2> z; }
        model {
          for (t in 2:T) target += a * (z[t] == z[t - 1]);
          for (n in 1:N) y[n] ~ normal(mu[z[tt[n]]], 1);
        }
        """,
        {"T": 5, "N": 6, "tt": [1, 1, 2, 4, 4, 5], "y": Y},
    ),
    "several questions each": (
        """
        data { int N; int J; array[N, J] int y; vector[N] x; }
        parameters { array[2] vector[J] a; real b; array[N] int<lower=0, upper=1> z; }
        model {
          for (n in 1:N) {
            z[n] ~ bernoulli_logit(b * x[n]);
            for (j in 1:J) y[n, j] ~ bernoulli_logit(a[z[n] + 1, j]);
          }
        }
        """,
        {"N": 3, "J": 2, "y": [[0, 1], [1, 1], [0, 0]], "x": Y[:3]},
    ),
    "raters, one row a rating": (
        """
        data { int I; int J; int N; array[N] int ii; array[N] int jj; array[N] int y; }
        parameters { simplex[2] p; array[J, 2] simplex[3] says; array[I] int<lower=1, upper=2> z; }
        model { z ~ categorical(p); for (n in 1:N) y[n] ~ categorical(says[jj[n], z[ii[n]]]); }
        """,
        {"I": 4, "J": 2, "N": 6, "ii": [1, 1, 2, 3, 3, 2], "jj": [1, 2, 1, 1, 2, 2], "y": [1, 3, 2, 2, 1, 1]},
    ),
    "groups and their members": (
        """
        data { int N; int G; array[N] int g; vector[N] y; }
        parameters {
          real a; real<lower=0, upper=1> q; array[N] int<lower=0, upper=1> w;
          array[G] int<lower=1, upper=3> z; int<lower=-1, upper=1> s;
        }
        transformed parameters { vector[N] m; for (n in 1:N) m[n] = a * z[g[n]] + w[n] + 0.3 * s; }
        model { a ~ normal(0, 1); target += 0.1 * s * a; w ~ bernoulli(q); y ~ normal(m, 1); }
        """,
        {"N": 3, "G": 2, "g": [1, 2, 2], "y": Y[:3]},
    ),
    "tree by data": (
        """
        data { int N; array[N] int parent; vector[N] y; }
        parameters { simplex[2] p0; array[2] simplex[2] G; vector[2] mu; array[N] int<lower=1, upper=2> z; }
        model {
          for (n in 1:N) if (parent[n] == 0) z[n] ~ categorical(p0); else z[n] ~ categorical(G[z[parent[n]]]);
          y ~ normal(mu[z], 1);
        }
        """,
        {"N": 6, "parent": [0, 1, 1, 2, 2, 0], "y": Y},
    ),
    "everyone meets everyone": (
        """
        data { int N; vector[N] x; }
        parameters { real a; real b; array[N] int<lower=-1, upper=1> z; }
        model {
          for (i in 1:(N - 1)) for (j in (i + 1):N) target += 0.3 * a * z[i] * z[j];
          for (i in 1:N) target += b * x[i] * z[i];
        }
        """,
        {"N": 4, "x": Y[:4]},
    ),
    "conditions on reals of the data": (
        """
        data { int N; vector[N] x; matrix[N, 3] X; array[N] int a; array[N] int b; }
        parameters { real m; array[3] int<lower=0, upper=1> z; }
        model {
          m ~ normal(0, 1);
          for (n in 1:N) {
            if (max(x) > 1.5) target += m * z[a[n]] * z[b[n]];
            if (min(x) > 0.5) target += 5 * z[a[n]] * z[b[n]];
            if (size(X) > 5 && rows(X) < cols(X)) target += 2 * m * z[a[n]] * z[b[n]];
            if (cols(x) == 1 && rows(x') == 1) target += 3 * m * z[a[n]] * z[b[n]];
          }
        }
        """,
        {"N": 2, "x": [0.7, 1.7], "X": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], "a": [1, 2], "b": [2, 3]},
    ),
    "an index that is discrete": (
        """
        data { vector[3] y; }
        parameters { real a; array[3] int<lower=0, upper=2> z; int<lower=1, upper=3> w; }
        model { target += a * z[w]; y[w] ~ normal(z[1], 1); w ~ categorical([0.2, 0.3, 0.5]'); }
        """,
        {"y": Y[:3]},
    ),
    "a local that is filled": (
        """
        data { int N; vector[N] y; vector[N] x; }
        parameters { vector[2] mu; real b; array[N] int<lower=1, upper=2> z; }
        model {
          vector[N] m;
          for (n in 1:N) m[n] = mu[z[n]] + b * x[n];
          z ~ categorical([0.3, 0.7]');
          y ~ normal(m, 1);
        }
        """,
        {"N": 4, "y": Y[:4], "x": Y[2:]},
    ),
    "regression in a vectorised statement": (
        """
        data { int N; vector[N] y; matrix[N, 2] x; }
        parameters { vector[2] beta; vector[2] mu; real<lower=0> sigma; array[N] int<lower=1, upper=2> z; }
        model { z ~ categorical([0.3, 0.7]'); y ~ normal(x * beta + mu[z], sigma); }
        """,
        {"N": 4, "y": Y[:4], "x": [[1, 2], [3, 1], [0, 1], [1, 1]]},
    ),
    "binomial, poisson and a user's own mass function": (
        """
        functions { real steep_lpmf(int k, real a) { return k * a - 0.1 * k ^ 2; } }
        data { array[3] int y; }
        parameters {
          real a; real<lower=0> rate; int<lower=3, upper=6> n;
          array[2] int<lower=0, upper=3> k; int<lower=-2, upper=2> s;
        }
        model {
          n ~ poisson(rate); y ~ binomial(n, inv_logit(a)); k ~ binomial(3, inv_logit(a)); s ~ steep(a);
          target += 0.2 * s * k[1];
        }
        """,
        {"y": [1, 3, 2]},
    ),
    "nothing asked of it": (
        "parameters { real a; array[2] int<lower=1, upper=3> z; } model { a ~ normal(0, 1); }",
        {},
    ),
}


@pytest.mark.rotate
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_the_sum_over_every_configuration(name: str) -> None:
    hold(*PROGRAMS[name])


@pytest.mark.rotate
@pytest.mark.parametrize(
    "name", ["mixture, vectorised", "chain", "many chains of several lengths", "groups and their members"]
)
def test_the_same_under_jax(name: str) -> None:
    pytest.importorskip("jax")
    text, data = PROGRAMS[name]
    posterior = ppl.compile_model(text).condition(data)
    u = point(posterior, 1)
    from ppl.jax_backend.target import compiled_target

    value, gradient = compiled_target(posterior).log_density_gradient(u)
    wanted, slopes = posterior.log_density_gradient(u)
    assert value == pytest.approx(wanted, rel=1e-12)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.rotate
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_with_the_sum_is_a_program(name: str) -> None:
    """Printed and compiled again it has the same density, and no int among its parameters."""
    text, data = PROGRAMS[name]
    posterior = ppl.compile_model(text).condition(data)
    printed = show_stage(text, "program", data=data)
    again = ppl.compile_model(printed).condition(data)
    u = point(posterior, 2)
    assert again.model.discrete is None
    assert again.log_density(u) == posterior.log_density(u)
    assert again.param_names(True, True) == posterior.param_names(True, True)
