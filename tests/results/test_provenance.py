"""What files say of the fit that their draws come from."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from laws.toy import Toy

import ppl
from ppl.advice import Advice, in_python, in_shell
from ppl.cmdstan.job import Job
from ppl.cmdstan.methods import variational as method
from ppl.errors import DataError
from ppl.methods.diagnose.spread import Spread
from ppl.methods.diagnose.verdict import Level
from ppl.methods.diagnose.verdict_rules import DRAWS, OTHER_FORM, RUNS
from ppl.results.files.config import Config
from ppl.results.files.formats import save_draws
from ppl.results.files.provenance import Provenance, read_entries, worst_of
from ppl.results.files.readers import read_file
from ppl.results.fits.fit import load_fit, variational
from ppl.results.report.reading import verdict

ABOUT = Provenance(
    "meanfield", "fullrank", "resampled", -12.25, 0.01, "Converged: it did.", Level.GOOD, "Verdict: good."
)


@pytest.fixture(scope="module")
def fit():
    return variational(Toy(), draws=40, iter=200)


def test_entries_and_back():
    entries = ABOUT.entries()
    assert entries["fit_verdict"] == "good" and entries["fit_elbo"] == "-12.25"
    assert read_entries({**entries, "method": "variational"}) == ABOUT
    assert read_entries({**entries, "fit_elbo": "nan"}).elbo_se == 0.01


@pytest.mark.parametrize("backend", ["", "autograd, jax"])
def test_the_backend_is_told_where_it_is_known(backend):
    entries = replace(ABOUT, backend=backend).entries()
    assert entries.get("fit_backend", "") == backend and read_entries(entries).backend == backend


def test_the_backend_that_auto_chose_is_told():
    pytest.importorskip("jax")
    wide = "data { int N; vector[N] y; } parameters { real m; } model { m ~ normal(0, 1); y ~ normal(m, 1); }"
    posterior = ppl.compile_model(wide).condition({"N": 20_000, "y": np.arange(20_000) % 11_000 / 1e4})
    for settings, backend in (({}, "jax"), ({"backend": "autograd"}, "autograd")):
        fit = posterior.variational(algorithm="laplace", draws=10, **settings)
        assert fit.backend == backend and fit.provenance.entries()["fit_backend"] == backend


def test_advice_is_by_settings_in_python_and_by_options_in_files(toy):
    fit = variational(toy, algorithm="meanfield", draws=200, iter=1, start="random", refine=False)
    assert fit.verdict.level is Level.POOR
    advice = "omit algorithm, or add correct=True."
    assert fit.judgement.endswith(advice)
    assert fit.provenance.judgement.endswith("omit --algorithm, or add --correct.")


@pytest.mark.parametrize(("step", "option", "setting"), [
    (RUNS, "Compare independent runs: --runs 4.", "Compare independent runs: runs=4."),
    (DRAWS, "Use more draws (--draws).", "Use more draws (draws)."),
    (OTHER_FORM[0][1:], "`ppl sample`.", "`posterior.sample()`."),
    (("Use ", Advice("positive_transform", "softplus")), "Use --positive-transform softplus",
     'Use positive_transform="softplus"'),
])  # fmt: skip
def test_settings_in_the_words_of_each_reader(step, option, setting):
    assert (in_shell(step), in_python(step)) == (option, setting)


def test_a_file_that_says_less_says_nothing():
    entries = ABOUT.entries()
    del entries["fit_draws"]
    assert read_entries(entries) is None and read_entries({}) is None


@pytest.mark.parametrize(("name", "value"), [("fit_elbo", "high"), ("fit_verdict", "splendid")])
def test_values_that_cannot_be_are_refused(name, value):
    with pytest.raises(DataError, match=value):
        read_entries({**ABOUT.entries(), name: value})


def test_the_worst_is_the_first_of_those_believed_least():
    levels = (Level.GOOD, Level.POOR, Level.UNKNOWN, Level.POOR)
    assert worst_of([replace(ABOUT, verdict=level) for level in levels]) == 1


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".nc", ".parquet"])
def test_every_format_says_it_and_repeats(fit, tmp_path, suffix):
    pytest.importorskip("arviz")
    pytest.importorskip("pyarrow")
    contents = []
    for _ in range(2):
        save_draws(fit, tmp_path / f"o{suffix}", {"output.file": "o"})
        contents.append((tmp_path / f"o{suffix}").read_bytes())
    assert contents[0] == contents[1]
    found = read_file(tmp_path / f"o{suffix}")
    assert found.provenance == fit.provenance and len(found.columns) == 5
    assert found.provenance.draws == fit.verdict.made.value


def test_the_layout_of_the_sampler_says_it_too(fit, tmp_path):
    fit.save_csv(tmp_path / "o.csv", {"ppl.format": "sample"})
    assert read_file(tmp_path / "o.csv").provenance == fit.provenance


def test_arviz_and_xarray_have_it_among_the_attributes(fit):
    pytest.importorskip("arviz")
    for attributes in (fit.to_arviz().posterior.attrs, fit.draws_xr().attrs):
        assert attributes["inference_library"] == "ppl" and "created_at" not in attributes
        assert attributes["fit_judgement"] == fit.provenance.judgement
        assert attributes["fit_backend"] == "autograd"


def test_a_saved_fit_says_it_and_is_loaded(fit, toy, make_model, tmp_path):
    fit.save(tmp_path / "fit.json")
    record = json.loads((tmp_path / "fit.json").read_text())
    assert read_entries(record) == fit.provenance
    assert load_fit(tmp_path / "fit.json", make_model(), toy.data).provenance == fit.provenance


def test_runs_that_do_not_agree_are_not_forgotten(fit, toy, make_model, tmp_path):
    spread = Spread(2, np.array([1.0, 3.5]), (-1.0, -2.0))
    apart = replace(fit, result=replace(fit.result, verdict=replace(fit.verdict, spread=spread)))
    assert apart.verdict.level is Level.POOR
    apart.save(tmp_path / "fit.json")
    again = load_fit(tmp_path / "fit.json", make_model(), toy.data)
    assert again.judgement == apart.judgement and again.more(60).verdict.level is Level.POOR


def test_more_draws_say_it_of_themselves(fit, tmp_path):
    more = fit.more(60)
    save_draws(more, tmp_path / "more.csv")
    assert read_file(tmp_path / "more.csv").provenance == more.provenance


def test_the_executable_writes_it(toy, tmp_path):
    path = tmp_path / "o.csv"
    given = {
        "method": "variational",
        "variational.output_samples": 20,
        "output.file": str(path),
        "random.seed": 1,
    }
    assert method.run(Job(toy, Config("toy_model", {**given, "output.refresh": 0}))) == 0
    about = read_file(path).provenance
    assert about.algorithm == "auto" and about.judgement.startswith("Verdict: ")


def test_the_verdict_of_several_files_is_the_worst(fit, tmp_path):
    fit.save_csv(tmp_path / "1.csv")
    one = read_file(tmp_path / "1.csv")
    assert verdict([one]) == fit.provenance.judgement
    entries = replace(fit.provenance, verdict=Level.POOR, judgement="Verdict: poor: no.").entries()
    other = replace(one, path=Path("2.csv"), config={**one.config, **entries})
    assert verdict([one, other]) == "Verdict: poor: no. (That is 2.csv, the worst of 2 runs.)"


def test_an_older_npz_has_no_word_on_it(fit, tmp_path):
    save_draws(fit, tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as arrays:
        np.savez(tmp_path / "old.npz", **{name: arrays[name] for name in arrays.files if name != "fit__"})
    assert read_file(tmp_path / "old.npz").provenance is None
