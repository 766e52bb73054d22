"""Every example in a docstring runs, and gives what it says."""

import contextlib
import doctest
import importlib.util
import pkgutil
import shutil
from pathlib import Path

import numpy as np
import pytest
from laws.every import every

import ppl
from ppl.run.posterior_target import PosteriorTarget

ROOT = Path(__file__).parents[1]
NAMES = sorted(module.name for module in pkgutil.walk_packages(ppl.__path__[:1], "ppl."))
MODULES = [name for name in NAMES if not name.endswith("__main__")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def has_examples(name):
    """Whether the text of a module of ppl has any."""
    return ">>>" in Path(importlib.util.find_spec(name).origin).read_text("utf-8")


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples may use without saying so: a fit, and its files in the working folder."""
    folder = tmp_path_factory.mktemp("examples")
    for path in (ROOT / "models" / "eight_schools").glob("*.*"):
        shutil.copy(path, folder)
    with contextlib.chdir(folder):
        posterior = ppl.compile_model("eight_schools.model").condition("eight_schools.data.json")
    fit = posterior.variational(start="random", refine=False, average=False, correct=False, iter=300)
    fit.save_csv(folder / "output.csv")
    fit.save(folder / "fit.json")
    chains = posterior.sample(num_chains=2, num_warmup=100, num_samples=50, seed=1, backend="autograd")
    normal = "data { int N; vector[N] y; } parameters { real m; } "
    normal += "model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    calibration = ppl.compile_model(normal).sbc({"N": 3}, simulations=10, draws=19, algorithm="laplace")
    given = {
        "model": posterior.model,
        "posterior": posterior,
        "fit": fit,
        "chains": chains,
        "calibration": calibration,
        "target": PosteriorTarget(posterior),
    }
    u = np.zeros(posterior.param_unc_num())
    return folder, {"ppl": ppl, "np": np, "compile_model": ppl.compile_model, "u": u, **given}


@every("module", [name for name in MODULES if not has_examples(name)])
def test_every_other_module_can_be_imported(module):
    if module.startswith("ppl.jax_backend.") and not importlib.util.find_spec("jax"):
        return
    importlib.import_module(module)


@pytest.mark.rotate
@pytest.mark.parametrize("module", filter(has_examples, MODULES))
def test_examples(module, names, monkeypatch):
    folder, given = names
    monkeypatch.chdir(folder)
    if module.startswith("ppl.jax_backend."):
        pytest.importorskip("jax")
    if module == "ppl.formula":
        pytest.importorskip("formulae")
    found = importlib.import_module(module)
    failures = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    for test in doctest.DocTestFinder(exclude_empty=True).find(found, extraglobs=dict(given)):
        runner.run(test, out=failures.append)
    assert not failures, "".join(failures)
