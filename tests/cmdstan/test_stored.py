"""The compilation that an executable holds is that of the program."""

import json
from pathlib import Path

import numpy as np
import pytest

from ppl.cmdstan.stored import FORMS, Stored, stored, stored_model
from ppl.cmdstan.stored_json import at, decoded, encoded
from ppl.compile import compile_model
from ppl.ir.draw_by_draw import DrawByDraw

MODELS = Path(__file__).parents[2] / "models"
COMPLEX = "parameters { real x; } generated quantities { complex z = x + 2i; print(z, 1e400); }"
NAMES = ("eight_schools", "election88", "stochastic_volatility", "gaussian_mixture", "influenza_sir")
PROGRAMS = [MODELS / name / f"{name}.model" for name in NAMES]


def read(value, source):
    return decoded(json.loads(json.dumps(encoded(value))), source)


@pytest.mark.parametrize("program", [*PROGRAMS, COMPLEX], ids=str)
def test_what_is_read_back_is_what_was_written(program):
    model = compile_model(program)
    assert read(model.lowered, model.source) == model.lowered
    for form in FORMS:
        try:
            emitted = model.code(form).emitted
        except DrawByDraw:
            continue
        assert read(emitted, model.source) == emitted


def test_a_model_read_back_computes_the_same():
    (program, data) = (MODELS / "eight_schools" / f"eight_schools.{end}" for end in ("model", "data.json"))
    model = compile_model(program)
    again = stored_model(program, stored(model), softplus=False)
    assert type(again.compilation) is Stored and again.calls_by_row == model.calls_by_row
    u = np.linspace(-1, 1, 10)
    one, other = (m.condition(data) for m in (model, again))
    assert one.log_density(u) == other.log_density(u)
    for a, b in zip(one.log_density_gradient(u, True), other.log_density_gradient(u, True), strict=True):
        assert np.array_equal(a, b)
    less, prior = other.without_prior("mu")
    assert less.log_density(u) != other.log_density(u) and prior.tolist() == [0]


def test_another_version_compiles_the_program():
    program = "parameters { real x; } model { x ~ normal(0, 1); }"
    record = {**json.loads(stored(compile_model(program))), "package": "another"}
    assert type(stored_model(program, json.dumps(record), softplus=True).compilation) is not Stored


def test_no_compilation_is_kept_of_sums_and_of_functions_made_for_a_program():
    mixture = "parameters { array[2] int<lower=1, upper=2> z; } model { z ~ categorical([0.5, 0.5]'); }"
    assert stored(compile_model(mixture)) == ""
    assert stored(compile_model(MODELS / "gp_poisson" / "gp_poisson.model")) == ""


def test_an_address_is_one_of_the_library():
    with pytest.raises(ValueError, match="is not in the library"):
        at("os:system")
