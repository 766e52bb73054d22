"""Every mistake is a PPLError, and the error that Python has for it too."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.data import open_array
from ppl.results.files.read_csv import read_draws
from ppl.stages import show_stage
from ppl.system import distribution

PROGRAM = "data { int N; } parameters { vector[N] mu; } model { mu ~ normal(0, 1); }"
MODEL = ppl.compile_model(PROGRAM)
POSTERIOR = MODEL.condition({"N": 2})


@pytest.fixture(scope="module")
def fit():
    return POSTERIOR.laplace(draws=4, correct=False)


NO_FILE = "there is no file nowhere/x.json"
MISTAKES = {
    "no program": (lambda fit: ppl.compile_model("x.stan"), FileNotFoundError, "there is no file x.stan"),
    "no data": (lambda fit: MODEL.condition("nowhere/x.json"), FileNotFoundError, NO_FILE),
    "no start": (lambda fit: POSTERIOR.laplace(init="nowhere/x.json"), FileNotFoundError, NO_FILE),
    "no fit": (lambda fit: ppl.load_fit("nowhere/x.json", MODEL, {"N": 2}), FileNotFoundError, NO_FILE),
    "no draws": (lambda fit: read_draws("nowhere/x.json"), FileNotFoundError, NO_FILE),
    "no array": (lambda fit: open_array("x.npy"), FileNotFoundError, "there is no file x.npy"),
    "no folder": (lambda fit: fit.save_csv("nowhere/o.csv"), FileNotFoundError, "there is no folder"),
    "no variable": (lambda fit: fit.stan_variable("mu_"), KeyError, "no variable 'mu_'; did you mean mu?"),
    "no column": (lambda fit: fit.summary()["mu.3"], KeyError, "no column 'mu.3'; did you mean mu."),
    "no stage": (lambda fit: show_stage(PROGRAM, "pyton"), KeyError, "no stage 'pyton'; did you mean python"),
    "no form": (
        lambda fit: show_stage(PROGRAM, "ir", "gradint"),
        KeyError,
        "did you mean gradient",
    ),
    "no pass": (lambda fit: ppl.compile_model(PROGRAM, without=["x"]), ValueError, "there is no pass 'x'"),
    "a shape": (lambda fit: POSTERIOR.log_density(np.zeros(3)), ValueError, r"shape \(3,\), but must have"),
    "a range": (lambda fit: POSTERIOR.optimize(draws=-1), ValueError, "draws = -1 is out of range"),
    "a keyword": (lambda fit: POSTERIOR.optimize(drws=1), TypeError, "did you mean draws"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_ours_and_pythons(name, fit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make, kind, says = MISTAKES[name]
    with pytest.raises(kind, match=says) as caught:
        make(fit)
    error = caught.value
    assert isinstance(error, ppl.PPLError)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error) and str(again) == str(error) and vars(again) == vars(error)


def test_an_error_of_a_program_goes_through_pickle_with_its_place():
    with pytest.raises(ppl.ModelError) as caught:
        ppl.compile_model("parameters { real x }")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.line, again.column, str(again)) == (1, 20, str(caught.value))


@pytest.mark.parametrize(
    ("package", "call", "install"),
    [
        ("pandas", lambda fit: fit.draws_pd(), 'pip install "pandas"'),
        ("xarray", lambda fit: fit.draws_xr(), 'pip install "xarray"'),
        ("arviz", lambda fit: fit.to_arviz(), '[arviz]"'),
        ("jax", lambda _: ppl.join("localhost:1", processes=1, process=0), '[jax]"'),
    ],
)
def test_a_missing_extra_says_what_to_install(package, call, install, fit, monkeypatch):
    monkeypatch.setattr(distribution, "_origin", lambda: (Path.cwd().as_uri(), {}))
    for name in {package, package.replace("arviz", "arviz_base")}:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as caught:
        call(fit)
    assert isinstance(caught.value, ppl.PPLError) and install in str(caught.value)


def test_a_list_of_names_is_not_endless():
    error = ppl.UnknownName("no column", "y", [f"x.{k}" for k in range(100)])
    assert str(error).endswith("x.19 and 80 more") and error.near is None


def test_version():
    assert ppl.__version__.count(".") >= 1 and "__version__" in dir(ppl)


def test_reprs_are_one_line(fit):
    assert repr(fit.summary()) == "<Summary of 2 columns: mean, se, sd, 5%, 50%, 95%>"
    assert repr(fit.verdict).startswith("<Verdict good: draws ") and "\n" not in repr(fit.verdict)
