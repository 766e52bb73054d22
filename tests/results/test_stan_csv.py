import io
import re

import numpy as np
import pandas as pd
import pytest

from ppl.cmdstan.methods.variational import settings_of
from ppl.kernel.draws.stan_csv import WIDE_ROW, cell, csv_lines, line
from ppl.methods.recipes import RECIPES
from ppl.methods.run.setting import settings_of as settings_of_record
from ppl.methods.run.settings import Settings
from ppl.results.arguments.of_settings import given_of
from ppl.results.arguments.tree import PPL, leaves
from ppl.results.files.config import Config, comment_lines
from ppl.results.files.stan_csv import diagnostic_lines

GOLDEN = """\
# stan_version_major = 2
# stan_version_minor = 39
# stan_version_patch = 0
# model = toy_model
# method = variational
#   variational
#     algorithm = fullrank
#       fullrank
#     iter = 500
#     grad_samples = 1 (Default)
#     elbo_samples = 100 (Default)
#     eta = 1 (Default)
#     adapt
#       engaged = true (Default)
#       iter = 50 (Default)
#     tol_rel_obj = 0.01 (Default)
#     eval_elbo = 100 (Default)
#     output_samples = 2
# id = 1 (Default)
# data
#   file = toy.data.json
# init = 2 (Default)
# random
#   seed = 7
# output
#   file = output.csv (Default)
#   diagnostic_file =  (Default)
#   refresh = 100 (Default)
#   sig_figs = -1 (Default)
#   profile_file = profile.csv (Default)
#   save_cmdstan_config = false (Default)
# num_threads = 1 (Default)
# stanc_version = ppl 1.0.0
# stancflags = 
lp__,log_p__,log_g__,mu,L.1.1,L.2.1
# Stepsize adaptation complete.
# eta = 0.1
0,0,0,0.5,1,2
0,-1.25,-0.5,0.25,1e-300,nan
0,-inf,-2,-3,inf,0.1
"""

SETTINGS = Settings(algorithm="fullrank", iter=500, draws=2, seed=7, start="random")


def config_of(settings, eta=0.1):
    return Config("toy_model", {**given_of(settings, eta), "data.file": "toy.data.json"})


def toy_text():
    rows = np.array([[0.25, 1e-300, np.nan], [-3, np.inf, 0.1]])
    columns = ["mu", "L.1.1", "L.2.1"]
    mean, log_p, log_g = np.array([0.5, 1, 2]), np.array([-1.25, -np.inf]), np.array([-0.5, -2])
    return "".join(csv_lines(comment_lines(config_of(SETTINGS)), columns, 0.1, mean, log_p, log_g, rows))


def test_golden_text():
    """But for the group `ppl`, which grows with the settings."""
    assert re.sub(r"# ppl\n(#   .*\n)+", "", toy_text()) == GOLDEN


def test_what_cmdstan_has_no_word_for_stands_in_a_group_of_its_own():
    own = toy_text().partition("# ppl\n")[2].partition("# stanc_version")[0].splitlines()
    assert "#   start = random" in own and "#   refine = true (Default)" in own
    assert len(own) == len(PPL.parts)


def test_pandas_reads_it_back():
    frame = pd.read_csv(io.StringIO(toy_text()), comment="#")
    assert list(frame.columns) == ["lp__", "log_p__", "log_g__", "mu", "L.1.1", "L.2.1"]
    assert frame["mu"].tolist() == [0.5, 0.25, -3.0]
    assert np.isnan(frame["L.2.1"][1]) and frame["L.1.1"][2] == np.inf


@pytest.mark.parametrize("value", [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, 12345678901234567.0])
def test_cells_read_back_to_the_same_double(value):
    assert np.float64(float(cell(value))).tobytes() == np.float64(value).tobytes()


def test_a_given_eta_switches_the_search_off_but_keeps_the_eta_lines():
    settings = Settings(eta=0.25)
    text = "".join(
        csv_lines(comment_lines(config_of(settings, 0.25)), [], 0.25, *[np.zeros(0)] * 3, np.zeros((0, 0)))
    )
    assert "#     eta = 0.25\n" in text and "#       engaged = false\n" in text
    assert "# Stepsize adaptation complete.\n# eta = 0.25\n0,0,0\n" in text


def test_diagnostic_file():
    lines = list(diagnostic_lines(config_of(SETTINGS), [(100, 0.01234, -31.5), (200, 0.5, -np.inf)]))
    assert lines[-3:] == ["iter,time_in_seconds,ELBO\n", "100,0.012,-31.5\n", "200,0.500,-inf\n"]


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        Settings(),
        Settings(
            eta=0.25, init=0.5, rank=3, algorithm="lowrank", average=False, refine=False, jacobian=False
        ),
    ],
)
def test_settings_survive_the_way_to_arguments_and_back(settings):
    assert Settings(**settings_of(given_of(settings, settings.eta or 0.1))) == settings


def test_every_setting_and_every_algorithm_has_an_argument():
    arguments = dict(leaves())
    assert [name for name, known in settings_of_record(Settings).items() if known.path not in arguments] == []
    assert [group.name for group in arguments["variational.algorithm"].options] == list(RECIPES)


EACH = [
    {"iter": 7, "rank": 2, "minibatch": 3, "rows": "N", "correct": False, "move": True, "refine": False},
    {"stop": "fixed", "noise": "student_t", "jacobian": False, "init_scale": 0.5, "init": "start.json"},
]


@pytest.mark.parametrize("given", EACH)
def test_each_kind_of_setting_survives_the_way_to_arguments_and_back(given):
    settings = Settings(**given)
    assert Settings(**settings_of(given_of(settings, 0.1))) == settings


def test_wide_rows_read_back_to_the_same_doubles():
    """They are written by another library, which has no text for what is not finite."""
    values = [*np.random.default_rng(1).standard_cauchy(WIDE_ROW), 5e-324, 1e22, -0.0, 3.0, 1e-7]
    assert [float(text) for text in line(values).split(",")] == values
    text = line([*values, np.nan, np.inf, -np.inf])
    assert text.endswith(",nan,inf,-inf\n") and [float(each) for each in text.split(",")][:-3] == values
    assert ",3," in line(values) and line([3, np.float64(0.5)]) == "3,0.5\n"
