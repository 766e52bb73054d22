"""PSIS-LOO where the answer is known: a normal mean, whose posterior without a row is normal too."""

import numpy as np
import pytest
from scipy.stats import norm

import ppl
from ppl.cli.main import main
from ppl.results.files.arviz_versions import from_groups
from ppl.results.files.readers import read_file
from ppl.results.report.compare import compare
from ppl.results.report.log_lik import LogLik, in_files, of_draws
from ppl.results.report.loo import csv_lines, loo_of
from ppl.results.report.reading import reading
from ppl.results.report.stansummary import worst_khats

Y = np.array([0.3, -0.8, 1.1, 0.6, -0.2, 1.9, 0.4, -1.3])
NAMES = tuple(f"log_lik[{n}]" for n in range(1, 9))
PROGRAM = """
data { int N; vector[N] y; }
parameters { real mu; }
model { y ~ normal(mu, 1); }
"""
WITH = PROGRAM + "generated quantities { vector[N] ll; for (n in 1:N) ll[n] = normal_lpdf(y[n] | mu, 1); }"


def exact():
    """The ELPD of each row: the posterior without it is normal(mean of the others, 1 / 7)."""
    return np.array([norm.logpdf(y, np.delete(Y, n).mean(), np.sqrt(8 / 7)) for n, y in enumerate(Y)])


def at_draws(scale, n=4000):
    """The log likelihood at draws of a q that is `scale` times as wide as the posterior."""
    mean, sd = Y.mean(), np.sqrt(1 / 8)
    mu = np.random.default_rng(1).normal(mean, scale * sd, n)
    ratios = norm.logpdf(mu, mean, sd) - norm.logpdf(mu, mean, scale * sd)
    return LogLik(NAMES, norm.logpdf(Y, mu[:, None], 1), ratios)


@pytest.mark.parametrize("scale", [1, 0.9, 2, 4])
def test_the_elpd_is_that_of_leaving_rows_out(scale):
    loo = loo_of(at_draws(scale))
    assert loo.elpds == pytest.approx(exact(), abs=0.03)
    assert loo.elpd == pytest.approx(exact().sum(), abs=0.05) and loo.p_loo == pytest.approx(1.05, abs=0.1)
    assert loo.se == pytest.approx(np.sqrt(8) * exact().std(ddof=1), abs=0.05)


def test_without_the_ratios_a_wide_q_would_be_wrong():
    wide = at_draws(4)
    assert loo_of(LogLik(NAMES, wide.values, np.zeros(4000))).elpd < exact().sum() - 1


def test_arviz_agrees():
    pytest.importorskip("arviz")
    from laws import arviz

    found = at_draws(1, 1000)
    loo = loo_of(found)
    groups = {"posterior": {"x": np.zeros((1, 1000))}, "log_likelihood": {"y": found.values[None]}}
    elpds, khats, elpd, p_loo, threshold = arviz.loo(from_groups(groups, {}, {}))
    assert loo.elpds == pytest.approx(elpds, rel=1e-4 if arviz.ONE else 1e-6)
    assert loo.khats == pytest.approx(khats, abs=0.02 if arviz.ONE else 1e-6)
    assert (loo.elpd, loo.p_loo) == pytest.approx((elpd, p_loo), rel=1e-3 if arviz.ONE else 1e-6)
    assert loo.threshold == pytest.approx(threshold)


def test_rows_that_cannot_be_relied_on_are_named():
    values = at_draws(1, 1000).values.copy()
    values[:, 2] -= 5 * np.random.default_rng(2).standard_cauchy(1000) ** 2
    loo = loo_of(LogLik(NAMES, values, np.zeros(1000)))
    assert loo.bad == ("log_lik[3]",) and "above 0.667 in 1 of 8 rows: log_lik[3] " in loo.reading
    assert "is unreliable" in loo.reading and "1 k-hat above 0.667" in repr(loo)
    assert str(loo).split()[:3] == ["estimate", "SE", "elpd_loo"] and "<td>" in loo._repr_html_()
    assert [line.split(",")[0] for line in csv_lines(loo)] == ["row", *(f'"{name}"' for name in NAMES)]


def test_few_draws_tell_nothing():
    few = loo_of(at_draws(1, 20))
    assert "20 draws are too few" in few.reading and few.bad == NAMES and "k-hat unknown" in repr(few)
    found = compare({"few": few, "many": loo_of(at_draws(1))})
    assert "8 of few" in found.reading and "are unreliable" in found.reading
    assert "no k-hat is too high" not in found.reading and "unreliable by k-hat: few>" in repr(found)


def test_a_parameter_for_each_row_is_flagged_and_its_elpd_too_high():
    """The sd of the data is 1/4 of that of the effects: k-hat is 1 - 1/17, the exact ELPD is known."""
    rng, sd = np.random.default_rng(3), 0.25
    variance = 1 / (1 + 1 / sd**2)
    effects = Y * variance / sd**2 + rng.normal(0, np.sqrt(variance), (2000, 8))
    loo = loo_of(LogLik(NAMES, norm.logpdf(Y, effects, sd), np.zeros(2000)))
    assert len(loo.bad) == 8 and "unreliable and usually too high" in loo.reading
    assert loo.elpd > norm.logpdf(Y, 0, np.hypot(1, sd)).sum() + 0.5


def test_draws_without_it_are_left_out_and_infinite_ones_refused():
    columns, draws = ["log_lik.1", "log_lik.2"], np.full((50, 2), -1.0)
    draws[3] = np.nan
    found = of_draws(columns, draws, np.zeros(50), "log_lik", "fit")
    assert found.values.shape == (49, 2) and "1 of 50 draws were omitted" in found.notes[0]
    draws[4, 1] = -np.inf
    with pytest.raises(ppl.DataError, match=r"log_lik\[2\] is infinite at 1 of 49 draws"):
        of_draws(columns, draws, np.zeros(50), "log_lik", "fit")
    with pytest.raises(ppl.DataError, match="could not be computed at any draw"):
        of_draws(columns, draws[3:4], np.zeros(1), "log_lik", "fit")
    with pytest.raises(ppl.DataError, match="log_lik is one number in fit"):
        of_draws(["log_lik"], draws[:, :1], np.zeros(50), "log_lik", "fit")


@pytest.fixture(scope="module")
def fits():
    data = {"N": 8, "y": Y}
    return [ppl.compile_model(text).condition(data).variational(seed=1) for text in (WITH, PROGRAM)]


@pytest.mark.parametrize("correct", [False, True])
def test_a_fit_and_its_files_say_the_same(correct, tmp_path):
    text = WITH.replace("ll", "log_lik")
    posterior = ppl.compile_model(text).condition({"N": 8, "y": Y})
    fit = posterior.variational(algorithm="meanfield", seed=1, correct=correct)
    fit.save_csv(tmp_path / "a.csv")
    loo, read = fit.loo(), loo_of(in_files([read_file(tmp_path / "a.csv")]))
    assert loo.names == read.names and loo.elpds == pytest.approx(read.elpds, abs=1e-6)
    assert loo.elpd == pytest.approx(exact().sum(), abs=0.1)
    twice = loo_of(in_files([read_file(tmp_path / "a.csv")] * 2))
    assert twice.draws == 2000 and twice.elpd == pytest.approx(loo.elpd, abs=0.05)


def test_pathfinder_files_that_cmdstan_has_resampled_are_not_weighted_again(tmp_path):
    rows = "".join(f"{k % 7}.5,{k}.25,0.1,{-1 - k % 3}.5\n" for k in range(100))
    head = "# method = pathfinder\n#   pathfinder\n#     psis_resample = {} (Default)\n"
    for resampled in ("true", "false"):
        text = head.format(resampled) + f"lp_approx__,lp__,mu,log_lik.1\n{rows}"
        (tmp_path / f"{resampled}.csv").write_text(text)
    weighted, again = (in_files([read_file(tmp_path / f"{name}.csv")]) for name in ("false", "true"))
    assert weighted.log_ratios.any() and not again.log_ratios.any()
    files = {name: read_file(tmp_path / f"{name}.csv") for name in ("false", "true")}
    assert len(worst_khats([files["false"]])) and not len(worst_khats([files["true"]]))
    assert reading([files["true"]], ("mu",)).startswith(
        "The algorithm corrects these draws towards the posterior"
    )


def test_a_program_without_it_is_told_what_to_add(fits, tmp_path, capsys):
    with pytest.raises(ppl.DataError, match=r"generated quantities \{\n    vector") as refused:
        fits[1].loo(log_lik="ll")
    assert "normal_lpdf" in str(refused.value) and "ppl generate" not in str(refused.value)
    assert fits[0].loo(log_lik="ll").elpd == pytest.approx(exact().sum(), abs=0.1)
    fits[1].save_csv(tmp_path / "without.csv")
    fits[0].save_csv(tmp_path / "with.csv")
    with pytest.raises(SystemExit) as exit:
        main(["loo", str(tmp_path / "without.csv")])
    output = capsys.readouterr().err
    assert exit.value.code == 1 and "\n    vector[N] log_lik;\n" in output and "--log-lik NAME" in output
    with pytest.raises(SystemExit) as exit:
        main(["loo", str(tmp_path / "with.csv"), "--log-lik", "ll", "--csv", str(tmp_path / "rows.csv")])
    output = capsys.readouterr().out
    assert not exit.value.code and output.startswith("Verdict: ") and "\nelpd_loo " in output
    assert max(map(len, output.splitlines())) <= 80 and "in all 8 rows" in output
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 9
