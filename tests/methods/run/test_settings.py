"""The table of settings: what each takes, and that names written out are those of the tables behind them."""

from typing import get_args

import numpy as np
import pytest

from ppl.errors import InferenceError
from ppl.kernel.advi.estimators import ESTIMATORS
from ppl.kernel.advi.families.standard import STANDARDS
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.stopping import STOPPING
from ppl.methods.recipes import RECIPES
from ppl.methods.run import settings
from ppl.methods.run.setting import settings_of
from ppl.methods.run.settings import ALGORITHMS, Settings


@pytest.mark.parametrize(
    ("names", "table"),
    [
        (settings.Algorithm, RECIPES),
        (settings.Algorithm, ALGORITHMS),
        (settings.Estimator, ESTIMATORS),
        (settings.StepRule, STEPS),
        (settings.Stop, STOPPING),
        (settings.Noise, STANDARDS),
    ],
)
def test_names_are_those_of_the_table_in_its_order(names, table):
    assert list(get_args(names)) == list(table)


@pytest.mark.parametrize(
    ("name", "bad", "expected"),
    [
        ("iter", 0, "an integer of at least 1."),
        ("iter", True, "an integer of at least 1."),
        ("draws", -1, "an integer of at least 0."),
        ("rank", 1.5, "an integer of at least 1, or none."),
        ("eta", 0, "a number above 0, or none."),
        ("tol_rel_obj", float("inf"), "a number above 0."),
        ("average", "no", "True or False."),
        ("correct", 1, "True or False, or none."),
        ("rows", 3, "the name of a variable of the program, or none."),
        ("backend", "torch", "one of auto, autograd, jax."),
        ("stop", "never", f"one of {', '.join(STOPPING)}, or none."),
        ("init", -1.0, "a radius of at least 0, the path of a file, or values by the names of parameters."),
        ("init", [1.0], "a radius of at least 0, the path of a file, or values by the names of parameters."),
    ],
)
def test_a_value_out_of_range_is_refused_with_the_range(name, bad, expected):
    with pytest.raises(InferenceError) as caught:
        Settings(**{name: bad})
    assert str(caught.value) == f"{name} = {bad!r} is out of range; expected {expected}"


@pytest.mark.parametrize("known", settings_of(Settings).values(), ids=lambda known: known.name)
def test_every_setting_has_one_short_sentence_and_a_default_in_range(known):
    known.check(known.default)
    assert known.about[0].isupper() and len(known.about) <= 60
    assert bool(known.unset) <= known.optional


@pytest.mark.parametrize("record", [Settings, settings.SampleSettings, settings.SbcSettings])
def test_numbers_of_numpy_are_taken_as_python_ones(record):
    numbers = {bool: [True, False], int: [3], float: [0.5]}
    for known in settings_of(record).values():
        for kind, values in numbers.items():
            for value in filter(known.kind.holds, values):
                taken = getattr(record(**{known.name: np.array([value])[0]}), known.name)
                assert type(taken) is kind and taken == value, known.name
