"""A fit that would not fit in memory is refused before it begins."""

import pytest

import ppl
from ppl import memory
from ppl.errors import InferenceError
from ppl.inference.run.settings import Settings
from ppl.results.fits import memory_needed as needs
from ppl.results.fits.memory_needed import columns_of, numbers_of


def conditioned(program):
    return ppl.compile_model(program).condition({})


@pytest.mark.parametrize(
    "program",
    [
        "parameters { real x; } model { }",
        "parameters { array[2] tuple(vector[3], array[2] real) t; simplex[4] s; } model { } "
        "generated quantities { matrix[2, 3] m; array[3] int k; }",
        "model { }",
    ],
)
def test_columns_are_counted_without_their_names(program):
    posterior = conditioned(program)
    assert columns_of(posterior) == posterior.param_num(include_tp=True, include_gq=True)


MANY = conditioned("parameters { vector[20000] x; } model { x ~ normal(0, 1); }")


def test_draws_matrices_and_columns_count():
    few, many = (numbers_of(MANY, Settings(draws=n)) for n in (100, 1100))
    assert many - few == 1000 * (2 * 20_000 + 20_000)
    assert numbers_of(MANY, Settings(algorithm="fullrank")) - numbers_of(MANY, Settings()) == 6 * 20_000**2


@pytest.mark.parametrize(
    ("settings", "advice"),
    [({"algorithm": "fullrank"}, "--algorithm meanfield"), ({"draws": 100_000}, "fewer draws than 100000")],
)
def test_a_fit_too_large_is_refused_at_once(settings, advice, monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([4 << 30]))
    with pytest.raises(
        InferenceError, match=f"20000 unconstrained.*of memory, and 4.0 GiB are free[.]\n.*{advice}"
    ) as no:
        MANY.variational(**settings)
    assert no.value.code == "PPL977"


def test_what_a_path_keeps_is_what_the_search_for_a_start_allows():
    from ppl.inference.initialise import lbfgs_path

    assert lbfgs_path.LBFGS_PATH is needs.LBFGS_PATH
