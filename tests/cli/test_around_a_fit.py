"""summary, generate, log-prob and diagnose, run in this process on a small program."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from ppl.cli.commands.plot import KindName
from ppl.posterior import Posterior
from ppl.results.files.read_csv import read_draws
from ppl.results.pictures.table import KINDS
from ppl.run import table as draws

PROGRAM = """\
data { int<lower=0> N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 10); sigma ~ normal(0, 5); y ~ normal(mu, sigma); }
"""
EDITED = PROGRAM + "generated quantities { real twice = 2 * mu; }\n"
DATA = {"N": 6, "y": [1.5, 2.5, 3.5, 2.0, 3.0, 2.4]}


def write_programs(folder):
    (folder / "toy.model").write_text(PROGRAM)
    (folder / "edited.model").write_text(EDITED)
    (folder / "toy.json").write_text(json.dumps(DATA))


@pytest.fixture
def run(run, tmp_path):
    """In a folder with toy.model, edited.model, toy.json."""
    write_programs(tmp_path)
    return run


@pytest.fixture(scope="module")
def fits(tmp_path_factory, run_in):
    """A folder with two fits, made once."""
    folder = tmp_path_factory.mktemp("fits")
    write_programs(folder)
    for seed in (1, 2):
        out = ("-q", "--seed", seed, "--draws", 300, "-o", f"{seed}.csv")
        run_in(folder, "variational", "toy.model", "toy.json", "--no-resample", "--no-move", *out)
    return folder


@pytest.fixture
def fitted(run, fits, tmp_path):
    shutil.copytree(fits, tmp_path, dirs_exist_ok=True)
    return run


COMMANDS = [
    "sample",
    "sbc",
    "predict",
    "update",
    "summary",
    "loo",
    "compare",
    "new",
    "plot",
    "generate",
    "log-prob",
    "diagnose",
    "fix",
    "format",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_a_screen_and_begins_with_an_example(run, command):
    status, out, _ = run(command, "--help")
    assert status == 0 and "First example:" in out
    assert len(out.splitlines()) <= 40 and max(map(len, out.splitlines())) <= 80


def test_summary_of_two_runs(fitted):
    status, out, _ = fitted("summary", "1.csv", "2.csv", "--csv", "table.csv", "--rows", 1)
    assert status == 0 and "\n2 runs of toy_model (variational), 300 draws each; k-hat" in out
    assert out.startswith("Verdict: ") and max(map(len, out.partition("2 runs")[0].splitlines())) <= 80
    assert "R_hat" in out and "... and 1 more" in out
    table = pd.read_csv("table.csv", index_col="name")
    assert table.loc["mu", "Mean"] == pytest.approx(2.48, abs=0.2) and table["R_hat"].max() < 1.1


def test_summary_of_exp(fitted):
    _, out, _ = fitted("summary", "1.csv", "--format", "json", "--variables", "mu")
    status, grown, _ = fitted("summary", "1.csv", "--format", "json", "--variables", "mu", "--exp")
    of, by_exp = (json.loads(text)["rows"][0] for text in (out, grown))
    assert status == 0 and by_exp.pop("name") == "exp(mu)" and of.pop("name") == "mu"
    assert by_exp["5%"] == pytest.approx(np.exp(of["5%"]), rel=1e-3)
    assert by_exp["MCSE"] / by_exp["StdDev"] == pytest.approx(of["MCSE"] / of["StdDev"], rel=0.3)


@pytest.mark.parametrize(("columns", "blocks"), [(70, 2), (200, 1)])
def test_summary_of_some_variables(fitted, monkeypatch, columns, blocks):
    monkeypatch.setenv("COLUMNS", str(columns))
    status, out, _ = fitted("summary", "1.csv", "--variables", "sigma")
    assert status == 0 and out.count("\nsigma ") == blocks and "\nmu " not in out
    assert max(map(len, out.splitlines())) <= columns and {"StdDev", "ESS_bulk", "k_hat"} <= {*out.split()}
    status, _, err = fitted("summary", "1.csv", "--variables", "nu")
    assert status == 1 and "no variable nu among the draws; there are mu, sigma" in " ".join(err.split())


def test_an_interval_is_shown_in_place_of_percentiles(fitted):
    status, out, _ = fitted("summary", "1.csv", "--interval", 0.5, "--sig-figs", 4)
    assert (
        status == 0
        and "25%" in out
        and "75%" in out
        and "5% " not in out.replace("25%", "").replace("75%", "")
    )
    assert "90% HDI low" in fitted("summary", "1.csv", "--hdi")[1]
    assert fitted("summary", "1.csv", "--interval", 95)[0] == 2


@pytest.mark.parametrize("percentiles", ["5,x", "101", ""])
def test_percentiles_out_of_range_are_wrong_usage(fitted, percentiles):
    status, _, err = fitted("summary", "1.csv", "--percentiles", percentiles)
    assert status == 2 and "percentiles" in err


def test_generate_with_an_edited_program(fitted):
    status, out, _ = fitted("generate", "edited.model", "toy.json", "1.csv")
    assert status == 0 and "generated.csv: 300 rows of 1 columns" in out
    assert read_draws("generated.csv").provenance == read_draws("1.csv").provenance is not None
    old = pd.read_csv("1.csv", comment="#")["mu"][1:].to_numpy()
    assert pd.read_csv("generated.csv", comment="#")["twice"].to_numpy() == pytest.approx(2 * old)


def test_generate_and_draws_report_where_they_take_long(fitted, monkeypatch):
    monkeypatch.setattr(draws, "SECONDS_A_TABLE_REPORT", -1.0)
    monkeypatch.setattr(Posterior, "draws_at_once", 100)
    generate = ("generate", "edited.model", "toy.json", "1.csv")
    reports = [f"variables of the draws {k} of 300" for k in (0, 100, 200)]
    status, _, err = fitted(*generate)
    assert status == 0 and [" ".join(line.split()[:7]) for line in err.splitlines()] == reports
    assert fitted(*generate, "--quiet") == (0, "", "")
    fitted("variational", "toy.model", "toy.json", "-q", "--save-fit", "fit.json")
    more = ("draws", "toy.model", "toy.json", "fit.json", "--draws", 150)
    status, out, err = fitted(*more)
    assert status == 0 and out == "Wrote draws.csv: 150 draws of 2 columns.\n"
    assert "of 1001" not in err  # those of the fit are not made again
    assert "variables of the draws 100 of 151" in err
    assert fitted(*more, "--quiet") == (0, "", "")


def test_log_prob_at_draws(fitted):
    status, _, _ = fitted("log-prob", "toy.model", "toy.json", "1.csv", "-o", "lp.csv")
    assert status == 0
    found, old = pd.read_csv("lp.csv"), pd.read_csv("1.csv", comment="#")
    assert list(found.columns) == ["lp__", "g_mu", "g_sigma"]
    assert found["lp__"].to_numpy() == pytest.approx(old["log_p__"][1:].to_numpy())


def test_diagnose_agrees_and_disagrees(run, tmp_path):
    status, out, _ = run("diagnose", "toy.model", "toy.json")
    assert status == 0 and "agrees with finite differences" in out and "sigma" in out
    (tmp_path / "bad.model").write_text("parameters { real x; } model { x ~ lognormal(0, 1); }")
    (tmp_path / "init.json").write_text('{"x": -1}')
    status, out, _ = run("diagnose", "bad.model", "--init", "init.json")
    assert status == 3 and "Not finite at this start" in out and "bad.model:1" in out


def test_a_file_that_holds_no_draws_is_refused(run):
    status, _, err = run("summary", "toy.json")
    assert status == 1 and "toy.json" in err


def test_plot_knows_every_kind_of_picture():
    assert [kind.value for kind in KindName] == list(KINDS)


@pytest.mark.rotate
def test_plot_writes_pictures_and_says_what_is_missing(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    status, out, _ = fitted("plot", "1.csv", "-o", "toy.svg", "--variables", "mu")
    assert status == 0 and "Wrote toy-marginals.svg." in out
    assert "No picture elbo: it needs --trace FILE" in out
    status, out, _ = fitted("plot", "1.csv", "2.csv", "--kind", "covariance", "-o", "one.png")
    assert status == 0 and out == "Wrote one.png.\n"
    status, out, _ = fitted("plot", "1.csv", "--report", "r.html", "--variables", "mu")
    report = (tmp_path / "r.html").read_text()
    assert status == 0 and "real mu;" in report and "Posterior predictive check</h2>" in report
    assert report.index("<table>") < report.index("<figure>")
    looks = ("--exp", "--log", "--line", "1", "--title", "Ratio", "--narrow")
    status, out, _ = fitted("plot", "1.csv", "--kind", "forest", *looks, "-o", "f.svg")
    assert status == 0 and ">Ratio<" in (tmp_path / "f.svg").read_text()
    for kind in ("prior", "khat", "loo-pit"):  # the program and the data are those that the file names
        assert fitted("plot", "1.csv", "--kind", kind, "-o", "k.pdf")[:2] == (0, "Wrote k.pdf.\n")


def test_plot_that_draws_nothing_is_an_error(fitted):
    pytest.importorskip("matplotlib")
    status, out, err = fitted("plot", "1.csv", "--kind", "elbo")
    assert status == 1 and out == "" and "nothing was drawn" in err and "--trace FILE" in err
    status, out, err = fitted("plot", "1.csv", "--kind", "pairs", "--variables", "mu")
    assert status == 1 and "two columns that vary" in err


def test_plot_of_the_trace_of_draws_and_of_the_elbo(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "d.csv").write_text("iter,time_in_seconds,ELBO\n100,0.1,-9\n200,0.2,-8\n")
    kinds = ("--kind", "trace", "--kind", "elbo", "--trace", "d.csv")
    assert fitted("plot", "1.csv", "2.csv", *kinds, "-o", "t.pdf")[:2] == (
        0,
        "Wrote t-trace.pdf.\nWrote t-elbo.pdf.\n",
    )


@pytest.mark.parametrize(
    ("option", "value"), [("-o", "a.gif"), ("--variables", "nu"), ("--trace", "toy.json")]
)
def test_plot_refuses_what_it_cannot_use(fitted, option, value):
    pytest.importorskip("matplotlib")
    status, _, err = fitted("plot", "1.csv", option, value)
    assert status in (1, 2) and value in err


def test_format_prints_checks_and_writes(run, tmp_path):
    tidy = run("format", "toy.model")[1]
    assert tidy.startswith("data {\n  int<lower=0> N;\n  vector[N] y;\n}\nparameters {\n")
    assert run("format", "toy.model", "--check")[0] == 1
    assert run("format", "toy.model", "--write")[0] == 0
    assert (tmp_path / "toy.model").read_text() == tidy and run("format", "toy.model", "--check")[0] == 0
