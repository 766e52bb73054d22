"""Reports as JSON, the verdict as an exit status, and a poor fit that no output shows as good."""

import json
import math

import pytest

import ppl
from ppl.cli.main import main
from ppl.cli.required import STATUS, Least, status_of
from ppl.cmdstan.tools.stansummary import main as stansummary
from ppl.methods.diagnose.level import Level
from ppl.results.files.formats import save_draws
from ppl.results.report.machine import SCHEMA, document

PROGRAM = """\
data { int N; vector[N] y; }
parameters { real mu; real<lower=0> s; }
model { mu ~ normal(0, 5); s ~ exponential(1); y ~ normal(mu, s); }
generated quantities { vector[N] log_lik; for (n in 1 : N) log_lik[n] = normal_lpdf(y[n] | mu, s); }
"""
DATA = {"N": 9, "y": [1.2, 0.4, -0.3, 2.2, 1.7, 0.9, 1.1, -0.6, 0.8]}
FUNNEL = """\
data { int N; vector[N] y; }
parameters { real s; vector[9] u; }
model { s ~ normal(0, 3); u ~ normal(0, exp(s / 2)); y ~ normal(u[1], 1); }
generated quantities { vector[N] log_lik; for (n in 1 : N) log_lik[n] = normal_lpdf(y[n] | u[1], 1); }
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", PROGRAM), ("poor", FUNNEL)):
        (tmp_path / f"{name}.model").write_text(text)
    (tmp_path / "d.json").write_text(json.dumps(DATA))

    def ran(*words, error=False):
        with pytest.raises(SystemExit) as end:
            main([*words])
        return end.value.code or 0, capsys.readouterr()[error]

    return ran


POOR = ("poor.model", "d.json", "--algorithm", "meanfield", "--seed", "2", "--refresh", "0", "-o", "poor.csv")


@pytest.mark.rotate
def test_every_report_has_the_schema_and_the_verdict_first(run):
    fitted = ("variational", "good.model", "d.json", "--refresh", "0")
    code, plain = run(*fitted)
    assert code == 0 and "Verdict: good" in plain
    reports = {
        "variational": run(*fitted, "--format", "json"),
        "summary": run("summary", "output.csv", "--format", "json"),
        "loo": run("loo", "output.csv", "--format", "json"),
        "doctor": run("doctor", "good.model", "d.json", "output.csv", "--format", "json"),
    }
    run(*fitted, "--seed", "2", "-o", "other.csv")
    reports["compare"] = run("compare", "output.csv", "other.csv", "--format", "json")
    assert json.loads(reports["variational"][1])["backend"] == "autograd"
    for name, (code, text) in reports.items():
        found = json.loads(text)
        assert code == 0 and list(found)[:3] == ["schema", "report", "verdict"], name
        assert (found["schema"], found["report"], found["verdict"]["level"]) == (SCHEMA, name, "good")
        assert found["verdict"]["judgement"].startswith("Verdict: good")
    fit = ppl.compile_model("good.model").condition("d.json").variational(seed=1)
    (mu, *_) = json.loads(reports["variational"][1])["rows"]
    assert (mu["name"], mu["mean"], mu["se"]) == ("mu", fit.summary()["mu"].mean, fit.summary()["mu"].se)
    loo = json.loads(reports["loo"][1])
    assert len(loo["rows"]) == 9 and loo["elpd"] == pytest.approx(fit.loo().elpd, abs=0.05)
    assert {m["level"] for m in json.loads(reports["compare"][1])["models"]} == {"good"}


@pytest.mark.rotate
def test_a_poor_fit_cannot_be_read_as_good(run, tmp_path, capsys):
    pytest.importorskip("arviz")
    pytest.importorskip("pyarrow")
    with pytest.warns(ppl.PoorFitWarning):
        fit = ppl.compile_model("poor.model").condition("d.json").variational(seed=2, algorithm="meanfield")
    text = {"repr": repr(fit), "notebook": fit._repr_html_(), "level": str(fit.level)}
    text["judgement"] = fit.judgement
    results = {"summary": fit.summary("s"), "loo": fit.loo(), "compare": ppl.compare({"a": fit, "b": fit})}
    for name, result in {**results, "doctor": fit.doctor()}.items():
        text |= {f"{name}, repr": repr(result), f"{name}, str": str(result)}
    text |= {f"{name}, notebook": result._repr_html_() for name, result in results.items()}
    _, text["variational"] = run("variational", *POOR)
    text["CSV"] = (tmp_path / "poor.csv").read_text()
    _, text["summary"] = run("summary", "poor.csv")
    _, text["loo"] = run("loo", "poor.csv", "--csv", "rows.csv")
    text["rows of loo"] = (tmp_path / "rows.csv").read_text()
    (tmp_path / "again.csv").write_text(text["CSV"])
    _, text["compare"] = run("compare", "poor.csv", "again.csv")
    _, text["doctor"] = run("doctor", "poor.model", "d.json", "poor.csv")
    run("plot", "poor.csv", "--report", "poor.html", "--variables", "s")
    text["report"] = (tmp_path / "poor.html").read_text()
    assert run("plot", "poor.csv", "--kind", "forest", "-o", "poor.svg")[0] == 0
    text["picture"] = (tmp_path / "poor.svg").read_text()
    _, text["generate"] = run("generate", "poor.model", "d.json", "poor.csv", error=True)
    _, text["predict"] = run("predict", "poor.model", "poor.csv", error=True)
    text |= {name: (tmp_path / name).read_text() for name in ("generated.csv", "predicted.csv")}
    stansummary(["poor.csv"])
    text["stansummary"] = capsys.readouterr().out
    fit.save("fit.json")
    text["saved"] = (tmp_path / "fit.json").read_text()
    text["loaded"] = repr(ppl.load_fit("fit.json", ppl.compile_model("poor.model"), "d.json"))
    text["ArviZ"] = str(fit.to_arviz().posterior.attrs)
    for suffix in ("npz", "nc", "parquet"):
        save_draws(fit, tmp_path / f"poor.{suffix}")
        _, text[suffix] = run("summary", f"poor.{suffix}")
    commands = (
        ("variational", *POOR),
        ("summary", "poor.csv"),
        ("loo", "poor.csv"),
        ("compare", "poor.csv", "again.csv"),
        ("doctor", "poor.model", "d.json", "poor.csv"),
    )
    for words in commands:
        _, output = run(*words, "--format", "json")
        assert json.loads(output)["verdict"]["level"] == "poor", words
        text[f"{words[0]}, json"] = output
    for where, output in text.items():
        assert "poor" in output.replace("poor.", ""), where
        assert "Verdict: good" not in output and '"good"' not in output, where


@pytest.mark.rotate
def test_the_verdict_is_the_exit_status_on_request(run):
    assert run("variational", *POOR, "--require", "usable")[0] == 5
    assert [run("summary", "poor.csv", "--require", least)[0] for least in ("good", "usable")] == [5, 5]
    assert run("doctor", "poor.model", "d.json", "poor.csv", "--require", "good")[0] == 5
    assert run("summary", "poor.csv")[0] == 0
    fitted = ("variational", "good.model", "d.json", "--refresh", "0", "--require", "good")
    assert run(*fitted)[0] == 0


def test_statuses_tell_the_levels_apart():
    assert len({*STATUS.values()}) == len(Level)
    assert [status_of(level, None) for level in Level] == [0] * 4
    assert [status_of(level, Least.good) for level in Level] == [0, 4, 5, 6]
    assert [status_of(level, Least.usable) for level in Level] == [0, 0, 5, 6]


def test_numbers_that_json_does_not_have_are_null():
    content = {"rows": [{"mean": math.nan, "sd": math.inf, "n": 3}], "names": ("a",)}
    found = json.loads(document("loo", Level.POOR, "Verdict: poor.", content))
    assert found["rows"] == [{"mean": None, "sd": None, "n": 3}] and found["names"] == ["a"]
