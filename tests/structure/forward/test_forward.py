"""Programs read forward: what is drawn has the law that the program says; what has none is refused."""

import numpy as np
import pytest

import ppl
from ppl.errors import DataError, InferenceError, ModelError
from ppl.results.calibration.simulations import program_text, simulations_of

N = 1500


def model(parameters, statements, data="", transformed="", functions=""):
    return ppl.compile_model(
        f"functions {{ {functions} }} data {{ int N; vector[N] y; {data} }} parameters {{ {parameters} }} "
        f"transformed parameters {{ {transformed} }} model {{ {statements} }}"
    )


def drawn(found, name, data=None, n=N):
    """Draws of one parameter or data variable, (n, *shape)."""
    simulations = simulations_of(found, {"N": 2} if data is None else data)
    return np.array([simulations.draw(k, 1)[name] for k in range(n)])


Y = "y ~ normal(0, 1);"


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("parameters", "statements", "name", "mean", "sd"),
    [
        ("real m;", "m ~ normal(3, 2);", "m", 3, 2),
        ("real<lower=0> m;", "m ~ normal(0, 1);", "m", 0.798, 0.603),
        ("real<lower=1> m;", "m ~ exponential(1);", "m", 2, 1),
        ("real<lower=0, upper=1> m;", "m ~ beta(2, 2);", "m", 0.5, 0.2236),
        ("real<lower=-1, upper=3> m;", "", "m", 1, 1.155),
        ("real<lower=0, upper=2> m;", "m ~ uniform(0, 2);", "m", 1, 0.577),
        ("real m;", "m ~ normal(0, 1) T[0, ];", "m", 0.798, 0.603),
        ("real a; real<lower=a> m;", "a ~ normal(5, 1); m ~ normal(a, 1) T[a, ];", "m", 5.798, 1.168),
        ("vector[2] m;", "m ~ normal([1, 3]', 1);", "m", [1, 3], [1, 1]),
        ("vector[2] m;", "m[1] ~ normal(1, 1); m[2] ~ normal(m[1], 1);", "m", [1, 1], [1, 1.414]),
        ("array[2, 3] real m;", "for (i in 1:2) for (j in 1:3) m[i, j] ~ normal(i, j);", "m", None, None),
        ("matrix[2, 2] m;", "to_vector(m) ~ normal(2, 1);", "m", 2, 1),
        ("ordered[2] m;", "m ~ normal(0, 1);", "m", [-0.564, 0.564], [0.826, 0.826]),
        ("positive_ordered[2] m;", "m ~ exponential(1);", "m", [0.5, 1.5], [0.5, 1.118]),
        ("simplex[2] m;", "m ~ dirichlet([1, 3]');", "m", [0.25, 0.75], [0.194, 0.194]),
        ("simplex[2] m;", "", "m", [0.5, 0.5], [0.289, 0.289]),
        ("vector[2] m;", "m ~ multi_normal([1, 2]', [[4, 0], [0, 1]]);", "m", [1, 2], [2, 1]),
        ("vector[2] m;", "m ~ multi_normal_prec([1, 2]', [[0.25, 0], [0, 1]]);", "m", [1, 2], [2, 1]),
        ("array[2] vector[2] m;", "m ~ multi_normal([1, 2]', [[4, 0], [0, 1]]);", "m", None, None),
        ("cholesky_factor_corr[2] m;", "m ~ lkj_corr_cholesky(1);", "m", None, None),
        ("real m; real s;", "s ~ normal(m, 1); m ~ normal(2, 1);", "s", 2, 1.414),
        ("real m;", "target += normal_lpdf(m | 3, 2);", "m", 3, 2),
        ("real<offset=5, multiplier=2> m;", "m ~ normal(3, 2);", "m", 3, 2),
        ("real m;", "{ real c = 3; m ~ normal(c, 2); }", "m", 3, 2),
        ("real m;", "real c; c = 3; m ~ normal(c, 2);", "m", 3, 2),
        ("real m;", "if (N > 1) m ~ normal(3, 2); else m ~ normal(0, 1);", "m", 3, 2),
    ],
)
def test_a_parameter_is_drawn_from_its_prior(parameters, statements, name, mean, sd):
    found = drawn(model(parameters, statements + Y), name)
    assert np.isfinite(found).all()
    if mean is not None:
        shape = found.shape[1:]
        assert found.mean(axis=0) == pytest.approx(np.broadcast_to(mean, shape), abs=5 * np.max(sd) / N**0.5)
        assert found.std(axis=0) == pytest.approx(np.broadcast_to(sd, shape), rel=0.12)


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("parameters", "statements", "inside"),
    [
        ("real a; real<lower=0> m;", "a ~ normal(0, 1); m ~ normal(a, 1);", lambda a, m: m > 0),
        ("real a; real<lower=a> m;", "a ~ normal(0, 1); m ~ normal(0, 1);", lambda a, m: m > a),
    ],
)
def test_a_bound_that_cuts_off_a_share_that_parameters_decide_cuts_off_the_joint_density(
    parameters, statements, inside
):
    """Without T[,] the prior is not normalised: `a` is no longer normal with mean 0."""
    own = drawn(model(parameters, statements + Y), "a")
    a, noise = np.random.default_rng(5).normal(size=(2, 200_000))
    m = a + noise if "normal(a, 1)" in statements else noise
    accepted = a[inside(a, m)]
    assert abs(accepted.mean()) > 0.3
    assert own.mean() == pytest.approx(accepted.mean(), abs=4 * accepted.std() / N**0.5)
    assert own.std() == pytest.approx(accepted.std(), rel=0.1)


def test_data_follow_the_parameters_whatever_the_order_of_the_statements():
    found = model(
        "real m; real<lower=0> s;",
        "y ~ normal(eta, s); s ~ exponential(1); m ~ normal(5, 1);",
        transformed="vector[N] eta = rep_vector(m, N);",
    )
    simulations = simulations_of(found, {"N": 50})
    assert (simulations.parameters, simulations.simulated) == (("m", "s"), ("y",))
    values = [simulations.draw(k, 1) for k in range(300)]
    centred = [(v["y"].mean() - v["m"]) / (v["s"] / 50**0.5) for v in values]
    assert np.mean(centred) == pytest.approx(0, abs=0.25) and np.std(centred) == pytest.approx(1, rel=0.15)
    posterior = simulations.condition(values[0])
    assert (posterior.data["y"] == values[0]["y"]).all()


@pytest.mark.parametrize(
    ("statement", "same"),
    [
        ("z ~ bernoulli_logit_glm(x, a, b);", "z ~ bernoulli_logit(a + x * b);"),
        ("z[k] ~ poisson(exp(a));", "z[2] ~ poisson(exp(a)); z[1] ~ poisson(exp(a));"),
    ],
)
def test_rows_of_a_regression_and_several_entries_are_drawn_one_by_one(statement, same):
    data = {"N": 2, "x": [[1, 2], [3, 4]], "k": [2, 1]}
    texts = (f"a ~ normal(0, 1); b ~ normal(0, 1); {s} {Y}" for s in (statement, same))
    found = [model("real a; vector[2] b;", s, "matrix[N, 2] x; array[2] int k, z;") for s in texts]
    one, other = (drawn(program, "z", data, 20) for program in found)
    assert (one == other).all() and one.any()


def test_a_simulation_is_known_by_its_number_and_the_seed():
    simulations = simulations_of(model("real m;", "m ~ normal(0, 1);" + Y), {"N": 2})
    assert simulations.draw(3, 1)["m"] == simulations.draw(3, 1)["m"] != simulations.draw(4, 1)["m"]
    assert simulations.draw(3, 2)["m"] != simulations.draw(3, 1)["m"]


@pytest.mark.rotate
def test_discrete_data_and_parameters_are_integers():
    found = ppl.compile_model(
        "data { int N; array[N] int k; } parameters { real<lower=0> r; int<lower=1, upper=3> z; } "
        "model { r ~ gamma(2, 1); z ~ categorical([0.2, 0.3, 0.5]'); "
        "for (n in 1:N) k[n] ~ poisson(r * z); }"
    )
    assert drawn(found, "z").mean() == pytest.approx(2.3, abs=0.1)
    assert drawn(found, "k").dtype == np.int64 and drawn(found, "k").mean() == pytest.approx(4.6, rel=0.1)


def test_a_hidden_markov_chain_is_drawn_step_by_step():
    found = ppl.compile_model(
        "data { int T; vector[T] y; } parameters { simplex[2] start; array[2] simplex[2] move; "
        "array[T] int<lower=1, upper=2> z; } model { z[1] ~ categorical(start); "
        "for (t in 2:T) z[t] ~ categorical(move[z[t - 1]]); for (t in 1:T) y[t] ~ normal(10 * z[t], 1); }"
    )
    simulations = simulations_of(found, {"T": 20})
    for k in range(20):
        values = simulations.draw(k, 1)
        assert np.abs(values["y"] - 10 * values["z"]).max() < 6


@pytest.mark.parametrize(
    ("parameters", "statements", "says"),
    [
        ("real m;", "", "`m` has no `~` statement, and so no proper prior"),
        ("real<lower=0> m;", "", "`m` has no `~` statement, and so no proper prior"),
        ("real a; real<lower=0, upper=exp(a)> m;", "a ~ normal(0, 1);", "bounds that depend on parameters"),
        ("real m;", "target += -m^2;", "`target +=` does not give a distribution"),
        ("real<lower=0> m;", "log(m) ~ normal(0, 1);", "`log(m)` on the left of ~ is not a variable"),
        ("vector[2] m;", "if (N > 1) m ~ normal(0, 1); else m ~ normal(1, 1);", "`m` has two ~ statements"),
        ("real m;", "m ~ normal(0, 1); m ~ normal(1, 1);", "`m` has two ~ statements"),
        ("vector[2] m;", "m ~ normal(0, 1); m[1] ~ normal(1, 1);", "`m` has two ~ statements"),
        ("real a; real b;", "a ~ normal(b, 1); b ~ normal(a, 1);", "it depends on `b`, which depends on it"),
        ("unit_vector[2] m;", "m ~ normal(0, 1);", "`m` is a unit_vector, which normal does not draw"),
        ("ordered[2] m;", "m ~ normal([0, 1]', 1);", "only entries with the same prior"),
        ("real m;", "m ~ normal(mean(y), 1);", "it depends on `y`, which depends on it"),
        ("cov_matrix[2] m;", "m ~ lkj_cov([0, 0]', [1, 1]', 1);", "no lkj_cov_rng"),
    ],
)
def test_what_no_draw_follows_is_refused_with_its_place(parameters, statements, says):
    outcome = "y ~ normal(m[1], 1);" if "[2]" in parameters else "y ~ normal(m, 1);"
    found = model(parameters, statements + (Y if "real b" in parameters else outcome))
    with pytest.raises(ModelError) as caught:
        program_text(found)
    assert caught.value.code == "PPL979" and says in caught.value.message
    assert caught.value.line == 1 and "--simulator" in str(caught.value)


def test_binomial_logit_is_drawn_by_its_probability():
    text = "data { int N; vector[N] x; array[N] int y; } parameters { real a; } "
    found = ppl.compile_model(text + "model { a ~ normal(0, 0.1); y ~ binomial_logit(20, a + x); }")
    y = drawn(found, "y", {"N": 2, "x": [-1.0, 2.0]})
    assert y.mean(axis=0) == pytest.approx(20 / (1 + np.exp([1.0, -2.0])), abs=0.2)


def test_a_transformed_parameter_on_the_left_is_refused():
    found = model("real m;", "t ~ normal(0, 1);" + Y, transformed="real t = 2 * m;")
    with pytest.raises(ModelError, match="`t` on the left of ~ is neither a parameter nor data"):
        program_text(found)


def test_transformed_data_of_what_is_simulated_are_refused():
    program = "data { int N; vector[N] y; } transformed data { real c = mean(y); } parameters { real m; } "
    with pytest.raises(ModelError, match="transformed data depend on `y`"):
        program_text(ppl.compile_model(program + "model { m ~ normal(c, 1); y ~ normal(m, 1); }"))


def test_an_entry_that_is_drawn_twice_or_never_is_refused_when_it_comes():
    twice = model("vector[2] m;", "for (i in 1:2) m[1] ~ normal(i, 1);" + Y)
    with pytest.raises(InferenceError, match="has two ~ statements"):
        simulations_of(twice, {"N": 2}).draw(1, 1)
    rows = model(
        "array[2] vector[2] m;", "for (i in 1:2) m[1] ~ multi_normal([0, 0]', [[1, 0], [0, 1]]);" + Y
    )
    with pytest.raises(InferenceError, match="has two ~ statements"):
        simulations_of(rows, {"N": 2}).draw(1, 1)
    never = model("vector[2] m;", "m[1] ~ normal(0, 1);" + Y)
    with pytest.raises(InferenceError, match="leaves entries of `m` without a value"):
        simulations_of(never, {"N": 2}).draw(1, 1)


def test_a_simulator_of_ones_own_takes_the_place():
    improper = model("real m;", "y ~ normal(m, 1);")
    own = "data { int N; } generated quantities { real m = normal_rng(0, 1); "
    simulator = ppl.compile_model(own + "vector[N] y; for (n in 1:N) y[n] = normal_rng(m, 1); }")
    simulations = simulations_of(improper, {"N": 3}, simulator)
    assert simulations.simulated == ("y",) and simulations.draw(1, 1)["y"].shape == (3,)
    with pytest.raises(DataError, match="does not draw the parameter `m`"):
        simulations_of(improper, {"N": 3}, ppl.compile_model("generated quantities { real x = 1; }"))
    with pytest.raises(DataError, match="draws no data"):
        simulations_of(improper, {"N": 3}, ppl.compile_model("generated quantities { real m = 1; }"))


def test_a_users_own_distribution_is_drawn_by_its_own_rng():
    functions = "real cut_lpdf(real x, real m) { return normal_lpdf(x | m, 1); } "
    own = "real cut_rng(real m) { return normal_rng(m, 1); }"
    found = model("real m;", "m ~ cut(4);" + Y, functions=functions + own)
    assert drawn(found, "m").mean() == pytest.approx(4, abs=0.13)
    with pytest.raises(ModelError, match="there is no cut_rng"):
        program_text(model("real m;", "m ~ cut(4);" + Y, functions=functions))
    whole = functions.replace("real x", "vector x")
    with pytest.raises(ModelError, match="cut_rng draws a real, and `m` is a vector"):
        program_text(model("vector[2] m;", "m ~ cut(4);" + Y, functions=whole + own))


def test_a_distribution_that_depends_on_the_value_itself_is_refused():
    hurdle = "for (n in 1:N) if (y[n] > 0) y[n] ~ normal(m, 2) T[0, ];"
    left = "for (n in 1:N) { if (y[n] <= 0) continue; y[n] ~ normal(m, 2) T[0, ]; }"
    for each in (hurdle, left):
        with pytest.raises(
            ModelError, match=r"whether `y\[n\]` has this distribution depends on its own val"
        ):
            program_text(model("real m;", "m ~ normal(0, 1);" + each))
    earlier = "y[1] ~ normal(m, 1); for (n in 2:N) if (y[n - 1] > 0) y[n] ~ normal(m, 2);"
    assert "y[n - 1] > 0" in program_text(model("real m;", "m ~ normal(0, 1);" + earlier))
