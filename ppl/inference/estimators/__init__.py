"""Gradient estimators of the ELBO."""

from ppl.inference.estimators.estimate import Estimator
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.estimators.sticking_the_landing import sticking_the_landing

ESTIMATORS: dict[str, Estimator] = {
    "reparameterised": reparameterised,
    "sticking-the-landing": sticking_the_landing,
}
