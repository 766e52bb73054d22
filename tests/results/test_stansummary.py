from dataclasses import replace

import numpy as np
import pytest

from ppl.methods.diagnose.psis import psis
from ppl.results.files.readers import read_all
from ppl.results.fits.fit import variational
from ppl.results.report.stansummary import as_text, csv_lines, headings, stansummary, stated
from ppl.results.report.style import USUAL, TableStyle


@pytest.fixture
def runs(toy, tmp_path):
    for seed in (1, 2):
        variational(toy, algorithm="meanfield", seed=seed, draws=400, resample=False, move=False).save_csv(
            tmp_path / f"{seed}.csv"
        )
    return read_all([tmp_path / "1.csv", tmp_path / "2.csv"])


def test_the_figures_of_a_column(runs):
    mu = np.concatenate([run.draws[:, 0] for run in runs])
    line = stansummary(runs)[0]
    figures = dict(zip(headings(USUAL, runs), line.figures, strict=True))
    assert line.name == "mu" and figures["Mean"] == mu.mean() and figures["StdDev"] == np.std(mu, ddof=1)
    assert figures["MAD"] == 1.4826 * np.median(np.abs(mu - np.median(mu)))
    assert figures["95%"] == np.quantile(mu, 0.95)
    assert figures["MCSE"] == pytest.approx(figures["StdDev"] / np.sqrt(mu.size), rel=0.3)
    assert figures["k_hat"] < 0.7 and figures["R_hat"] < 1.1


def test_k_hat_of_a_column_is_never_below_that_of_the_file(runs):
    overall = max(psis(run.log_ratios).khat for run in runs)
    assert all(line.figures[-1] >= overall for line in stansummary(runs))


def test_a_column_of_nan_has_no_figures_and_harms_no_other(runs):
    runs[0].draws[:, 1] = np.nan
    lines = stansummary(runs[:1])
    assert np.isnan(lines[1].figures[:-1]).all() and np.isfinite(lines[0].figures).all()


def test_a_column_that_never_varies_has_an_sd_of_zero(runs):
    still = [replace(run, draws=np.full_like(run.draws, 0.1)) for run in runs]
    mean, _, sd, mad, *_ = stansummary(still)[0].figures
    assert (mean, sd, mad) == (0.1, 0.0, 0.0)


@pytest.mark.parametrize("width", [40, 80])
def test_no_line_is_longer_than_the_screen_and_nothing_is_cut(runs, width):
    names = headings(USUAL, runs)
    lines = list(as_text(stansummary(runs), names, 3, width))
    assert max(map(len, lines)) <= width and {*names} <= {*" ".join(lines).split()}
    assert sum(line.startswith(f"{runs[0].columns[0]} ") for line in lines) == lines.count("") + 1


def test_the_csv_keeps_full_precision(runs):
    lines = stansummary(runs)
    header, first, *_ = csv_lines(lines, headings(USUAL, runs))
    assert header == "name,Mean,MCSE,StdDev,MAD,5%,50%,95%,ESS_bulk,ESS_tail,R_hat,k_hat\n"
    assert tuple(map(float, first.split(",")[1:])) == lines[0].figures


def test_what_is_summarised_is_stated(runs):
    assert stated(runs).startswith("2 runs of toy_model (variational), 400 draws each; k-hat ")


def test_draws_that_are_nan_are_counted_and_left_out(runs):
    style = TableStyle(quantiles=(0.5,))
    assert "nan draws" not in headings(style, runs)
    runs[0].draws[:3, 1] = np.nan
    names, lines = headings(style, runs), stansummary(runs, style)
    counts = [dict(zip(names, line.figures, strict=True))["nan draws"] for line in lines]
    assert counts[:2] == [0, 3] and np.isfinite(lines[1].figures[0])
