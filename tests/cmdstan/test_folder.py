"""A folder that stands in for CmdStan's: CmdStanPy compiles, summarises and diagnoses by it."""

import json
import logging
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ppl.cmdstan.folder import TOOLS, write_folder
from ppl.cmdstan.job import read_rows
from ppl.cmdstan.tools import diagnose, make, stanc, stansummary
from ppl.cmdstan.tools.diagnose import e_bfmi
from ppl.cmdstan.tools.run import run
from ppl.results.files.read_csv import read_draws
from tests.cmdstan.conftest import DATA

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cmdstan")
    write_folder(folder)
    return folder


@pytest.fixture(scope="module")
def py(folder):
    """CmdStanPy, with that folder; executables run this checkout."""
    cmdstanpy = pytest.importorskip("cmdstanpy")
    logging.getLogger("cmdstanpy").setLevel(logging.ERROR)
    before = {name: os.environ.get(name) for name in ("CMDSTAN", "PYTHONPATH")}
    os.environ["PYTHONPATH"] = str(ROOT)
    cmdstanpy.set_cmdstan_path(str(folder))
    yield cmdstanpy
    for name, value in before.items():
        os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def fit(py, folder):
    """As the first page of CmdStanPy's documents has it."""
    model = py.CmdStanModel(stan_file=str(folder / "examples" / "bernoulli" / "bernoulli.stan"))
    return model.sample(
        data=DATA,
        chains=2,
        seed=1,
        iter_warmup=200,
        iter_sampling=1000,
        save_warmup=True,
        show_progress=False,
    )


def test_the_version_is_read_from_the_makefile(py):
    assert py.utils.cmdstan.cmdstan_version() == (2, 39)


@pytest.mark.rotate("fit")
def test_a_program_is_compiled_through_make(fit, folder):
    assert (folder / "examples" / "bernoulli" / "bernoulli").is_file()
    assert fit.stan_variable("theta").mean() == pytest.approx(0.25, abs=0.05)


@pytest.mark.rotate("fit")
def test_summary_is_that_of_the_draws(fit):
    table = fit.summary(percentiles=(10, 50, 90), sig_figs=6)
    theta = fit.stan_variable("theta")
    assert [*table.index] == ["lp__", "theta"]
    assert [*table.columns][:7] == ["Mean", "MCSE", "StdDev", "MAD", "10%", "50%", "90%"]
    assert [*table.columns][7:] == ["ESS_bulk", "ESS_tail", "R_hat"]
    found = table.loc["theta", ["Mean", "StdDev", "10%", "50%", "90%"]]
    expected = [theta.mean(), theta.std(ddof=1), *np.quantile(theta, [0.1, 0.5, 0.9])]
    np.testing.assert_allclose(found.to_numpy(float), expected, rtol=1e-5)


@pytest.mark.rotate("fit")
def test_diagnose_finds_nothing_wrong(fit):
    output = fit.diagnose()
    assert "Treedepth satisfactory for all transitions." in output
    assert "Processing complete, no problems detected." in output


@pytest.mark.rotate("fit")
def test_the_warmup_is_none_of_the_draws(fit):
    read = read_draws(fit.runset.csv_files[0])
    np.testing.assert_array_equal(read.draws[:, 0], fit.draws()[:, 0, fit.column_names.index("theta")])


@pytest.mark.rotate
def test_src_info_lists_the_variables(py, folder):
    model = py.CmdStanModel(stan_file=str(folder / "examples" / "bernoulli" / "bernoulli.stan"))
    info = model.src_info()
    assert info["inputs"] == {
        "N": {"type": "int", "dimensions": 0},
        "y": {"type": "int", "dimensions": 1},
    }
    assert info["parameters"] == {"theta": {"type": "real", "dimensions": 0}}


@pytest.mark.rotate
def test_a_program_that_is_wrong_is_refused_with_its_place(py, tmp_path):
    (tmp_path / "wrong.stan").write_text("parameters { real x }")
    with pytest.raises(ValueError, match=r"Syntax error in 'wrong.stan', line 1, column 20"):
        py.CmdStanModel(stan_file=str(tmp_path / "wrong.stan"))


@pytest.mark.rotate
def test_a_program_with_includes_is_compiled_from_a_folder_with_a_space(py, tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "f.stan").write_text("real twice(real x) { return 2 * x; }\n")
    (tmp_path / "m.stan").write_text("functions {\n#include f.stan\n}\nparameters { real x; }\n")
    options = {"include-paths": [str(folder)]}
    model = py.CmdStanModel(stan_file=str(tmp_path / "m.stan"), stanc_options=options)
    assert model.src_info()["included_files"] == [str(folder / "f.stan")]
    assert model.exe_info()["STAN_THREADS"] == "false"


@pytest.mark.rotate
def test_flags_of_the_makefile_are_those_of_the_executable(py, tmp_path):
    (tmp_path / "m.stan").write_text("parameters { real x; }\n")
    model = py.CmdStanModel(stan_file=str(tmp_path / "m.stan"), cpp_options={"STAN_THREADS": True})
    assert model.exe_info()["STAN_THREADS"] == "true" and model.exe_info()["STAN_OPENCL"] == "false"


def test_make_builds_the_program_alone(folder, tmp_path):
    """make looks for a rule for make/local, which it includes, before it builds."""
    (tmp_path / "m.stan").write_text("")
    done = subprocess.run(["make", "-n", "-C", folder, tmp_path / "m"], capture_output=True, text=True)
    assert (done.stdout + done.stderr).count(".stan") == 1


def test_every_tool_has_its_file(folder):
    assert {path.name for path in (folder / "bin").iterdir()} == set(TOOLS)
    done = subprocess.run(
        [folder / "bin" / "stanc", "--version"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("stanc3 v2.39.0 (ppl ")


# --- The tools, in this process ---


def write_chain(path: Path, energies, x, divergent=0, depth=1, **config):
    """A file of a chain of one parameter."""
    comments = ["# method = sample", "#   sample", *(f"#     {k} = {v}" for k, v in config.items())]
    comments += ["#     algorithm = hmc", "#       hmc", "#         engine = nuts", "#           nuts"]
    comments += ["#             max_depth = 10"]
    names = "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x.1"
    rows = [f"-1,0.9,0.5,{depth},3,{divergent},{e:.17g},{v:.17g}" for e, v in zip(energies, x, strict=True)]
    path.write_text("\n".join([*comments, names, *rows]) + "\n")
    return str(path)


def test_diagnose_says_what_is_wrong(tmp_path, capsys):
    drift = np.linspace(0, 1, 200)
    files = [write_chain(tmp_path / f"{k}.csv", drift, drift + k, divergent=1, depth=10) for k in (1, 2)]
    assert run(diagnose.main, ["diagnose", *files]) == 0
    output = capsys.readouterr().out
    assert "400 of 400 (1e+02%) transitions hit the maximum treedepth limit of 10, or 2^10" in output
    assert "400 of 400 (1e+02%) transitions ended with a divergence" in output
    assert "below the nominal threshold of 0.3 (chain 1: " in output
    assert (
        "fewer than 200 effective draws:\n  x[1]" in output and "R-hat greater than 1.01:\n  x[1]" in output
    )
    assert output.endswith("\nProcessing complete.\n")


def test_e_bfmi_is_that_of_independent_and_of_slow_energies():
    rng = np.random.default_rng(1)
    assert e_bfmi(rng.normal(size=100_000)) == pytest.approx(2.0, abs=0.02)  # E (a - b)^2 = 2 var
    walk = np.zeros(100_000)
    for k in range(1, len(walk)):
        walk[k] = 0.9 * walk[k - 1] + rng.normal()
    assert e_bfmi(walk) == pytest.approx(2 * (1 - 0.9), abs=0.02)
    assert np.isnan(e_bfmi(np.ones(5))) and np.isnan(e_bfmi(np.ones(1)))


@pytest.mark.parametrize(
    ("saved", "warmup", "thin", "first"),
    [("1", 40, 1, 40), ("true", 200, 3, 67), ("false (Default)", 40, 1, 0), ("0", 40, 1, 0)],
)
def test_rows_of_the_warmup_are_left_out(tmp_path, saved, warmup, thin, first):
    x = np.arange(100.0)
    path = write_chain(tmp_path / "a.csv", x, x, num_warmup=warmup, save_warmup=saved, thin=thin)
    read = read_draws(path)
    np.testing.assert_array_equal(read.draws[:, 0], x[first:])
    np.testing.assert_array_equal(read.internal["energy__"], x[first:])
    np.testing.assert_array_equal(read_rows(path)[1][:, 0], x)


def test_stansummary_shows_one_variable_with_brackets(tmp_path, capsys):
    x = np.random.default_rng(1).normal(size=200)
    path = write_chain(tmp_path / "a.csv", x, x)
    assert run(stansummary.main, ["stansummary", "-i", "x", "-s", "3", path]) == 0
    output = capsys.readouterr().out
    assert "x[1]" in output and "lp__" not in output


@pytest.mark.parametrize(
    ("tool", "words", "says"),
    [
        (stansummary.main, ["nowhere.csv"], "there is no file nowhere.csv"),
        (stansummary.main, ["--percentiles=a,b", "x.csv"], "expected numbers from 0 to 100"),
        (diagnose.main, ["nowhere.csv"], "there is no file nowhere.csv"),
        (stanc.main, ["nowhere.stan"], "there is no file nowhere.stan"),
        (make.main, ["nowhere.stan", "x"], "there is no file nowhere.stan"),
    ],
)
def test_a_mistake_is_one_line(tool, words, says, capsys):
    assert run(tool, ["tool", *words]) == 1
    output = capsys.readouterr().err
    assert output.startswith("Error: ") and says in output and output.count("\n") == 1


def test_stanc_formats_and_lists_includes(tmp_path, capsys):
    (tmp_path / "f.stan").write_text("real twice(real x) { return 2 * x; }\n")
    program = (
        "functions {\n#include f.stan\n}\nparameters{real x;tuple(real,vector[2]) t;} model{x~normal(0,1);}\n"
    )
    (tmp_path / "m.stan").write_text(program)
    assert run(stanc.main, ["stanc", "--info", str(tmp_path / "m.stan")]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["included_files"] == [str((tmp_path / "f.stan").resolve())]
    parts = [{"type": "real", "dimensions": 0}, {"type": "real", "dimensions": 1}]
    assert info["parameters"]["t"] == {"type": parts, "dimensions": 0}
    assert run(stanc.main, ["stanc", "--auto-format", str(tmp_path / "m.stan")]) == 0
    assert "  #include f.stan" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ([], ""),
        (["--auto-format"], "    y = (1) + x;"),
        (["--auto-format", "--max-line-length=10"], "        + x;"),
        (["--canonicalize=parentheses"], "    y = 1 + x;"),
        (["--canonicalize=braces"], "  if (x) {"),
        (["--print-canonical"], "    y = 1 + x;"),
    ],
)
def test_stanc_prints_what_it_is_asked_for(tmp_path, capsys, words, line):
    text = "data { int x; }\ntransformed data {\n  int y;\n  if (x) y = (1) + x;\n}\n"
    (tmp_path / "m.stan").write_text(text)
    assert run(stanc.main, ["stanc", *words, str(tmp_path / "m.stan")]) == 0
    assert (line in capsys.readouterr().out.splitlines()) == bool(words)


def test_pedantic_warnings_name_every_parameter_without_a_prior(tmp_path, capsys):
    (tmp_path / "m.stan").write_text(
        "parameters { real<lower=0, upper=1> p; }\nmodel { 1 ~ bernoulli(p); }\n"
    )
    words = ["--warn-pedantic", str(tmp_path / "m.stan")]
    assert run(stanc.main, ["stanc", *words]) == 0
    assert capsys.readouterr().err == "Warning: The parameter p has no priors.\n"
    assert run(make.main, ["build", *words, str(tmp_path / "m")]) == 0
    assert capsys.readouterr().err == "Warning: The parameter p has no priors.\n"


def test_a_wrong_program_is_named_as_the_client_asks(tmp_path, capsys):
    (tmp_path / "m.stan").write_text("parameters { real x; }\nmodel { x ~ normal(y, 1); }\n")
    assert run(make.main, ["build", "--filename-in-msg=mine.stan", str(tmp_path / "m.stan"), "x"]) == 1
    assert capsys.readouterr().err.startswith("Semantic error in 'mine.stan', line 2, column 20:\n")
