"""Gradient estimators of the ELBO."""

from ppl.inference.estimators.estimate import Estimator
from ppl.inference.estimators.reparameterised import reparameterised
from ppl.inference.estimators.score_function import black_box, score_function
from ppl.inference.estimators.sticking_the_landing import sticking_the_landing
from ppl.inference.estimators.stochastic_search import StochasticSearch

ESTIMATORS: dict[str, Estimator] = {
    "reparameterised": reparameterised,
    "sticking-the-landing": sticking_the_landing,
    "score-function": score_function,
    "black-box": black_box,
    "stochastic-search": StochasticSearch(),
}
