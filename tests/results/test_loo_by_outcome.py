"""PSIS-LOO of several outcomes: each by itself against exact values, and added up by row on request."""

import csv
import json
import pickle

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import ppl
from ppl.cli.main import main
from ppl.methods.diagnose.level import Level
from ppl.results.fits.by_row import RowsOfOutcome, chosen_outcomes
from ppl.results.report.compare import compare
from ppl.results.report.log_lik import LogLik
from ppl.results.report.loo import loo_by_outcome, loo_of

PROGRAM = """
data { int N; int M; vector[N] x; vector[N] y; vector[M] w; real z; }
parameters { real a; }
model { a ~ normal(0, 1); x ~ normal(a, 1); y ~ normal(2 * a, 1); w ~ normal(-a, 2); z ~ normal(a, 1); }
"""
DATA = {
    "N": 4,
    "M": 3,
    "x": [0.3, -0.8, 1.1, 2.5],
    "y": [0.6, 1.9, -0.2, 3.0],
    "w": [0.4, -1.3, 2.0],
    "z": 0.7,
}
ROWS = {"x": (4, 1, 1), "y": (4, 2, 1), "w": (3, -1, 2), "z": (1, 1, 1)}
"""Rows of each outcome, the factor of `a` in its mean, its sd."""


def exact(*left_out):
    """The ELPD of rows {outcome: index} left out together: all data are jointly Gaussian."""
    names = [(name, k) for name, (n, _, _) in ROWS.items() for k in range(n)]
    slopes = np.array([ROWS[name][1] for name, _ in names], float)
    data = np.array([np.atleast_1d(DATA[name])[k] for name, k in names])
    covariance = np.outer(slopes, slopes) + np.diag([ROWS[name][2] ** 2 for name, _ in names])
    out = np.array([row in left_out for row in names])
    within, across = covariance[np.ix_(~out, ~out)], covariance[np.ix_(out, ~out)]
    gain = np.linalg.solve(within, across.T).T
    spread = covariance[np.ix_(out, out)] - gain @ across.T
    return multivariate_normal.logpdf(data[out], gain @ data[~out], spread)


def of_each(name):
    return [exact((name, k)) for k in range(ROWS[name][0])]


@pytest.fixture(scope="module")
def fit():
    return ppl.compile_model(PROGRAM).condition(DATA).variational(seed=2, draws=4000)


def test_each_outcome_has_its_own_elpd(fit):
    found = fit.loo()
    assert list(found) == ["x", "y", "w", "z"] and found["w"].names == ("w[1]", "w[2]", "w[3]")
    for name, loo in found.items():
        assert loo.elpds == pytest.approx(of_each(name), abs=0.04)
        assert fit.loo(name).elpds == pytest.approx(loo.elpds)
    lines = str(found).splitlines()
    assert lines[0].split() == ["elpd_loo", "SE", "p_loo", "SE", "rows", "bad", "k-hat"]
    assert [line.split()[0] for line in lines[1:5]] == [*found] and "are not added up" in found.reading
    assert "y: ELPD" in repr(found) and "<td>" in found._repr_html_()
    assert list(pickle.loads(pickle.dumps(found))) == [*found]


def test_rows_that_belong_together_are_left_out_together(fit):
    found = fit.loo(["x", "y"])
    assert found.outcome == "x + y" and found.names == ("row[1]", "row[2]", "row[3]", "row[4]")
    assert found.elpds == pytest.approx([exact(("x", k), ("y", k)) for k in range(4)], abs=0.06)
    assert found.elpds != pytest.approx(np.add(of_each("x"), of_each("y")), abs=0.04)
    assert found.observed.tolist() == [*map(list, zip(DATA["x"], DATA["y"], strict=True))]
    with pytest.raises(ppl.DataError, match="`x` has 4 rows, `w` has 3 rows"):
        fit.loo(["x", "w"])
    with pytest.raises(ppl.UnknownName, match="no outcome 'v'; there are x, y, w, z"):
        fit.loo("v")
    with pytest.raises(AttributeError, match=r"no elpd of several outcomes \(x, y, w, z\)"):
        assert fit.loo().elpd


def test_a_row_of_which_one_outcome_is_missing_has_the_other():
    program = "data { vector[4] x; vector[4] y; } parameters { real a; } model { a ~ normal(0, 1); "
    posterior = ppl.compile_model(program + "x ~ normal(a, 1); y ~ normal(x + a, 1); }")
    data = {"x": [0.3, None, 1.1, 2.5], "y": DATA["y"]}
    fit = posterior.condition(data, missing="model").variational(seed=1)
    assert fit.loo("x").names == ("x[1]", "x[3]", "x[4]")
    assert np.isnan(fit.loo(["x", "y"]).observed[1, 0]) and len(fit.loo(["x", "y"]).names) == 4
    values = fit.log_lik()
    joint = fit._pointwise(["x", "y"], "log_lik")[0].values
    assert joint[:, 1] == pytest.approx(values["y"][:, 1])
    assert joint[:, 3] == pytest.approx(values["x"][:, 2] + values["y"][:, 3])


def test_outcomes_of_one_term_are_named_together():
    both, z = (
        RowsOfOutcome(name, (2,), ((1,), (2,)), np.full((3, 2), value), np.zeros((2, 1)))
        for name, value in (("x + y", 1.0), ("z", 10.0))
    )
    found = {"x + y": both, "z": z}
    assert chosen_outcomes(found, ["y", "x"]) == chosen_outcomes(found, "x + y") == [both]
    (all_of_them,) = chosen_outcomes(found, ["z", "y", "x"])
    assert all_of_them.outcome == "z + x + y" and (all_of_them.values == 11).all()
    with pytest.raises(ppl.DataError, match=r"density of both `x` and `y`.*name both, x,y"):
        chosen_outcomes(found, "x")


def test_an_outcome_without_rows_to_leave_out_is_named():
    program = "data { int K; vector[3] x; vector[2] y; vector[K] v; } parameters { real a; } model { "
    program += (
        "a ~ normal(0, 1); x ~ normal(a, 1); v ~ normal(a, 1); y ~ multi_normal([a, a]', [[2, 1], [1, 2]]); }"
    )
    data = {"K": 0, "x": [1, 2, 3], "y": [1, 2], "v": []}
    fit = ppl.compile_model(program).condition(data).variational(seed=1)
    found = fit.loo()
    assert found.outcome == "x" and "`v` has no rows." in found.reading
    assert "`y` has no rows to leave out: line 1" in found.reading
    for name in ("y", "v"):
        with pytest.raises(ppl.DataError, match=f"`{name}` has no rows"):
            fit.loo(name)


@pytest.mark.rotate
def test_an_outcome_with_a_term_that_cannot_be_read_is_omitted():
    """`x - a` and `x` have the same density, so that the other outcomes have the same rows."""
    text = PROGRAM.replace("x ~ normal(a, 1)", "x - a ~ normal(0, 1)")
    fit = ppl.compile_model(text).condition(DATA).variational(seed=2, draws=4000)
    found = fit.loo()
    assert list(found) == ["y", "w", "z"]
    assert (
        "There are no rows of `x`: line 4: The log likelihood by row cannot be read: `x - a`" in found.reading
    )
    for name, loo in found.items():
        assert loo.elpds == pytest.approx(of_each(name), abs=0.04)
        assert fit.loo(name).elpds == pytest.approx(loo.elpds)
    for ask in (lambda: fit.loo("x"), lambda: fit.loo(["x", "y"]), fit.log_lik):
        with pytest.raises(ppl.ModelError, match="`x - a` is computed of data and of parameters"):
            ask()


@pytest.fixture
def run(fit, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.model").write_text(PROGRAM)
    (tmp_path / "d.json").write_text(json.dumps(DATA))
    fit.save_csv("a.csv")
    fit.more(1000).save_csv("b.csv")

    def ran(*words):
        with pytest.raises(SystemExit) as end:
            main([*words, "--model", "m.model", "--data", "d.json"])
        return end.value.code or 0, capsys.readouterr()

    return ran


@pytest.mark.rotate
def test_the_command_has_a_row_for_each_outcome(run, fit, tmp_path):
    status, output = run("loo", "a.csv")
    assert not status and [line.split()[0] for line in output.out.splitlines()[4:8]] == ["x", "y", "w", "z"]
    assert max(map(len, output.out.splitlines())) <= 80
    found = json.loads(run("loo", "a.csv", "--format", "json", "--csv", "rows.csv")[1].out)
    rows = [*csv.DictReader((tmp_path / "rows.csv").open())]
    assert [row["outcome"] for row in rows] == [*"xxxxyyyywwwz"] and rows[4]["row"] == "y[1]"
    assert "elpd" not in found and [each["outcome"] for each in found["outcomes"]] == ["x", "y", "w", "z"]
    assert found["outcomes"][1]["elpd"] == pytest.approx(fit.loo("y").elpd, abs=1e-5)
    one = json.loads(run("loo", "a.csv", "--outcome", "x,y", "--format", "json")[1].out)
    assert (one["outcome"], len(one["rows"])) == ("x + y", 4)
    status, output = run("loo", "a.csv", "--outcome", "x,z")
    assert status == 1 and "`x` has 4 rows, `z` has 1 row." in " ".join(output.err.split())


@pytest.mark.rotate
def test_models_are_compared_by_each_outcome(run):
    status, output = run("compare", "a.csv", "b.csv")
    assert not status and [line for line in output.out.splitlines() if line.endswith(":")] == [
        "x:",
        "y:",
        "w:",
        "z:",
    ]
    found = json.loads(run("compare", "a.csv", "b.csv", "--format", "json")[1].out)
    assert [each["outcome"] for each in found["outcomes"]] == ["x", "y", "w", "z"]
    assert {m["name"] for m in found["outcomes"][1]["models"]} == {"a", "b"}


def likelihood(outcome, rows, data=None, first=1):
    """A `Loo` of that outcome, with the data of each row."""
    rng, names = np.random.default_rng(1), tuple(f"{outcome or 'log_lik'}[{k + first}]" for k in range(rows))
    observed = None if data is None else np.asarray(data, float)[:, None]
    return LogLik(names, rng.normal(-1, 0.1, (100, rows)), np.zeros(100), outcome=outcome, observed=observed)


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (
            [("x", 3), ("y", 3)],
            [("y", 3)],
            "a has x, y; b has y. Choose an outcome that both have, y: outcome",
        ),
        ([("y", 3)], [("log_y", 3)], "a has y; b has log_y. Write the models for the same variable"),
        ([("x", 3), ("y", 3)], [("", 3)], r"a has x, y; b has \(a log_lik that names none\)"),
        ([("y", 3)], [("y", 4)], "a has 3 rows of log likelihood, b has 4"),
        ([("y", 3)], [("y", 3, None, 2)], r"a leaves out y\[1\] where b leaves out y\[2\]"),
        ([("y", 3, [1, 2, 3])], [("y", 3, [1, 2.5, 3])], r"the data of a and b differ: y\[2\] is 2 and 2.5"),
    ],
)
def test_other_outcomes_rows_and_data_are_refused(a, b, says):
    both = {
        name: loo_by_outcome([loo_of(likelihood(*each)) for each in found], Level.GOOD)
        for name, found in (("a", a), ("b", b))
    }
    with pytest.raises(ppl.DataError, match=says):
        compare(both)


def test_a_log_lik_that_names_no_outcome_is_that_of_the_only_one():
    alone, y = loo_of(likelihood("", 3)), loo_of(likelihood("y", 3, [1, 2, 3]))
    assert compare({"a": alone, "b": y})[1].elpd_diff == pytest.approx(0)
    x = loo_by_outcome([loo_of(likelihood("x", 3)), loo_of(likelihood("y", 3))], y.level)
    assert compare({"a": x, "b": y}, outcome="y")[1].elpd_diff == pytest.approx(0)
    found = compare({"a": x, "b": x})
    assert list(found) == ["x", "y"] and str(found).startswith("x:\n") and "best a" in repr(found)
    with pytest.raises(AttributeError, match="no models of several outcomes"):
        assert found.models


def test_the_standard_error_counts_no_row_without_a_density():
    text = """data { int N; vector[N] y; } parameters { real a; }
      model { a ~ normal(0, 1); for (n in 3:N) y[n] ~ normal(a * y[n - 2], 1); }"""
    posterior = ppl.compile_model(text).condition({"N": 7, "y": [5.0, 5.1, 1.9, 3.2, 0.4, 2.0, -0.6]})
    found = posterior.variational(algorithm="laplace", seed=1, draws=200).loo("y")
    assert found.names == tuple(f"y[{n}]" for n in range(3, 8))
    assert found.se == pytest.approx(np.sqrt(5 * np.var(found.elpds, ddof=1)))
