"""What a command does not wait for: the packages and modules that it leaves alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import scipy.special

from ppl.cmdstan.build import build
from ppl.compile import compile_model
from ppl.late import imported

MODELS = Path(__file__).parents[1] / "models"
RUN = """\
import json, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as end:
    print(json.dumps([end.code, sorted(sys.modules)]), file=sys.stderr)
"""
COMMAND = "import sys; from ppl.cli.main import main; sys.argv[0] = 'ppl'; main()"
ARRAYS = ("numpy", "scipy", "autograd", "ppl.arrays", "ppl.stdlib")
COMPILER = (
    "lark",
    "ppl.kernel.language.check",
    "ppl.kernel.language.parser",
    "ppl.compile",
    "ppl.structure.discrete",
    "ppl.kernel.ir.lower",
)
FITS = ("ppl.methods.recipes", "ppl.methods.correct.correction", "ppl.results.fits.fit")
SLOW = (
    "scipy.stats",
    "scipy.optimize",
    "scipy.linalg",
    "scipy.integrate",
    "autograd.scipy",
    "rich",
    "pandas",
)
BACK_END = ("ppl.kernel.ir", "ppl.kernel.emit", "ppl.density", "ppl.model")
SERVER = ("pygls", "lsprotocol", "ppl.cli.lsp")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A program with its data, an executable of it, and a file of its draws."""
    folder = tmp_path_factory.mktemp("imports")
    source, data = (MODELS / "eight_schools" / f"eight_schools.{end}" for end in ("model", "data.json"))
    (folder / "m.model").write_bytes(source.read_bytes())
    (folder / "d.json").write_bytes(data.read_bytes())
    model = compile_model(folder / "m.model")
    build(folder / "m.model", model.source.text, folder / "m")
    short = {"algorithm": "meanfield", "iter": 100, "draws": 200}
    model.condition(folder / "d.json").variational(**short).save_csv(folder / "output.csv")
    (folder / "run.py").write_text(COMMAND)
    return folder


@pytest.mark.rotate
@pytest.mark.parametrize(
    ("words", "without"),
    [
        ("run.py --version", (*ARRAYS, *COMPILER, *FITS, *SLOW, *BACK_END, *SERVER, "ppl.cli.commands")),
        ("run.py --help", (*ARRAYS, *COMPILER, *FITS, *SLOW, *BACK_END, *SERVER)),
        ("run.py format m.model", (*ARRAYS, *COMPILER[1:2], *FITS, *SLOW, *BACK_END)),
        ("run.py check m.model", ("scipy", "ppl.compile", *FITS, *SLOW, *BACK_END, *SERVER)),
        (
            "run.py summary output.csv",
            (*COMPILER, *FITS, *SLOW, *BACK_END, "scipy", "ppl.kernel.advi.optimise"),
        ),
        ("m diagnose data file=d.json", (*COMPILER, *FITS, *SLOW, "scipy", "click", "ppl.stdlib.library")),
        (
            "m optimize data file=d.json",
            (*COMPILER, *FITS, "scipy", "rich", "click", "ppl.stdlib.library"),
        ),
        ("m sample num_warmup=5 num_samples=5 num_chains=1 data file=d.json", ("lark", "ppl.compile")),
    ],
)
def test_a_command_imports_what_it_needs(words, without, folder):
    if " sample " in words:
        pytest.importorskip("nutpie")
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words.split()], cwd=folder, capture_output=True, text=True
    )
    status, loaded = json.loads(done.stderr.splitlines()[-1])
    assert not status, done.stderr
    assert [name for name in loaded if f"{name}.".startswith(tuple(f"{each}." for each in without))] == []


COMPILING = (
    *("numpy.polynomial", "tempfile"),
    "lark",
    "ppl.kernel.language.ast",
    "ppl.structure.observed.terms",
    "ppl.structure.discrete",
    "ppl.structure.forward",
    "ppl.optimise.passes.vectorise",
)
UNUSED = (
    *("html", "importlib.resources", "statistics", "subprocess", "tracemalloc", "zipfile"),
    "ppl.data.on_disk",
    "rich",
    "pydantic",
    "typer",
    "importlib.metadata",
    "multiprocessing",
    "ppl.methods.nested.field",
    "ppl.methods.recipes.dsvi",
    "ppl.results.fits.chains",
    "ppl.results.report.compare",
    "ppl.data.csv_text",
    "numpy.ma",
    "scipy.optimize",
    "scipy.stats",
    "scipy.fft",
    "scipy.spatial",
    "scipy.integrate",
    "jax",
    "pandas",
)
PACKAGES = ("scipy._lib._array_api", "scipy.sparse", "autograd.scipy")
"""What imports all of SciPy, or all of NumPy."""
MOST_MODULES = {"first": 830, "second": 625}
"""Of a fit by the command line, all packages together."""


@pytest.mark.rotate
def test_a_fit_imports_the_modules_of_its_path(folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PPL_CACHE", str(tmp_path))
    regression = MODELS / "linear_regression" / "linear_regression"
    fit = ["run.py", "variational", f"{regression}.model", f"{regression}.data.json", "-o", "fit.csv"]
    for run, more in (("first", ()), ("second", COMPILING)):
        done = subprocess.run([sys.executable, "-c", RUN, *fit], cwd=folder, capture_output=True, text=True)
        status, loaded = json.loads(done.stderr.splitlines()[-1])
        assert not status, done.stderr
        unwanted = tuple(f"{each}." for each in (*UNUSED, *PACKAGES, *more))
        assert [name for name in loaded if f"{name}.".startswith(unwanted)] == []
        assert len(loaded) <= MOST_MODULES[run], len(loaded)


def test_passes_are_imported_when_they_run():
    passes = "[m for m in sys.modules if m.startswith('ppl.optimise.passes.')]"
    code = f"import sys, ppl.optimise.forms; print({passes})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["['ppl.optimise.passes.table']"]


GRADIENT = """\
import sys
from ppl.compile import compile_model
from ppl.late import imported
program = "parameters { real<lower=0> a; corr_matrix[2] C; } model { a ~ gamma(2, 1); C ~ lkj_corr(a); }"
posterior = compile_model(program).condition({})
before = posterior.log_density_gradient([0.1, 0.2])
heavy = {"scipy.stats", "scipy.signal", "autograd.scipy"} & set(sys.modules)
import autograd.scipy.special as special, autograd
assert special.gammaln(1.0) == 0 and autograd.scipy.stats
assert str(posterior.log_density_gradient([0.1, 0.2])) == str(before)
sys.exit(", ".join(heavy) or 0)
"""


@pytest.mark.rotate
def test_a_gradient_imports_no_statistics_and_leaves_autograd_whole():
    done = subprocess.run([sys.executable, "-c", GRADIENT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


COMPILED_ONLY = """\
import sys
from ppl.late import blas, lapack, special
value = special.digamma(0.3), special.ndtri(0.3), lapack.dpotrf([[4.0]])[0], blas.ddot([1.0], [2.0])
others = {"scipy.special._basic", "scipy.linalg._basic", "scipy._lib._pep440", "scipy._lib._testutils"}
packages = others & set(sys.modules)
import scipy.special, scipy.linalg
assert scipy.__version__ and scipy._lib
from scipy import special as other
assert "logsumexp" in dir(other)
assert other.ndtri is special.ndtri and scipy.special.zeta is special.zeta and other.logsumexp([0]) == 0
assert scipy.linalg.solve([[2.0]], [4.0]) == 2 and scipy.special is sys.modules["scipy.special"]
sys.exit(", ".join(packages) or 0)
"""


def test_compiled_functions_of_scipy_import_no_package_and_leave_it_whole():
    done = subprocess.run([sys.executable, "-c", COMPILED_ONLY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name", ["gammaln", "psi", "ndtr", "ndtri", "log_ndtr", "expit", "xlogy", "gammainc"]
)
def test_they_are_those_of_the_package(name):
    assert getattr(imported("scipy.special._ufuncs"), name) is getattr(scipy.special, name)
