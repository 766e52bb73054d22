"""`ppl predict`, from the prior and at a fit, and `model.prior_predictive`."""

import json
import shutil

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.methods.diagnose.level import Level
from ppl.results.files.read_csv import read_draws
from ppl.results.files.readers import read_file

PROGRAM = """data { int N; vector[N] y; }
parameters { real m; vector<lower=0>[2] s; }
transformed parameters { real twice = 2 * m; }
model { m ~ normal(3, 2); s ~ exponential(1); y ~ normal(m, s[1]); }
"""


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "toy.model").write_text(PROGRAM)
    (tmp_path / "toy.json").write_text(json.dumps({"N": 3, "y": [1, 2, 3]}))
    return run


def test_draws_of_all_that_the_program_draws(run):
    status, out, _ = run("predict", "toy.model", "toy.json", "--prior", "--draws", 400)
    assert status == 0 and "Wrote prior.csv: 400 draws of m, s, y." in out
    found = read_draws("prior.csv")
    assert found.columns == ("m", "s.1", "s.2", "y.1", "y.2", "y.3", "twice")
    assert found.parameters == ("m", "s.1", "s.2")
    assert found.draws[:, 0].mean() == pytest.approx(3, abs=0.5)
    assert (found.draws[:, 6] == 2 * found.draws[:, 0]).all()
    by_name = ppl.compile_model(PROGRAM).prior_predictive({"N": 3}, draws=400)
    assert by_name["y"].shape == (400, 3)
    np.testing.assert_array_equal(by_name["s"], found.draws[:, 1:3])
    run("predict", "toy.model", "toy.json", "--prior", "--draws", 400, "-q", "-o", "again.csv")
    assert (read_draws("again.csv").draws == found.draws).all()


def test_the_picture_of_a_predictive_check_reads_them(run, tmp_path):
    pytest.importorskip("matplotlib")
    run("predict", "toy.model", "toy.json", "--prior", "--draws", 60, "-q")
    status, _, err = run("plot", "prior.csv", "--kind", "ppc", "--replicated", "y", "-o", "ppc.png")
    assert status == 0, err
    assert (tmp_path / "ppc.png").exists()


def test_without_prior_the_way_is_told(run):
    status, _, err = run("predict", "toy.model", "toy.json")
    assert status == 2 and "ppl generate" in err


def test_at_a_fit_the_data_are_drawn_anew_and_new_rows_predicted(run, tmp_path):
    laplace = ("--algorithm", "laplace", "--no-move")  # any draws will do, and these are quick
    run("variational", "toy.model", "toy.json", *laplace, "-o", "fit.csv", "-q")
    status, out, _ = run("predict", "toy.model", "fit.csv")
    assert status == 0 and "Wrote predicted.csv: 1000 rows of 3 columns." in out
    found = read_draws("predicted.csv")
    assert found.columns == ("y_rep.1", "y_rep.2", "y_rep.3")
    (tmp_path / "new.json").write_text('{"N": 2}')
    assert run("predict", "toy.model", "fit.csv", "new.json", "-q", "-o", "new.csv")[0] == 0
    new = read_draws("new.csv")
    assert new.columns == ("y.1", "y.2") and len(new.draws) == 1000
    assert new.draws.mean() == pytest.approx(found.draws.mean(), abs=0.2)
    assert found.config["method.generate_quantities.fitted_params"] == "fit.csv"
    (tmp_path / "toy.json").unlink()
    status, _, err = run("predict", "toy.model", "fit.csv", "new.json")
    assert status == 1 and "--fit-data FILE" in err


@pytest.mark.rotate
def test_data_in_several_files_stand_before_the_fit(run, tmp_path):
    (tmp_path / "n.json").write_text('{"N": 3}')
    (tmp_path / "y.csv").write_text("y\n1\n2\n3\n")
    data = ("toy.model", "n.json", "y.csv")
    run("variational", *data, "--algorithm", "laplace", "--no-move", "--save-fit", "fit.json", "-q")
    for fit in ("output.csv", "fit.json"):
        assert run("generate", *data, fit, "-q", "-o", f"of-{fit}.csv")[0] == 0
        assert run("doctor", *data, fit)[0] == 0
    assert run("draws", *data, "fit.json", "--draws", 7, "-q")[0] == 0
    assert len(read_draws("draws.csv").draws) == 7
    assert run("log-prob", *data, "output.csv")[0] == 0
    pytest.importorskip("matplotlib")
    plot = ("plot", "output.csv", "--model", "toy.model", "--kind", "ppc")
    for named in ((), ("--data", "n.json", "--data", "y.csv")):
        status, _, err = run(*plot, *named)
        assert status == 0, err


GROUPS = """data { int N; int J; array[N] int<lower=1, upper=J> g; vector[N] y; }
parameters { real m; vector[J] a; }
model { m ~ normal(5, 1); a ~ normal(m, 0.5); y ~ normal(a[g], 0.1); }
"""


@pytest.fixture(scope="module")
def groups(tmp_path_factory, run_in):
    """A folder with a fit, made once."""
    folder = tmp_path_factory.mktemp("groups")
    (folder / "groups.model").write_text(GROUPS)
    data = {"N": 6, "J": 2, "g": [1, 1, 1, 2, 2, 2], "y": [4, 4.1, 3.9, 6, 6.1, 5.9]}
    (folder / "groups.json").write_text(json.dumps(data))
    run_in(folder, "variational", "groups.model", "groups.json", "-q", "--save-fit", "fit.json")
    return folder


@pytest.fixture
def grouped(run, groups, tmp_path):
    shutil.copytree(groups, tmp_path, dirs_exist_ok=True)
    return run


@pytest.mark.rotate
@pytest.mark.parametrize("read", ["csv", "parquet", "npz", "json"])
@pytest.mark.parametrize("written", ["csv", "parquet", "npz"])
def test_new_groups_in_every_format(grouped, tmp_path, read, written):
    """Groups 1 and 2 lie at 4 and 6; group 3 is new, about m, which is normal(5, 0.37) given the data."""
    new = {"g": [1, 2, 3]}
    if read == "parquet":
        pytest.importorskip("pandas").DataFrame(new).to_parquet(tmp_path / "new.parquet")
    elif read == "npz":
        np.savez(tmp_path / "new.npz", N=3, g=[1, 2, 3])
    else:
        text = "g\n1\n2\n3\n" if read == "csv" else json.dumps({"N": 3, "J": 3, **new})
        (tmp_path / f"new.{read}").write_text(text)
    status, out, err = grouped("predict", "groups.model", "fit.json", f"new.{read}", "-o", f"p.{written}")
    assert status == 0 and f"Wrote p.{written}: 1000 rows of 3 columns." in out, err
    found = read_file(tmp_path / f"p.{written}")
    assert found.columns == ("y.1", "y.2", "y.3")
    assert found.provenance.verdict is Level.GOOD
    assert found.draws.mean(axis=0) == pytest.approx([4, 6, 5], abs=0.1)
    of_mean = 0.1**2 / 3
    old, new = 0.1**2 + of_mean, 0.5**2 + 0.1**2 + 1 / (1 + 2 / (0.5**2 + of_mean))
    assert found.draws.std(axis=0) == pytest.approx(np.sqrt([old, old, new]), rel=0.15)


def test_an_index_beyond_a_size_that_is_given_is_refused(grouped, tmp_path):
    (tmp_path / "new.json").write_text('{"N": 1, "J": 3, "g": [4]}')
    status, _, err = grouped("predict", "groups.model", "fit.json", "new.json")
    assert status == 1 and "must be at most 3" in err


def test_a_program_that_cannot_be_read_forward_takes_a_simulator(run, tmp_path):
    (tmp_path / "flat.model").write_text(
        "data { real y; } parameters { real m; } model { y ~ normal(m, 1); }"
    )
    (tmp_path / "sim.stan").write_text(
        "generated quantities { real m = normal_rng(5, 1); real y = normal_rng(m, 1); }"
    )
    status, _, err = run("predict", "flat.model", "--prior")
    assert status == 1 and "PPL979" in err
    assert run("predict", "flat.model", "--prior", "--simulator", "sim.stan", "-q")[0] == 0
    assert read_draws("prior.csv").draws[:, 0].mean() == pytest.approx(5, abs=0.2)


@pytest.mark.rotate
def test_scores_on_the_command_line(run, tmp_path):
    (tmp_path / "line.model").write_text(
        "data { int N; vector[N] x; vector[N] y; } parameters { real b; } "
        "model { b ~ normal(0, 1); x ~ normal(0, 1); y ~ normal(b * x, 1); }"
    )
    (tmp_path / "line.json").write_text(json.dumps({"N": 3, "x": [1, 2, 3], "y": [2, 4, 6]}))
    run("variational", "line.model", "line.json", "-q", "--algorithm", "laplace", "-o", "fit.csv")
    (tmp_path / "new.csv").write_text("x,y\n1,2\n2,NA\n")
    status, out, err = run("predict", "line.model", "new.csv", "fit.csv")
    assert status == 0 and "Conditioned on 2 of 2 values of `x` and 1 of 2 values of `y`." in out, err
    (tmp_path / "test.csv").write_text("x,y\n1,2\n2,4\n")
    status, _, err = run("predict", "line.model", "test.csv", "fit.csv")
    assert status == 1 and "--score y" in err and "--replicate y" in err
    assert run("predict", "line.model", "test.csv", "fit.csv", "--replicate", "y", "-q")[0] == 0
    status, out, err = run("predict", "line.model", "test.csv", "fit.csv", "--score", "y")
    assert status == 0 and "log score" in out and "Wrote scores.csv." in out, err
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    assert lines[0] == "row,log_score,mcse" and lines[2].startswith('"y[2]",')
    mean, sd = 28 / 15, np.sqrt(1 / 15)
    exact = stats.norm.logpdf(4, 2 * mean, np.sqrt(1 + 4 * sd**2))
    assert float(lines[2].split(",")[1]) == pytest.approx(exact, abs=0.02)
    assert run("predict", "line.model", "fit.csv", "--score", "y")[0] == 2


@pytest.mark.rotate
def test_contrasts_are_those_of_python(run, tmp_path):
    program = (
        "data { int N; array[N] int<lower=0, upper=1> sex, y; vector[N] x; } parameters { real a, b, c; } "
    )
    program += "model { [a, b, c] ~ normal(0, 1); y ~ bernoulli_logit(a + b * to_vector(sex) + c * x); }"
    (tmp_path / "groups.model").write_text(program)
    (tmp_path / "d.csv").write_text('Sex,x,y\nF,1,0\n"M, XY",2,1\nF,3,1\n"M, XY",0,0\n"M, XY",1,1\n')
    run("variational", "groups.model", "d.csv", "--algorithm", "laplace", "--no-move", "-o", "fit.csv", "-q")
    compare = ("predict", "groups.model", "fit.csv", "--contrast", "sex=F,M, XY", "--contrast", "x=1,2.5")
    status, out, err = run(*compare, "--typical", "--interval", 0.8)
    assert status == 0 and "difference_y[M, XY,2.5 - F,1]" in out and "10%" in out, err
    found = read_draws("contrast.csv")
    assert found.columns == ("difference_y.1", "ratio_y.1", "odds_ratio_y.1")
    draws = read_draws("fit.csv")
    b, c = (draws.draws[:, draws.columns.index(name)] for name in "bc")
    np.testing.assert_allclose(found.draws[:, 2], np.exp(b + 1.5 * c), rtol=1e-6)
    assert run(*compare, "d.csv")[0] == 2
    refused = {"sex": "expected sex=F,M", "sx=F,M": "did you mean sex?", "sex=F,M": "sex has no level 'M'"}
    for wrong, words in refused.items():
        status, _, err = run("predict", "groups.model", "fit.csv", "--contrast", wrong)
        assert status and words in " ".join(err.split())
