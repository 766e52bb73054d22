"""The doctor on programs with data: what it finds, what it says, where."""

from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.cli.main import main

PROGRAM = """\
data {
  int<lower=0> N;
  vector[N] x;
  vector[N] y;
}
parameters {
  real a;
  real b;
  real<lower=0> s;
}
model {
  a ~ normal(0, 5);
  b ~ normal(0, 5);
  s ~ exponential(1);
  y ~ normal(a + b * x, s);
}
"""

MEAN = """\
data {
  int<lower=0> N;
  vector[N] y;
}
parameters {
  real mu;
  real<lower=0> sigma;
}
model {
  mu ~ normal(50, 50);
  sigma ~ exponential(0.1);
  y ~ normal(mu, sigma);
}
"""
ROOT = Path(__file__).parents[3]


def data(effect):
    rng = np.random.default_rng(4)
    x, g = rng.normal(size=120), np.repeat(np.arange(1, 13), 10)
    y = 1 + 2 * x + effect * rng.normal(size=12)[g - 1] + rng.normal(size=120)
    return {"N": 120, "x": x, "y": y, "clinic": g}


@pytest.fixture(scope="module")
def model():
    return ppl.compile_model(PROGRAM)


@pytest.mark.rotate
def test_a_model_that_suits_the_data_has_no_finding(model):
    found = model.condition(data(0.0)).variational(seed=1).doctor()
    assert found.findings == () and found.outcomes == ("y",) and not found.notes
    assert "No findings" in str(found)


@pytest.mark.rotate
def test_a_group_that_the_program_does_not_declare_is_found(model, tmp_path):
    rows = data(1.5)
    rows["The clinic"] = rows.pop("clinic")  # a program calls this column the_clinic
    found = model.condition(rows).variational(seed=1).doctor()
    first = found.findings[0]
    assert (first.code, first.span.line) == ("PPL024", 15)
    assert "`y ~ normal(a + b * x + u_the_clinic[the_clinic], s);`" in first.hint
    assert str(found).startswith("<string>:15:3: warning PPL024")
    assert "u_the_clinic[the_clinic], s);" in first.fixed_source.text and ppl.compile_model(
        first.fixed_source.text
    )
    paths = found.save_pictures(tmp_path)
    assert paths[0].name == "PPL024.svg" and "residuals between groups of the_clinic" in paths[0].read_text()


@pytest.mark.rotate
def test_chains_are_examined_too(model):
    pytest.importorskip("nutpie")
    chains = model.condition(data(1.5)).sample(
        num_chains=2, num_warmup=300, num_samples=300, seed=1, backend="autograd"
    )
    assert chains.doctor().findings[0].code == "PPL024"


def test_what_cannot_be_examined_is_said():
    text = "data { vector[9] y; } parameters { real m; } model { target += -0.5 * dot_self(y - m); }"
    found = ppl.compile_model(text).condition({"y": np.arange(9.0)}).variational(seed=1).doctor()
    assert found.findings == () and "No findings in 0 checks of parameters and priors" in found.sentence
    own = "data { vector[9] y; } parameters { real m; } model { y ~ normal(m, 1); } "
    own += "generated quantities { real y_rep = normal_rng(m, 1); }"
    found = ppl.compile_model(own).condition({"y": np.arange(9.0)}).variational(seed=1).doctor()
    assert found.outcomes == () and any(note.startswith("`y` not examined") for note in found.notes)
    censored = "data { vector[9] y; } parameters { real m; } model { y ~ normal(m, 1); 9 ~ normal(m, 1); }"
    found = ppl.compile_model(censored).condition({"y": np.arange(9.0)}).variational(seed=1).doctor()
    assert any(note.startswith("Prior not simulated: ") for note in found.notes)


def test_draws_without_replications_are_left_out():
    text = """data { vector[9] y; } parameters { real m; } model { m ~ normal(0, 5); y ~ normal(m, 1); }
    generated quantities { vector[9] y_rep;
      for (n in 1 : 9) y_rep[n] = m > 0 ? normal_rng(m, 1) : not_a_number(); }"""
    fit = ppl.compile_model(text).condition({"y": np.arange(9.0) - 4}).variational(seed=1)
    found = fit.doctor()
    assert found.outcomes == ("y",) and 0 < np.isnan(fit.stan_variable("y_rep")[:, 0]).sum() < 1000
    assert all(np.isfinite(f.p) for f in found.findings)


@pytest.mark.rotate
def test_the_command_reads_a_fit_and_says_the_same(model, tmp_path, capsys, monkeypatch):
    import json

    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.model").write_text(PROGRAM)
    plain = {k: np.asarray(v).tolist() for k, v in data(1.5).items()}
    (tmp_path / "d.json").write_text(json.dumps(plain))
    rows = zip(*(plain[name] for name in ("x", "y", "clinic")), strict=True)
    (tmp_path / "d.csv").write_text("\n".join(["x,y,clinic", ",0,1", *(f"{x},{y},{c}" for x, y, c in rows)]))
    model.condition("d.json").variational(seed=1).save_csv("output.csv")
    for words in (["d.csv"], ["d.json", "output.csv"]):
        with pytest.raises(SystemExit) as end:
            main(["doctor", "m.model", *words])
        output = capsys.readouterr().out
        assert end.value.code == 0 and "Verdict: good" in output and "m.model:15:3: warning PPL024" in output
        assert ("1 of 121 rows were left out" in " ".join(output.split())) == (words == ["d.csv"])


def test_what_the_page_shows_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    blocks = (ROOT / "cli/site/checking-a-model.md").read_text().split("```text")
    shown = next(text for text in blocks if text.startswith("\nmean.model:12")).partition("```")[0]
    (tmp_path / "mean.model").write_text(MEAN)
    for words in (["new", "cars"], ["doctor", "mean.model", "cars/cars.data.json"]):
        with pytest.raises(SystemExit):
            main(words)
    output = capsys.readouterr().out
    assert " ".join(shown.split()) in " ".join(output.split())


@pytest.mark.rotate
def test_only_a_mean_field_fit_loses_dependence(model):
    given = data(0.0)
    for shift, algorithm, codes in ((0, "meanfield", ()), (3, "meanfield", ("PPL037",)), (3, "auto", ())):
        shifted = {**given, "x": given["x"] + shift, "clinic": np.ones(120)}
        fit = model.condition(shifted).variational(seed=1, algorithm=algorithm)
        found = fit.doctor().findings
        assert tuple(f.code for f in found) == codes, (shift, algorithm)
        assert not codes or (found[0].span.line == 7 and "-0.9" in found[0].message)


@pytest.mark.rotate
def test_each_outcome_is_examined_by_itself():
    """The outlier is one of y; a missing value of z changes no check but those that simulate the prior."""
    program = PROGRAM.replace("vector[N] y;", "vector[N] y;\n  vector[N] z;").replace(
        "y ~ normal(a + b * x, s);", "y ~ normal(a + b * x, s);\n  z ~ normal(a, s);"
    )
    rng = np.random.default_rng(3)
    x = rng.normal(size=60)
    data = {"N": 60, "x": x, "y": 1 + x + rng.normal(size=60), "z": 1 + rng.normal(size=60)}
    data["y"][7] += 9
    model = ppl.compile_model(program)
    fit = model.condition(data).variational(seed=1)
    both, z = fit.doctor(), fit.doctor(outcome="z")
    assert both.outcomes == ("y", "z") and z.outcomes == ("z",) and z.checks < both.checks
    assert "`y` has outliers: y[8]" in str(both) and not z.findings
    with pytest.raises(ppl.UnknownName, match="no outcome 'w'; there are y, z"):
        fit.doctor(outcome=["y", "w"])
    data["z"][3] = np.nan
    missing = model.condition(data, missing="model").variational(seed=1).doctor(outcome="z")
    assert "values of z are missing." in missing.sentence and "z_missing" not in str(missing)
    assert missing.checks >= z.checks - 4
