import json
import logging
import re

import numpy as np
import pandas as pd
import pytest
from laws.toy import Toy

from ppl.errors import DataError, InferenceError, OutOfRange, UnknownSetting
from ppl.kernel.advi.outcome import Ending
from ppl.results.fits.fit import load_fit, variational
from ppl.source import SourceText

QUICK = {"iter": 1000, "draws": 500, "eta": 0.3, "seed": 3}


@pytest.fixture(scope="module")
def fit():
    return variational(Toy(), **QUICK)


def test_draws_follow_the_posterior(fit):
    assert fit.column_names == ("mu", "tau", "theta.1", "theta.2", "y_rep")
    assert fit.draws().shape == (500, 5)
    assert fit.summary()["mu"].mean == pytest.approx(1.0, abs=0.25)
    assert np.array_equal(fit.stan_variable("theta"), fit.draws()[:, :2])
    assert fit.stan_variable("mu").shape == (500,)


def test_a_summary_of_some_variables_has_the_rows_of_the_whole_one(fit):
    whole = fit.summary()
    assert fit.summary("theta").rows == whole.rows[2:4] and fit.summary(["theta[2]", "mu"]).rows == (
        whole["mu"],
        whole["theta.2"],
    )
    with pytest.raises(DataError, match="no variable eta"):
        fit.summary("eta")


def test_a_frame_is_a_copy(fit):
    frame, draws = fit.draws_pd(), fit.draws().copy()
    frame.iloc[:, :] = 0.0
    assert np.array_equal(fit.draws(), draws)


def test_mean_row_is_the_constrained_mean(fit):
    u = fit.result.mean_u
    assert fit.at_mean()[:2] == pytest.approx([u[0], np.exp(u[1])])


def test_repr_is_one_line(fit):
    assert repr(fit).startswith("<Fit of toy.model: auto, draws resampled, good, ")
    assert "500 draws of 5 columns" in repr(fit) and "\n" not in repr(fit)


def test_elbo_and_its_trace(fit):
    assert fit.elbo == pytest.approx(0, abs=0.3)  # a normal target with all constants: the bound is log 1
    assert fit.elbo_trace[:, 0].tolist() == list(range(100, fit.result.path.iterations + 1, 100))
    assert fit.eta == 0.3 and fit.elbo_se > 0


def test_same_seed_same_bytes(toy, fit, tmp_path):
    fit.save_csv(tmp_path / "a.csv")
    variational(toy, **QUICK).save_csv(tmp_path / "b.csv")
    first, second = ((tmp_path / name).read_text() for name in ("a.csv", "b.csv"))
    assert first == second.replace("b.csv", "a.csv")


def test_another_seed_another_answer(toy, fit):
    assert not np.array_equal(variational(toy, **{**QUICK, "seed": 4}).draws(), fit.draws())


def test_csv_reads_back_exactly(fit, tmp_path):
    fit.save_csv(tmp_path / "o.csv", {"data.file": "d.json"})
    assert "#   file = d.json\n" in (tmp_path / "o.csv").read_text()
    frame = pd.read_csv(tmp_path / "o.csv", comment="#")
    assert list(frame.columns) == ["lp__", "log_p__", "log_g__", *fit.column_names]
    assert np.array_equal(frame[list(fit.column_names)].to_numpy(), np.vstack([fit.at_mean(), fit.draws()]))
    assert np.array_equal(frame["log_p__"][1:], fit.result.log_p) and frame["log_p__"][0] == 0
    drawn = fit.draws_pd()
    assert list(drawn.columns) == ["mu", "tau", "theta[1]", "theta[2]", "y_rep"]
    assert np.array_equal(drawn.to_numpy(), frame.iloc[1:, 3:].to_numpy())


def test_diagnostics_file(fit, tmp_path):
    fit.save_diagnostics(tmp_path / "d.csv")
    frame = pd.read_csv(tmp_path / "d.csv", comment="#")
    assert list(frame.columns) == ["iter", "time_in_seconds", "ELBO"]
    assert np.allclose(frame["ELBO"], fit.elbo_trace[:, 1])


def test_a_failing_draw_loses_only_its_own_cells(toy, make_model, fit):
    torn = variational(make_model(floor=1.0).condition(toy.data), **QUICK)
    low = torn.draws()[:, 0] < 1.0
    assert 0 < low.sum() < len(low)
    assert np.isnan(torn.draws()[low, 4]).all() and np.isfinite(torn.draws()[:, :4]).all()
    assert np.array_equal(torn.draws()[~low], fit.draws()[~low])  # the rest is untouched
    assert "y_rep" not in torn.notes[-1] and "normal_rng: mu is too low" in torn.notes[-1]
    assert fit.notes == ()


def test_more_draws_are_new_and_repeatable(fit):
    more = fit.sample(300)
    assert more.shape == (300, 5)
    assert np.array_equal(more, fit.sample(300)) and not np.array_equal(more, fit.sample(300, seed=9))
    assert not np.isin(more[:, 0], fit.draws()[:, 0]).any()
    assert np.array_equal(more, fit.more(300).draws())


@pytest.mark.rotate
def test_init_from_values_and_from_a_file(toy, tmp_path):
    values, few = {"mu": 2.0, "tau": 3.0}, {**QUICK, "iter": 100}
    (tmp_path / "init.json").write_text(json.dumps(values))
    for init in (values, str(tmp_path / "init.json"), tmp_path / "init.json"):
        assert variational(toy, **few, init=init).result.path.start == pytest.approx([2.0, np.log(3.0)])
    assert variational(toy, **few, init=0).result.path.start.tolist() == [0, 0]


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_init_file_that_is_no_object(toy, tmp_path, text):
    (tmp_path / "init.json").write_text(text)
    with pytest.raises(DataError, match=r"init\.json"):
        variational(toy, init=tmp_path / "init.json")


def test_a_setting_out_of_range_or_unknown(toy):
    with pytest.raises(InferenceError, match="grad_samples"):
        variational(toy, grad_samples=0)
    with pytest.raises(TypeError, match="itre"):
        variational(toy, itre=5)


def test_saved_fit_comes_back_the_same(toy, fit, make_model, tmp_path):
    fit.save(tmp_path / "fit.json")
    again = load_fit(tmp_path / "fit.json", make_model(), toy.data)
    assert np.array_equal(again.draws(), fit.draws()) and np.array_equal(again.at_mean(), fit.at_mean())
    assert np.array_equal(again.elbo_trace, fit.elbo_trace) and again.outcome == fit.outcome
    for name in ("eta", "elbo", "elbo_se", "settings", "notes"):
        assert getattr(again, name) == getattr(fit, name)
    assert np.array_equal(again.result.log_p, fit.result.log_p)
    assert np.array_equal(again.result.log_g, fit.result.log_g)


def test_load_refuses_other_data_and_another_program(toy, fit, make_model, tmp_path):
    path = tmp_path / "fit.json"
    fit.save(path)
    with pytest.raises(DataError, match="other data"):
        load_fit(path, make_model(), {"N": 2, "y": [1.0, 2.5]})
    with pytest.raises(DataError, match="another positive transform"):
        load_fit(path, make_model(softplus=True), toy.data)
    with pytest.raises(DataError, match="another program"):
        load_fit(path, make_model(SourceText("parameters { real mu; }")), toy.data)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "other"}'])
def test_load_refuses_what_is_no_fit(toy, make_model, tmp_path, text):
    (tmp_path / "fit.json").write_text(text)
    with pytest.raises(DataError, match="not a saved fit"):
        load_fit(tmp_path / "fit.json", make_model(), toy.data)


def test_data_order_and_container_do_not_matter_to_load(toy, fit, make_model, tmp_path):
    fit.save(tmp_path / "fit.json")
    load_fit(tmp_path / "fit.json", make_model(), {"y": np.array([1, 2]), "N": 2.0, "extra": "words"})


def test_after_a_timeout_there_is_the_fit_so_far(toy):
    fit = variational(toy, timeout=1e-9, draws=50)
    assert fit.outcome.sentence.startswith("Interrupted: stopped after timeout = 1e-09 s.")
    assert "the run was stopped after timeout = 1e-09 s" in fit.judgement
    assert np.isfinite(fit.draws()).all() and fit.level != "good"
    assert variational(toy, timeout=1e9, algorithm="laplace").outcome.ending is not Ending.INTERRUPTED
    with pytest.raises(OutOfRange, match="seconds above 0"):
        variational(toy, timeout=0)


def test_stages_are_told_to_the_logger(toy, caplog):
    with caplog.at_level(logging.DEBUG, logger="ppl"):
        variational(toy, algorithm="meanfield", iter=100, draws=20)
    stages = [record.getMessage().partition(":")[0] for record in caplog.records if record.name == "ppl"]
    assert "Pathfinder" in stages and "importance sampling" in stages


def test_a_seed_of_none_is_another_each_time(toy):
    one, other = (variational(toy, algorithm="laplace", draws=5, seed=None) for _ in range(2))
    again = variational(toy, algorithm="laplace", draws=5, seed=one.settings.seed)
    assert (again.draws() == one.draws()).all() and (other.draws() != one.draws()).all()


@pytest.mark.parametrize(
    ("keyword", "words"),
    [("inits", "write init=1."), ("output_samples", "write draws=1."), ("data", "model.condition")],
)
def test_names_of_cmdstanpy_are_told_the_ones_here(toy, keyword, words):
    with pytest.raises(UnknownSetting, match=re.escape(words)):
        variational(toy, **{keyword: 1})
