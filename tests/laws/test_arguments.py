"""Arguments of wrong types to public functions: only a PPLError comes of them, with the argument's name."""

import inspect
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

import ppl
from ppl.arguments import form_of

PROGRAM = """
data { int N; vector[N] y; } parameters { real m; vector<lower=0>[2] s; }
model { m ~ normal(0, 1); s ~ exponential(1); y ~ normal(m, s[1]); }
generated quantities { vector[N] log_lik; for (n in 1:N) log_lik[n] = normal_lpdf(y[n] | m, s[1]); }
"""
DATA = {"N": 3, "y": [1.0, 2.0, 0.0]}
ODD = (
    *(
        None,
        "x",
        object(),
        [],
        {},
        float("nan"),
        -1,
        10**30,
        np.zeros((2, 2)),
        np.array("a"),
        True,
        b"x",
        0.5,
    ),
    *([None], 1j, Path("nowhere")),
)
PUBLIC = {
    "ppl": ("compile_model", "load_fit", "compare", "join"),
    "model": ("condition", "prior_predictive"),
    "posterior": (
        *("declared", "param_num", "param_names", "log_joint", "log_density", "log_density_gradient"),
        *("log_densities", "log_density_gradients", "log_density_hessian", "explain", "values"),
        *("param_constrain", "param_constrain_draws", "param_unconstrain", "unconstrained"),
        *("without_prior", "probabilities", "most_probable"),
    ),
    "fit": (
        *("stan_variable", "stan_variables", "draws_pd", "draws_xr", "to_arviz", "loo", "sample", "more"),
        *("save", "save_csv", "save_diagnostics", "save_config", "save_warm_start", "config"),
        *("create_inits", "probabilities", "most_probable"),
    ),
}
"""Methods by what they are of; fits are in `SETTINGS`."""
GOOD = {
    **{"u": np.zeros(3), "us": np.zeros((2, 3)), "path": "out", "program": PROGRAM, "data": DATA, "n": 3},
    **{"values": {"m": 0.0, "s": [1.0, 1.0]}, "name": "m", "include_tp": False, "include_gq": False},
    **{"rng": np.random.default_rng(1), "arguments": {}, "draws": 3},
}
SETTINGS = [name for name in inspect.signature(ppl.Posterior.variational).parameters if name != "self"]


@cache
def things():
    model = ppl.compile_model(PROGRAM)
    posterior = model.condition(DATA)
    fit = posterior.variational(algorithm="laplace", draws=20, backend="autograd")
    return {"ppl": ppl, "model": model, "posterior": posterior, "fit": fit}


def good():
    own = things()
    return GOOD | {"model": own["model"], "models": {"a": own["fit"], "b": own["fit"]}}


@pytest.mark.parametrize(("owner", "name"), [(owner, name) for owner in PUBLIC for name in PUBLIC[owner]])
def test_only_a_pplerror_comes_of_odd_arguments(owner, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, refused = getattr(things()[owner], name), 0
    parameters = inspect.signature(function).parameters
    needed = {p.name: good()[p.name] for p in parameters.values() if p.default is p.empty}
    for parameter in parameters:
        for odd in ODD:
            if name == "join" and parameter == "coordinator" and odd is None:
                continue
            try:
                function(**{**needed, parameter: odd})
            except ppl.PPLError as error:
                refused += 1
                assert str(error)
    assert refused or not parameters


@pytest.mark.parametrize("setting", SETTINGS)
def test_odd_settings_are_out_of_range(setting):
    cheap = {"algorithm": "optimize", "draws": 2, "backend": "autograd"}
    kind = inspect.signature(ppl.Posterior.variational).parameters[setting]
    for odd in (object(), [], np.zeros((2, 2)), b"x", 1j, [None]):
        with pytest.raises(ppl.OutOfRange, match=f"^{setting} = "):
            things()["posterior"].variational(**{**cheap, setting: odd})
    assert kind.default is not inspect.Parameter.empty


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: ppl.compile_model(None), r"compile_model\(\): program is None \(NoneType\), but must be"),
        (lambda t: ppl.load_fit(None, t["model"], DATA), r"load_fit\(\): path is None"),
        (lambda t: t["fit"].stan_variable(None), r"name is None \(NoneType\), but must be a string"),
        (lambda t: t["posterior"].log_density("x"), "u is 'x' .str., but must be an array of numbers"),
        (lambda t: t["posterior"].param_unconstrain(None), r"param_unconstrain\(\): values is None"),
        (lambda t: t["fit"].sample(-1), r"n is -1 \(int\), but must be an integer of at least 0"),
    ],
)
def test_the_message_names_the_argument(call, message):
    with pytest.raises(ppl.ArgumentError, match=message):
        call(things())


def test_numbers_of_numpy_are_arguments_and_options(tmp_path):
    things()["posterior"].param_names(include_tp=np.bool_(True))
    options = {"checkpoint": tmp_path / "kept", "resume": np.bool_(False), "checkpoint_every": np.int64(1)}
    fit = things()["posterior"].laplace(draws=np.uint8(5), seed=np.int64(2), **options)
    fit.more(np.int32(3), seed=np.array(4)).save(tmp_path / "fit.json")
    assert ppl.load_fit(tmp_path / "fit.json", things()["model"], DATA).draws().shape[0] == 3


def test_wrong_keywords_stay_type_errors():
    with pytest.raises(TypeError, match="no setting `propt`; did you mean propto"):
        things()["posterior"].log_joint(propt=True)


def test_an_alias_is_what_it_stands_for():
    """As NDArray is from NumPy 2.5, which Python 3.12 and later install."""
    of_kind = TypeVar("of_kind")
    alias = TypeAliasType("alias", np.ndarray[Any, np.dtype[of_kind]], type_params=(of_kind,))
    assert form_of(alias[float]) is form_of(NDArray[np.float64]) is np.ndarray


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        ("fit.predict()", "fit.predictive()"),
        ("fit.draws('m')", 'fit["mu"]'),
        ("model.condition([1], [2])", "condition(x=x, y=y)"),
        ("posterior.sample(2000)", "num_samples=2000"),
        ("posterior.variational('fullrank')", "algorithm='fullrank'"),
        ("posterior.laplace({'N': 3})", "model.condition(data)"),
        ("fit.summary(var_names=['m'])", 'summary(["mu", "theta"])'),
    ],
)
def test_a_call_whose_arguments_do_not_fit_is_told_what_to_write(call, instead):
    with pytest.raises(ppl.PPLError) as error:
        eval(call, things())
    assert instead in str(error.value)
