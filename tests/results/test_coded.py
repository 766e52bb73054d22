"""Whatever a run may carry is found again in its checkpoint."""

import json
from typing import Any

import numpy as np
import pytest

from ppl.kernel.advi.families import FAMILIES, describe, family_from
from ppl.kernel.advi.families.marginal import Marginal, Point
from ppl.kernel.advi.families.standard import STANDARDS, StudentT
from ppl.kernel.advi.steps import STEPS
from ppl.kernel.advi.stopping import STOPPING
from ppl.run.state_json import decode, encode

PARTS: list[Any] = [
    *[make(3) for make in FAMILIES.values()],
    FAMILIES["lowrank"](9),
    Marginal(3, (0, 2), StudentT(7.0)),
    Point(2),
]


@pytest.mark.parametrize("family", PARTS, ids=lambda family: type(family).__name__)
def test_a_family_is_found_again_in_a_checkpoint_and_in_a_saved_fit(family):
    assert decode(json.loads(json.dumps(encode(family)))) == family
    assert family_from(json.loads(json.dumps(describe(family))), family.dim) == family


@pytest.mark.parametrize("name", STANDARDS)
def test_noise_is_found_again(name):
    assert decode(json.loads(json.dumps(encode(STANDARDS[name]())))) == STANDARDS[name]()


@pytest.mark.parametrize("name", STEPS)
def test_a_step_rule_goes_on_from_what_is_kept(name):
    rule, params, gradient = STEPS[name](0.1), np.array([1.0, -2.0]), np.array([0.5, 3.0])
    params, state = rule.step(rule.init(params), params, gradient)
    kept = decode(json.loads(json.dumps(encode(state))))
    assert type(kept) is type(state)
    np.testing.assert_array_equal(rule.step(kept, params, gradient)[0], rule.step(state, params, gradient)[0])


@pytest.mark.parametrize("name", STOPPING)
def test_a_stopping_rule_goes_on_from_what_is_kept(name):
    state = STOPPING[name](100, 10, 0.01).init()
    kept = decode(json.loads(json.dumps(encode(state))))
    assert type(kept) is type(state) and repr(kept) == repr(state)
