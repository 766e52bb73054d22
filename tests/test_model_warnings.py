"""Likely mistakes of a program that compiles, as Python warnings at the line that compiled it."""

import warnings

import pytest

import ppl

NEGATIVE_SCALE = "data { vector[3] y; } parameters { real m; real s; } model { y ~ normal(m, s); }"
SOUND = "data { vector[3] y; } parameters { real m; real<lower=0> s; } model { y ~ normal(m, s); }"


def warnings_of(program):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ppl.compile_model(program)
    return found


def test_a_scale_that_may_be_negative_is_warned_of_where_it_is_compiled():
    (found,) = warnings_of(NEGATIVE_SCALE)
    assert issubclass(found.category, ppl.ModelWarning) and issubclass(found.category, ppl.PPLWarning)
    assert found.filename == __file__
    text = str(found.message)
    assert text.startswith("<string>:1:") and "PPL010" in text and "Declare it with `<lower=0>`." in text


FLAT = "data { real x; } parameters { real a; } model { 1 ~ normal(a, 1); }"


@pytest.mark.parametrize("program", [SOUND, FLAT])
def test_what_is_sound_or_only_pedantic_is_not(program):
    """Data that are not used, and a parameter without a prior, are for `ppl check --pedantic`."""
    assert warnings_of(program) == []


def test_it_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ppl.ModelWarning)
        with pytest.raises(ppl.ModelWarning, match="PPL010"):
            ppl.compile_model(NEGATIVE_SCALE)


def test_copies_do_not_say_it_again():
    import pickle

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        pickle.loads(pickle.dumps(ppl.compile_model(NEGATIVE_SCALE)))
    assert len(found) == 1
