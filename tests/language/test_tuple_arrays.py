"""Arrays of tuples: their order in `u`, and indexing them along several axes."""

import numpy as np
import pytest

import ppl

PROGRAM = """
parameters {
  array[3, 2] tuple(real, vector[2]) s;
}
model {
  array[2] tuple(real, vector[2]) row2 = s[2];
  array[2] tuple(real, vector[2]) column = s[2:3, 1];
  array[2, 2] tuple(real, vector[2]) some = s[{1, 3}];
  array[3, 2] tuple(real, vector[2]) z = s;
  z[1, 2].1 = 3;
  z[2, 1] = (1.0, [2, 3]');
  z[3] = row2;
  z[1:2, 1] = column;
  z[1, 2].2[1] = 7;
  for (a in 1:3) for (b in 1:2) {
    target += 10 * a * z[a, b].1 + b * sum(z[a, b].2);
  }
  target += 1000 * column[1].1 + 3000 * some[2, 2].1;
}
"""


def test_items_are_read_and_set_along_several_axes():
    posterior = ppl.compile_model(PROGRAM).condition()
    x = np.arange(1.0, 7.0).reshape(3, 2), np.arange(0.5, 12.5).reshape(3, 2, 2)
    values = {"s": [[(x[0][i, j], x[1][i, j]) for j in range(2)] for i in range(3)]}
    expected = 1000 * x[0][1, 0] + 3000 * x[0][2, 1]
    z = [[list(entry) for entry in row] for row in values["s"]]
    z[0][1][0], z[2] = 3.0, values["s"][1]
    z[0][0], z[1][0] = values["s"][1][0], values["s"][2][0]
    z[0][1][1] = np.array([7.0, x[1][0, 1, 1]])
    for i in range(3):
        for j in range(2):
            expected += 10 * (i + 1) * z[i][j][0] + (j + 1) * np.sum(z[i][j][1])
    u = posterior.param_unconstrain(values)
    assert posterior.log_density(u) == pytest.approx(expected, rel=1e-12)
    steps = 1e-5 * np.eye(u.size)
    slopes = [(posterior.log_density(u + h) - posterior.log_density(u - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(posterior.log_density_gradient(u)[1], slopes, atol=1e-6)


LAYOUT = """
parameters {
  real z;
  array[2, 2] tuple(real, array[2] tuple(real<lower=0>, array[2] real)) t;
  array[2, 2] real g;
}
"""


def test_an_array_of_tuples_lies_in_u_tuple_by_tuple_as_in_stan():
    """The first index runs fastest, which is the order in which stanc 2.35 reads them."""
    posterior = ppl.compile_model(LAYOUT).condition()
    names = posterior.param_unc_names()
    one = ["{}:1", "{}:2.1:1", "{}:2.1:2.1", "{}:2.1:2.2", "{}:2.2:1", "{}:2.2:2.1", "{}:2.2:2.2"]
    tuples = [name.format(f"t.{i}.{j}") for j in (1, 2) for i in (1, 2) for name in one]
    assert names == ["z", *tuples, "g.1.1", "g.1.2", "g.2.1", "g.2.2"]
    u = np.arange(len(names), dtype=float)
    x = dict(zip(posterior.param_names(), posterior.param_constrain(u), strict=True))
    for name, value in zip(names, u, strict=True):
        positive = name.endswith((":2.1:1", ":2.2:1"))
        assert x[name] == pytest.approx(np.exp(value) if positive else value)
    values = posterior.values(u, None, False, False)
    np.testing.assert_allclose(posterior.param_unconstrain(values), u, rtol=1e-14)


PROMOTED = """
functions {
  real weighted_lpmf(tuple(array[] int, int) y, real rate) { return y.2 * poisson_lpmf(y.1 | rate); }
  real of(array[] tuple(real, vector) x) { return x[1].1 + 2 * x[2].1 + sum(x[2].2); }
}
data {
  array[2] tuple(int, vector[2]) pairs;
  array[2, 1] tuple(tuple(int, array[2] int), int) deep;
}
parameters { real<lower=0> x; }
transformed parameters {
  array[2, 1] tuple(tuple(real, array[2] complex), complex) raised = deep;
}
model {
  array[2] tuple(real, real) mixed = {(1, x), (x, 2)};
  ({1, 3}, 2) ~ weighted(x);
  target += mixed[1].2 * mixed[2].1 + 5 * mixed[1].1 * mixed[2].2 + x * of(pairs);
  for (i in 1:2) target += x * get_real(raised[i, 1].1.2[2]) + raised[i, 1].1.1 + get_real(raised[i, 1].2);
}
"""


def test_tuples_are_promoted_item_by_item_as_in_stan():
    """Also within arrays, and as the outcome of a mass function, which is discrete if all its items are."""
    data = {"pairs": [(3, [0.5, 1]), (4, [2.0, 0.25])], "deep": [[((1, [2, 3]), 4)], [((5, [6, 7]), 8)]]}
    posterior = ppl.compile_model(PROMOTED).condition(data)
    us = np.array([[-0.4], [0.3], [1.1]])
    x = np.exp(us[:, 0])
    expected = us[:, 0] + 2 * (4 * np.log(x) - 2 * x - np.log(6)) + x**2 + 10 + x * 13.25 + 10 * x + 18
    np.testing.assert_allclose([posterior.log_density(u) for u in us], expected, rtol=1e-12)
    values, gradients = posterior.log_density_gradients(us)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_allclose(gradients[:, 0], 1 + 8 - 4 * x + 2 * x**2 + 23.25 * x, rtol=1e-12)


@pytest.mark.parametrize(("i", "message"), [(0, "Index 0, from `i`, is out of range"), (3, "out of range")])
def test_an_index_out_of_range_is_refused(i, message):
    model = ppl.compile_model("""
        data { int i; }
        parameters { array[2, 2] tuple(real, real) t; }
        model { target += t[1, i].1; }
    """)
    with pytest.raises(ppl.InferenceError, match=message):
        model.condition({"i": i}).log_density(np.zeros(8))
