"""The words that options take are those of the tables behind them."""

import pytest

from ppl.cli.choices import Algorithm, Backend, Device, Estimator, Noise, Start, StepRule, Stop
from ppl.inference.estimators import ESTIMATORS
from ppl.inference.families.standard import STANDARDS
from ppl.inference.recipes import RECIPES
from ppl.inference.run.settings import STARTS
from ppl.inference.steps import STEPS
from ppl.inference.stopping import STOPPING
from ppl.results.arguments import tree as arguments
from ppl.results.arguments.tree import BACKENDS, DEVICES

TABLES = [
    (Algorithm, RECIPES),
    (Start, STARTS),
    (Estimator, ESTIMATORS),
    (StepRule, STEPS),
    (Stop, STOPPING),
    (Noise, STANDARDS),
    (Backend, BACKENDS),
    (Device, DEVICES),
]


@pytest.mark.parametrize(
    ("words", "table"),
    [
        (arguments.ESTIMATORS, ESTIMATORS),
        (arguments.STEPS, STEPS),
        (arguments.STOPPING, STOPPING),
        (arguments.STANDARDS, STANDARDS),
    ],
)
def test_words_of_arguments_and_table_agree(words, table):
    assert list(words) == list(table)


@pytest.mark.parametrize(("words", "table"), TABLES)
def test_words_and_table_agree(words, table):
    assert [str(word) for word in words] == list(table)
