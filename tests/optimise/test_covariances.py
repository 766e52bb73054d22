"""A density of a Cholesky factor that nothing else uses is that of the covariance, and means the same."""

import numpy as np
import pytest
from laws.passes import close

import ppl
from ppl.kernel.ir import nodes as ir
from ppl.kernel.ir.walk import walk
from ppl.optimise.passes.covariances import by_covariance

HEADER = """
data { int N; array[N] real x; vector[N] y; array[2] vector[N] Y; }
parameters { real<lower=0> a; real<lower=0> r; real<lower=0> s; vector[N] e; }
"""
RNG = np.random.default_rng(4)
N = 6
DATA = {"N": N, "x": np.linspace(0, 2, N), "y": RNG.normal(size=N), "Y": RNG.normal(size=(2, N))}
K = "matrix[N, N] K = add_diag(gp_exp_quad_cov(x, a, r), s);"
ZERO = "rep_vector(0, N)"

L = "matrix[N, N] L = cholesky_decompose(K);"

BY_COVARIANCE = {
    "written inside": f"y ~ multi_normal_cholesky({ZERO}, cholesky_decompose(K));",
    "a local": f"{L} y ~ multi_normal_cholesky({ZERO}, L);",
    "set later": "matrix[N, N] L; L = cholesky_decompose(K); target += multi_normal_cholesky_lpdf(y | e, L);",
    "changed after": f"{L} K[1, 1] = 9; y ~ multi_normal_cholesky(K[1]', L);",
    "several rows": "Y ~ multi_normal_cholesky(e, cholesky_decompose(K));",
    "a loop over rows": "for (n in 1:2) Y[n] ~ multi_normal_cholesky(e, cholesky_decompose(K));",
}
AS_IT_IS = {
    "used twice": f"{L} y ~ multi_normal_cholesky(L * e, L);",
    "changed": f"{L} L[1, 1] = 2; y ~ multi_normal_cholesky({ZERO}, L);",
    "set anew": f"{L} if (a > 0) L = cholesky_decompose(2 * K); y ~ multi_normal_cholesky(e, L);",
    "no Cholesky factor": f"matrix[N, N] L = exp(K); y ~ multi_normal_cholesky({ZERO}, L);",
    "of another statement": f"""matrix[N, N] L = cholesky_decompose(K); target += L[2, 1];
        y ~ multi_normal_cholesky({ZERO}, exp(K));""",
    "a factor of each": "for (n in 1:2) Y[n] ~ multi_normal_cholesky(e, cholesky_decompose(n * K));",
}


def densities(model: ppl.Model) -> list[str]:
    program = by_covariance(model.program())
    return [
        n.callee.name
        for n in walk(program.model)
        if isinstance(n, ir.Apply) and "multi_normal" in n.callee.name
    ]


@pytest.mark.parametrize("body", BY_COVARIANCE.values(), ids=BY_COVARIANCE)
def test_a_factor_used_once(body: str) -> None:
    model = ppl.compile_model(f"{HEADER} model {{ {K} {body} }}")
    assert densities(model) == ["multi_normal_lpdf"]
    assert_same_as_written(model)


@pytest.mark.parametrize("body", AS_IT_IS.values(), ids=AS_IT_IS)
def test_any_other_factor(body: str) -> None:
    model = ppl.compile_model(f"{HEADER} model {{ {K} {body} }}")
    assert densities(model) == ["multi_normal_cholesky_lpdf"]
    assert_same_as_written(model)


def assert_same_as_written(model: ppl.Model) -> None:
    """The gradient of the program as it is run, against differences of the program as it is written."""
    posterior = model.condition(DATA)
    u = RNG.normal(0.0, 0.3, posterior.param_unc_num())
    value, gradient = posterior.log_density_gradient(u)
    close(value, posterior.log_density(u))
    step = 1e-5 * np.eye(len(u))
    differences = [posterior.log_density(u + h) - posterior.log_density(u - h) for h in step]
    np.testing.assert_allclose(gradient, np.array(differences) / 2e-5, rtol=1e-5, atol=1e-5)


def test_a_covariance_that_is_none_is_explained_where_it_is_factored() -> None:
    body = f"{K} K[1, 1] = -1; {L} y ~ multi_normal_cholesky({ZERO}, L);"
    posterior = ppl.compile_model(f"{HEADER} model {{ {body} }}").condition(DATA)
    u = np.zeros(posterior.param_unc_num())
    assert not np.isfinite(posterior.log_density_gradient(u)[0])
    assert "cholesky_decompose" in posterior.explain(u)
