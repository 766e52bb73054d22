"""What the papers' experiments compute by themselves, against finite differences, quadrature and draws."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.special import polygamma, psi
from scipy.stats import beta, norm

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")

PAPERS = Path(__file__).parents[2] / "models" / "papers"
C = np.array([0.2, 0.5, 1.0, 3.0, 9.0, 20.0])


@pytest.fixture(autouse=True)
def on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(PAPERS))


def test_the_exact_logistic_bound_has_its_gradient_and_is_the_mean_over_draws():
    from frame.exact_logistic import ExactBound

    rng = np.random.default_rng(1)
    bound = ExactBound(rng.standard_normal((20, 3)), (rng.random(20) < 0.5).astype(float), 2.0)
    below = np.tril_indices(3)
    params = np.concatenate([rng.standard_normal(3), np.eye(3)[below] + 0.2])
    mu, c = bound.unpack(params)
    value, in_mu, in_c = bound.value_gradient(mu, c)
    numeric = approx_fprime(params, lambda p: bound.value(*bound.unpack(p)), 1e-6)
    assert_allclose(np.concatenate([in_mu, in_c[below]]), numeric, atol=2e-5)
    theta = mu + rng.standard_normal((100_000, 3)) @ c.T
    log_p = -np.logaddexp(0, -theta @ bound.signed.T).sum(axis=1)
    log_p -= 0.5 * (theta**2).sum(axis=1) / 4 + 1.5 * np.log(8 * np.pi)
    entropy = np.log(np.diag(c)).sum() + 1.5 * (1 + np.log(2 * np.pi))
    assert abs(log_p.mean() + entropy - value) < 4 * log_p.std() / np.sqrt(len(log_p))


@pytest.mark.rotate
def test_the_rule_ends_a_run_where_a_fit_with_stans_defaults_ends():
    from ppl import compile_model

    from frame.fits import FROM_ZERO, rule_stops

    program = "data { vector[50] y; } parameters { real mu; real<lower=0> s; } model { y ~ normal(mu, s); }"
    posterior = compile_model(program).condition({"y": np.random.default_rng(8).normal(40.0, 3.0, 50)})
    settings = {**FROM_ZERO, "algorithm": "meanfield", "eta": 0.1, "iter": 3000, "draws": 1}
    whole = posterior.variational(**settings, stop="fixed").elbo_trace
    ended = posterior.variational(**settings)
    window = 3000 // (10 * 100)
    assert ended.outcome.converged and whole[-1, 0] == 3000 > ended.elbo_trace[-1, 0]
    assert rule_stops(whole, window) == ended.elbo_trace[-1, 0]
    assert rule_stops(whole[: window + 1], window) is None


def test_l_bfgs_ends_where_the_exact_bound_has_no_slope():
    from frame.exact_logistic import ExactBound

    rng = np.random.default_rng(2)
    bound = ExactBound(rng.standard_normal((40, 2)), (rng.random(40) < 0.5).astype(float))
    _, in_mu, in_c = bound.value_gradient(*bound.best())
    assert_allclose(np.concatenate([in_mu, in_c.ravel()]), 0, atol=1e-3)


def terms():
    from stochastic_search.top_level import Terms

    return Terms(1.0, 10.0, 50, np.random.default_rng(3).standard_normal(len(C)) * 20 - 100)


@pytest.mark.parametrize("marginal", [True, False])
def test_the_stochastic_gradient_of_the_top_level_is_unbiased(marginal):
    from stochastic_search.top_level import bound, exact, log_draws, noisy

    noise = noisy(terms(), C, log_draws(C, 40_000, np.random.default_rng(4)), marginal)
    numeric = approx_fprime(C, lambda c: bound(terms(), c), 1e-6)
    se = noise.rows.std(axis=0) / np.sqrt(len(noise.rows))
    assert np.all(np.abs(exact(terms(), C) + noise.gradient - numeric) < 4 * se + 1e-4 * np.abs(numeric))


def test_the_control_variate_and_the_beta_marginal_each_take_noise_away():
    from stochastic_search.top_level import log_draws, noisy

    log_p = log_draws(C, 4000, np.random.default_rng(5))
    both, control, marginal, neither = (
        noisy(terms(), C, log_p, *ways).variance
        for ways in ((True, True), (False, True), (True, False), (False, False))
    )
    assert 10 * both < min(control, marginal) and max(control, marginal) < neither


def test_draws_of_a_dirichlet_in_log_space_have_its_moments_and_small_shapes_stay_finite():
    from stochastic_search.top_level import log_draws

    log_p = log_draws(C, 50_000, np.random.default_rng(6))
    assert_allclose(log_p.mean(axis=0), psi(C) - psi(C.sum()), atol=0.1)
    assert_allclose(np.exp(log_p).mean(axis=0), C / C.sum(), rtol=0.05)
    assert_allclose(np.exp(log_p[:, -1]).std(), beta(C[-1], C[:-1].sum()).std(), rtol=0.02)
    assert np.isfinite(log_draws(np.array([1e-5, 1.0]), 1000, np.random.default_rng(7))).all()


def test_the_natural_gradient_solves_with_the_fisher_information():
    from stochastic_search.top_level import natural

    fisher = np.diag(polygamma(1, C)) - polygamma(1, C.sum())
    gradient = np.arange(1.0, len(C) + 1)
    assert_allclose(natural(C, gradient), np.linalg.solve(fisher, gradient), rtol=1e-9)


def test_coordinate_ascent_of_the_topics_raises_the_bound():
    from stochastic_search.top_level import Terms, given_point
    from stochastic_search.topics import begin, below, fit, simulated

    corpus, k = simulated(20, words=40, topics=3), 4
    begun = begin(corpus, 2.0, k)

    def whole(rounds):
        found = fit(corpus, 2.0, begun, lambda s, t, top: top, rounds)
        return below(corpus, found) + given_point(Terms(1.0, 2.0, 20, found.sums), np.full(k, 1 / k))

    bounds = [whole(rounds) for rounds in (1, 3, 10, 30)]
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0]


def corpus_of(*documents):
    from scipy.sparse import csr_matrix
    from stochastic_search.topics import Corpus

    return Corpus(csr_matrix(np.array(documents)))


def test_the_evidence_of_all_corpora_of_one_size_adds_to_one():
    from stochastic_search.enumeration import log_evidence

    whole = 0.0
    for words in product(range(2), repeat=4):
        counts = np.zeros((2, 2), dtype=int)
        np.add.at(counts, (np.array([0, 0, 0, 1]), np.array(words)), 1)
        whole += np.exp(log_evidence(corpus_of(*counts), 1.0, 3.0, 2))
    assert whole == pytest.approx(1.0, rel=1e-12)


@pytest.mark.rotate
@pytest.mark.parametrize("b", [1.0, 15.0])
def test_the_evidence_is_the_mean_over_the_prior_of_that_given_a_top_level(b):
    from stochastic_search.enumeration import log_evidence, log_evidence_given

    corpus, prior = corpus_of([2, 1], [0, 3]), beta(0.5, 0.5)
    # p = sin^2(angle) takes the arcsine density of Beta(1/2, 1/2) to a constant.
    p = np.sin((np.arange(200) + 0.5) * np.pi / 400) ** 2
    assert_allclose(prior.cdf(p), (np.arange(200) + 0.5) / 200, rtol=1e-9)
    given = [np.exp(log_evidence_given(corpus, np.array([x, 1 - x]), b)) for x in p]
    assert log_evidence(corpus, 1.0, b, 2) == pytest.approx(np.log(np.mean(given)), rel=1e-7)


def test_the_bounds_of_six_words_are_below_their_evidence():
    from stochastic_search.six_words import beside

    found = beside("mixed", 5.0, rounds=40, starts=1)
    assert found.dirichlet < found.evidence < 0 and found.uniform < found.evidence_uniform < 0


def test_the_control_variate_of_a_bound_is_the_same_function_in_other_coordinates():
    from stochastic_search.jaakkola_jordan import JaakkolaJordan
    from stochastic_search.search import InCoordinates

    from ppl.kernel.advi.coordinates import Scaled
    from ppl.kernel.advi.families.full_rank import FullRank

    rng = np.random.default_rng(8)
    x, y = rng.standard_normal((15, 2)), np.arange(15.0) % 2
    centre, factor = np.array([0.5, -1.0]), np.array([[0.7, 0.0], [0.2, 0.4]])
    control, family = JaakkolaJordan(x, y), FullRank(2)
    scaled, params = Scaled(None, centre, factor), family.start(np.array([0.1, 0.2]), 0.8)
    v = rng.standard_normal((5, 2))
    here = InCoordinates(control, centre, factor)(scaled, family, params).values(v)
    there = control(None, family, family.push_forward(params, centre, factor)).values(scaled.to_u(v))
    assert_allclose(here, there + scaled.log_jacobian, rtol=1e-10)


def test_the_log_density_of_a_mixture_is_that_of_its_weighted_components():
    from advi.image_mixture import log_components, log_mixture

    rng = np.random.default_rng(9)
    y, theta = rng.standard_normal((6, 4)), rng.dirichlet(np.ones(3))
    mu, sigma = rng.standard_normal((3, 4)), rng.gamma(5.0, 0.2, size=(3, 4))
    each = norm.logpdf(y[:, None], mu, sigma).sum(axis=2) + np.log(theta)
    assert_allclose(log_components(y, theta, mu, sigma), each, rtol=1e-10)
    assert_allclose(log_mixture(y, theta, mu, sigma), np.log(np.exp(each).sum(axis=1)), rtol=1e-10)


def test_a_bound_is_better_in_general_in_three_cases_of_four():
    from stochastic_search.hdp import better, in_general

    assert in_general([1.0, 2.0, -3.0, 4.0]) and not in_general([1.0, 2.0, -3.0])
    assert better([1.0, 20.0, -300.0]) == "It does in 2 of 3 cases, -300 to +20 nats apart."


def test_a_row_on_the_wrong_side_is_hard_in_every_split_that_tests_it():
    from dsvi.datasets import Labelled
    from dsvi.random_splits import spreads

    rng = np.random.default_rng(10)
    y = np.arange(30.0) % 2
    x = rng.standard_normal((30, 3)) * 0.1 + np.where(y > 0, 1.0, -1.0)[:, None]
    y[4] = 1 - y[4]
    tested = sum(4 in np.random.default_rng(seed).permutation(30)[20:] for seed in range(12))
    assert 0 < tested < 12
    for found in spreads(Labelled(x, y), 20, 12):
        assert list(np.flatnonzero(found.hard)) == [4]
        assert found.at_most(0) == 12 - tested and found.at_most(1) == 12


def test_every_training_row_is_held_out_in_one_fold():
    from dsvi.large_scale import Halves, folds

    x, y = np.arange(23.0)[:, None], np.arange(23.0) % 2
    parts = folds(Halves(x, y, x[:1], y[:1]), 5)
    assert sorted(np.concatenate([p.test_x[:, 0] for p in parts])) == list(range(23))
    for part in parts:
        assert sorted([*part.x[:, 0], *part.test_x[:, 0]]) == list(range(23))
        assert_allclose(part.y, part.x[:, 0] % 2)


def test_a_difference_over_the_same_rows_has_its_standard_error():
    from dsvi.large_scale import paired

    ours, theirs = np.array([1.0, 0, 1, 0, 0]), np.array([0.0, 0, 1, 0, 1])
    assert paired(ours, theirs) == (0.0, pytest.approx(np.sqrt(2 / 4 / 5)))
    assert paired(ours, np.zeros(5)) == (pytest.approx(0.4), pytest.approx(np.sqrt(0.3 / 5)))


def test_distances_are_of_the_means_over_splits_and_rhat_sees_chains_apart():
    from dsvi.gp_hyperparameters import BESIDE, SECOND, Fitted, Problem, distances

    rng = np.random.default_rng(11)

    def fits(smse, nlpd, shift):
        kinds = {"DSVI": 0.0, "full-rank, default settings": 0.0, "MCMC": shift, SECOND: shift, BESIDE: 0.0}
        return [
            Fitted(name, smse + moved / 10, nlpd + moved, 0.0, rng.standard_normal((400, 2)) + moved)
            for name, moved in kinds.items()
        ]

    found = distances(Problem("boston", 1, 2, {}), [fits(0.1, 0.2, 3.0), fits(0.3, 0.4, 1.0)])
    assert found.to_mcmc == found.default_to_mcmc == pytest.approx(2.0)
    assert found.of_chains == 0 and found.of_three == pytest.approx(2.0)
    assert found.rhat_of_two < 1.02 and found.rhat_of_three > 1.5
