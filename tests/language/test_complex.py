"""Complex numbers through a whole program: data, density, both backends, columns and initial values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ppl

PROGRAM = """
functions { complex turned(complex a, real b) { return a * (b + 1i); } }
data { int N; complex z0; complex_vector[N] v; complex_matrix[2, N] m; array[2] complex a; }
parameters { complex z; complex_matrix[2, 2] pm; array[2] complex pa; tuple(complex, real) t; }
transformed parameters {
  complex_vector[N] w; complex s = 0;
  for (i in 1:N) { w[i] = v[i] * z; s += w[i]; }
}
model {
  target += get_real(turned(z, t.2)) - norm(z) - sum(abs(w)) + get_imag(sum(fft(w)) * conj(pa[1])) - t.2^2;
  target += -norm(pa[1]) - norm(pa[2]) - norm(t.1) - sum(get_real(pm) .^ 2) - sum(get_imag(pm) .^ 2);
  target += get_real(sum(eigenvalues(pm)) * a[2]) + get_real(trace(pm * m) * s) * 0.1;
}
generated quantities { complex g = z * 2i; array[2] complex_row_vector[2] r = {[g, 1], [2, z]}; complex u; }
""".replace("trace(pm * m)", "trace(pm * m[:, 1:2])")
DATA = {
    "N": 3,
    "z0": [1, 2],
    "v": [[1, 2], [0.5, -1], [2, 0.25]],
    "m": [[[1, 0], [2, 1], [0, 1]], [[1, 1], [2, 2], [3, 3]]],
    "a": [[1, 2], [3, 4]],
}


@pytest.fixture(scope="module")
def posterior() -> ppl.Posterior:
    return ppl.compile_model(PROGRAM).condition(DATA)


def points(posterior: ppl.Posterior, n: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (n, posterior.param_unc_num()))


def test_the_gradient_is_the_difference(posterior: ppl.Posterior) -> None:
    (u,) = points(posterior, 1)
    value, gradient = posterior.log_density_gradient(u)
    steps = 1e-6 * np.eye(len(u))
    slopes = [(posterior.log_density(u + e) - posterior.log_density(u - e)) / 2e-6 for e in steps]
    assert_allclose(value, posterior.log_density(u))
    assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)


def test_many_points_are_as_one(posterior: ppl.Posterior) -> None:
    us = points(posterior, 50)
    one_by_one = [posterior.log_density_gradient(u) for u in us]
    values, gradients = posterior.log_density_gradients(us)
    assert_allclose(values, [value for value, _ in one_by_one], rtol=1e-12)
    assert_allclose(gradients, [gradient for _, gradient in one_by_one], rtol=1e-10, atol=1e-12)


def test_jax_gives_the_same(posterior: ppl.Posterior) -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.target import compiled_target

    (u,) = points(posterior, 1)
    value, gradient = compiled_target(posterior).log_density_gradient(u)
    expected, slopes = posterior.log_density_gradient(u)
    assert_allclose(value, expected, rtol=1e-12)
    assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-12)


def test_columns_are_those_of_stan(posterior: ppl.Posterior) -> None:
    names = posterior.param_names(include_tp=True, include_gq=True)
    assert names[:6] == ["z.real", "z.imag", "pm.1.1.real", "pm.1.1.imag", "pm.2.1.real", "pm.2.1.imag"]
    assert names[names.index("t:1.real") :][:3] == ["t:1.real", "t:1.imag", "t:2"]
    assert names[-10:-6] == ["r.1.1.real", "r.1.1.imag", "r.2.1.real", "r.2.1.imag"]
    assert posterior.param_unc_names()[:2] == ["z.real", "z.imag"]
    (u,) = points(posterior, 1)
    values = dict(zip(names, posterior.param_constrain(u, True, True), strict=True))
    assert (values["z.real"], values["z.imag"]) == (u[0], u[1])
    assert_allclose(values["g.real"], -2 * u[1])
    assert np.isnan(values["u.real"])


def test_values_go_back_to_where_they_came_from(posterior: ppl.Posterior) -> None:
    (u,) = points(posterior, 1)
    given = {"z": [u[0], u[1]], "pm": (u[2:10:2] + 1j * u[3:10:2]).reshape(2, 2, order="F")}
    given |= {"pa": [[u[10], u[11]], [u[12], u[13]]], "t": {"1": [u[14], u[15]], "2": u[16]}}
    assert_allclose(posterior.param_unconstrain(given), u)


def test_numpy_s_complex_numbers_are_data_too(posterior: ppl.Posterior) -> None:
    data = {
        name: np.array(value)[..., 0] + 1j * np.array(value)[..., 1]
        for name, value in DATA.items()
        if name != "N"
    }
    again = ppl.compile_model(PROGRAM).condition({"N": 3, **data, "z0": 1 + 2j})
    (u,) = points(posterior, 1)
    assert again.log_density(u) == posterior.log_density(u)


def test_a_real_is_no_complex_datum() -> None:
    with pytest.raises(ppl.DataError, match="real, imaginary"):
        ppl.compile_model(PROGRAM).condition({**DATA, "z0": 1.5})


EQUATIONS = {
    "ode_rk45": """
functions {
  vector f(real t, vector y, complex_vector z) { return [get_real(z[1]) * y[1] + get_imag(z[1])^2]'; }
}
parameters { real<lower=0> a; }
model {
  complex_vector[1] z = [to_complex(0.3 * a, 2 * a)]';
  array[1] vector[1] y = ode_rk45(f, [1.0]', 0.0, {1.0}, z);
  a ~ normal(y[1][1], 1);
}
""",
    "solve_newton": """
functions { vector f(vector y, complex z) { return [y[1]^3 - get_imag(z)^2]'; } }
parameters { real<lower=0> a; }
model { a ~ normal(solve_newton(f, [1.0]', to_complex(0.3, 2 * a))[1], 1); }
""",
}


@pytest.mark.parametrize("solver", EQUATIONS)
def test_solvers_have_derivatives_in_complex_arguments(solver: str) -> None:
    """Which are not linear there: the imaginary part counts where a derivative is taken."""
    posterior, u, h = ppl.compile_model(EQUATIONS[solver]).condition({}), np.array([0.1]), 1e-5
    difference = (posterior.log_density(u + h) - posterior.log_density(u - h)) / (2 * h)
    assert posterior.log_density_gradient(u)[1] == pytest.approx([difference], rel=1e-6)
    assert posterior.log_density_gradients(u[None])[1][0] == pytest.approx([difference], rel=1e-6)


def test_an_equation_under_jax_too() -> None:
    pytest.importorskip("jax")
    from ppl.jax_backend.jit import make_ready
    from ppl.jax_backend.target import compiled_target

    make_ready()
    posterior, u = ppl.compile_model(EQUATIONS["ode_rk45"]).condition({}), np.array([0.1])
    value, gradient = posterior.log_density_gradient(u)
    found = compiled_target(posterior).log_density_gradient(u)
    assert found[0] == pytest.approx(value, rel=1e-9) and found[1] == pytest.approx(gradient, rel=1e-7)
