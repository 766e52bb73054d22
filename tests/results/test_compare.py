"""Models of the same data by their ELPD: the table, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import ppl
from ppl.cli.main import main
from ppl.results.files.arviz_versions import from_groups
from ppl.results.report.compare import compare, stacked
from ppl.results.report.log_lik import LogLik
from ppl.results.report.loo import loo_of

NAMES = tuple(f"log_lik[{n}]" for n in range(1, 31))


def model(seed, lower=0.0, rows=30):
    """PSIS-LOO of random log likelihoods around -1 - `lower`."""
    rng = np.random.default_rng(seed)
    means, noise = rng.normal(-1 - lower, 0.5, rows), rng.normal(0, 0.1, (1000, rows))
    return LogLik(NAMES[:rows], means + noise, np.zeros(1000))


def test_arviz_agrees():
    pytest.importorskip("arviz")
    from laws import arviz

    likelihoods = {"c": model(3, 1.0), "a": model(1), "b": model(2, 0.1)}
    none = {"x": np.zeros((1, 1000))}
    given = {
        name: from_groups({"posterior": none, "log_likelihood": {"y": found.values[None]}}, {}, {})
        for name, found in likelihoods.items()
    }
    with np.errstate(all="ignore"):
        other = arviz.compare(given)
    found = compare({name: loo_of(log_lik) for name, log_lik in likelihoods.items()})
    assert [row.name for row in found] == list(other.index)
    close = 1e-3 if arviz.ONE else 1e-6
    for row in found:
        theirs = other.loc[row.name]
        ours = (row.elpd, row.p_loo, row.elpd_diff, row.se, row.se_diff)
        expected = (theirs.elpd, theirs.p, theirs.elpd_diff, theirs.se, theirs.dse)
        assert ours == pytest.approx(expected, rel=close)
        assert row.weight == pytest.approx(theirs.weight, abs=2e-3)


def test_stacking_takes_the_best_mixture():
    """Each of two predicts half of the rows well: the third, as good on average, is not needed."""
    good, poor = np.full(10, -1.0), np.full(10, -5.0)
    weights = stacked(np.array([np.append(good, poor), np.append(poor, good), np.full(20, -3.0)]))
    assert weights == pytest.approx([0.5, 0.5, 0], abs=1e-6)


def test_what_the_table_says():
    far = compare({"good": loo_of(model(1)), "worse": loo_of(model(1, 1.0))})
    assert far["worse"].elpd_diff == pytest.approx(-30, abs=0.5) and far["good"].weight > 0.999
    assert far.reading == "good predicts best; no k-hat is too high."
    assert (
        repr(far) == "<Comparison of 2 models: best good>"
        and far[0].name == "good"
        and "elpd_diff" in far._repr_html_()
    )
    near = compare({"good": loo_of(model(1)), "b": loo_of(model(1, 0.01))})
    assert near.reading.startswith("b and good differ by less than 4") and near.reading in str(near)
    unclear = compare(
        {
            "good": loo_of(model(1)),
            "c": loo_of(LogLik(NAMES, np.where(np.arange(30) < 28, model(1).values, -4.5), np.zeros(1000))),
        }
    )
    assert unclear["c"].elpd_diff < -4 and unclear["c"].se_diff > -unclear["c"].elpd_diff / 2
    assert unclear.reading == (
        "The difference between c and good is within 2 standard errors: it does not decide between them."
    )
    with pytest.raises(KeyError, match="no model 'goo'; did you mean good"):
        far["goo"]


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(ppl.DataError, match="two models or more"):
        compare({"a": loo_of(model(1))})
    with pytest.raises(ppl.DataError, match="a has 30 rows of log likelihood, b has 10"):
        compare({"a": loo_of(model(1)), "b": loo_of(model(1, rows=10))})


def test_files_are_models(tmp_path, monkeypatch, capsys):
    program = (
        "data {{ vector[20] y; }} parameters {{ real m; }} model {{ m ~ normal(0, 9); y ~ {0}(m, 1); }} "
        "generated quantities {{ vector[20] log_lik; for (n in 1:20) log_lik[n] = {0}_lpdf(y[n] | m, 1); }}"
    )
    monkeypatch.chdir(tmp_path)
    data = {"y": np.random.default_rng(1).normal(0, 1, 20)}
    fits = {}
    for name in ("normal", "cauchy"):
        fits[name] = ppl.compile_model(program.format(name)).condition(data).laplace(correct=True, seed=1)
        fits[name].save_csv(f"{name}.csv")
    found = ppl.compare(fits)
    assert [row.name for row in found] == ["normal", "cauchy"] and found["cauchy"].elpd_diff < -2
    monkeypatch.setenv("COLUMNS", "100")
    for arguments, status in (
        (["cauchy.csv", "normal.csv"], 0),
        (["normal.csv"], 1),
        (["normal.csv"] * 2, 2),
    ):
        with pytest.raises(SystemExit) as exit:
            main(["compare", *arguments])
        assert (exit.value.code or 0) == status
        if not status:
            lines = capsys.readouterr().out.splitlines()
            assert lines[1].split()[:2] == ["normal", "0.00"] and lines[2].split()[0] == "cauchy"
            assert float(lines[2].split()[1]) == pytest.approx(found["cauchy"].elpd_diff, abs=0.02)


def test_the_evidence_orders_models_too(tmp_path, monkeypatch, capsys):
    """The log Bayes factor of a narrow and a wide prior of a normal mean is known."""
    program = "data { real s; } parameters { real m; } model { m ~ normal(0, s); 0.5 ~ normal(m, 1); }"
    model, fits = ppl.compile_model(program), {}
    monkeypatch.chdir(tmp_path)
    for name, s in (("wide", 10), ("narrow", 1)):
        fits[name] = model.condition({"s": s}).variational()
        fits[name].save_csv(f"{name}.csv")
    found = ppl.compare(fits, by="evidence")
    known = stats.norm(0, np.sqrt([101.0, 2.0])).logpdf(0.5)
    assert [row.name for row in found] == ["narrow", "wide"]
    assert found["wide"].log_bf == pytest.approx(known[0] - known[1], abs=4 * found["wide"].se_log_bf + 1e-6)
    assert found["narrow"].probability == pytest.approx(1 / (1 + np.exp(known[0] - known[1])), abs=1e-2)
    assert found.reading.startswith("narrow has the highest evidence") and "log_bf" in found._repr_html_()
    with pytest.raises(SystemExit) as exit:
        main(["compare", "wide.csv", "narrow.csv", "--evidence"])
    assert not exit.value.code
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["log_bf", "se_log_bf", "log_evidence", "se", "probability"]
    assert [line.split()[0] for line in lines[1:3]] == ["narrow", "wide"]


def test_evidence_that_is_noise_or_unknown_says_so(tmp_path, monkeypatch, capsys):
    near = ppl.compare({"a": (-3.0, 0.1), "b": (-3.2, 0.1)}, by="evidence")
    assert near.reading == "The difference between b and a is within 3 standard errors: draw more."
    assert repr(near) == "<EvidenceComparison of 2 models: best a>" and near[1].probability < 0.5
    with pytest.raises(ppl.ArgumentError, match="b is a int, but must be a fit or a pair of a log evidence"):
        ppl.compare({"b": 3}, by="evidence")
    with pytest.raises(ppl.DataError, match="two models or more"):
        ppl.compare({"a": (-3.0, 0.1)}, by="evidence")
    mode = ppl.compile_model("parameters { real m; } model { m ~ normal(0, 1); }").condition({}).optimize()
    with pytest.raises(ppl.InferenceError, match=r"^mode: This fit has no estimate of the log evidence"):
        ppl.compare({"mode": mode, "b": (-3.2, 0.1)}, by="evidence")
    mode.save_csv(tmp_path / "mode.csv")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit:
        main(["compare", "mode.csv", "--evidence"])
    assert exit.value.code == 1 and "mode.csv has no log evidence" in capsys.readouterr().err


def test_what_is_no_fit_is_named():
    with pytest.raises(
        ppl.ArgumentError, match=r"compare\(\): b is a int, but must be a fit, chains or a Loo"
    ):
        ppl.compare({"b": 3})
