"""A fit that is less than good names the non-centred form of its hierarchies."""

import ppl
from ppl.results.fits.notes import non_centred_forms

FUNNEL = "parameters { vector[9] x; real v; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"
TO_DO = (
    "With few data, try the non-centred form (`ppl fix`): declare `vector<multiplier=exp(v / 2)>[9] x;` "
    "(line 1). Move `x` below the parameters that the declaration uses."
)


def test_a_poor_fit_names_the_form_and_a_good_one_does_not() -> None:
    model = ppl.compile_model(FUNNEL)
    poor = model.condition({}).variational(algorithm="meanfield", seed=1, draws=100)
    assert poor.verdict.level.value == "poor" and poor.notes[-1] == TO_DO
    moved = ppl.compile_model(
        "parameters { real v; vector<multiplier=exp(v / 2)>[9] x; }"
        " model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }"
    )
    good = moved.condition({}).variational(seed=1, draws=100)
    assert good.verdict.level.value == "good" and not any("non-centred" in note for note in good.notes)


def test_without_a_hierarchy_there_is_none() -> None:
    assert (
        non_centred_forms(ppl.compile_model("parameters { vector[2] x; } model { x ~ normal(0, 1); }")) == ()
    )
