"""Gradient estimators of the ELBO."""

from ppl.kernel.advi.estimators.reparameterised import Estimator, reparameterised, sticking_the_landing
from ppl.kernel.advi.estimators.stochastic_search import StochasticSearch, black_box, score_function

ESTIMATORS: dict[str, Estimator] = {
    "reparameterised": reparameterised,
    "sticking-the-landing": sticking_the_landing,
    "score-function": score_function,
    "black-box": black_box,
    "stochastic-search": StochasticSearch(),
}
