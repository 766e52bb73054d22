"""Loops whose body changes their upper bound: it is evaluated before each iteration, as in Stan's C++."""

import numpy as np
import pytest

import ppl

LENGTHENED = """
parameters { vector[2] p; real q; }
model {
  int b = 1;
  for (i in 1:b) { b = i % 3 + 1; target += p; }  // the real Stan counts three iterations
  target += b * q;
}
"""
SHORTENED = """
parameters { vector[4] a; }
model {
  int n = 4;
  for (i in 1:n) { if (a[i] > 0) n -= 1; target += i * a[i]; }
  for (k in 1:2) {
    int m = k;
    for (j in 1:m) { if (m < 3) m += 1; target += j * k * a[k]; }
  }
}
"""
WITH_CONTINUE = """
parameters { vector[3] a; }
model {
  int n = 1;
  for (i in 1:n) { if (n < 3) n += 1; if (i == 2) continue; target += a[i]; }
}
"""
WITH_EFFECTS = """
functions { int last_lp(real x) { target += x; return 2; } }
parameters { vector[2] a; }
model { for (i in 1:last_lp(a[1])) target += a[2]; }
"""
A = np.array([0.5, -0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("program", "u", "value", "gradient"),
    [
        (LENGTHENED, np.ones(3), 7.0, [3, 3, 1]),
        (SHORTENED, A, 1.0 + 3.0 - 2.4, [1 + 6, 2 + 12, 3, 0]),
        (SHORTENED, -A, -(0.5 - 0.4 + 0.9 + 3.0 - 2.4), [1 + 6, 2 + 12, 3, 0]),
        (WITH_CONTINUE, np.ones(3), 2.0, [1, 0, 1]),
        (WITH_EFFECTS, np.array([1.0, 10.0]), 23.0, [3, 2]),
    ],
)
def test_the_iterations_are_those_of_stan(program, u, value, gradient):
    posterior = ppl.compile_model(program).condition({})
    found, slopes = posterior.log_density_gradient(u)
    assert found == pytest.approx(value)
    np.testing.assert_allclose(slopes, gradient)
    np.testing.assert_allclose(posterior.log_densities(np.array([u, u])), value)
