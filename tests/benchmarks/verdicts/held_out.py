"""Programs that no threshold of this project was tuned on, each with a run of Stan's NUTS.

Programs and data were fixed before the first fit.
"""

from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy import stats
from scipy.integrate import solve_ivp
from scipy.special import expit, softmax

from tests.benchmarks.errors import Floats
from tests.benchmarks.verdicts.case import Data
from tests.benchmarks.verdicts.fixed_data import FixedData
from tests.benchmarks.verdicts.latent import grid_edges
from tests.benchmarks.verdicts.simulated import as_lists, grouped


def bym2_binomial(rng: Generator, height: int = 7, width: int = 8) -> Data:
    """Areas on a grid; the factor is the geometric mean of the variances of a CAR prior of scale 1."""
    node1, node2 = grid_edges(height, width)
    incidence = np.zeros((len(node1), height * width))
    edge = np.arange(len(node1))
    incidence[edge, node1], incidence[edge, node2] = 1, -1
    covariance = np.linalg.pinv(incidence.T @ incidence, hermitian=True)
    scaling = float(np.exp(np.log(np.diag(covariance)).mean()))
    x, z = rng.standard_normal((2, len(covariance)))
    phi = rng.multivariate_normal(np.zeros(len(z)), covariance, method="eigh")
    trials = rng.integers(30, 150, len(z))
    area = 0.5 * (np.sqrt(0.3) * z + np.sqrt(0.7 / scaling) * phi)
    y = rng.binomial(trials, expit(-1.5 + 0.3 * x + area))
    edges = {"N_edges": len(edge), "node1": node1 + 1, "node2": node2 + 1, "scaling_factor": scaling}
    return as_lists(N=len(z), **edges, x=x, trials=trials, y=y)


def hsgp_counts(rng: Generator, rows: int = 120) -> Data:
    x = np.linspace(-1, 1, rows)
    mean = np.exp(2.2 + 0.7 * np.sin(5 * x) + 0.4 * np.cos(11 * x + 1))
    y = rng.negative_binomial(15, 15 / (15 + mean))
    return as_lists(N=rows, M=20, L=1.5, x=x, y=y)


def dynamic_occupancy(rng: Generator, sites: int = 80, seasons: int = 5, visits: int = 3) -> Data:
    elevation = rng.standard_normal(sites)
    occupied = rng.uniform(size=sites) < expit(0.2 - 0.8 * elevation)
    y = np.zeros((sites, seasons), dtype=int)
    for t, p in enumerate(expit(rng.normal(-0.2, 0.5, seasons))):
        y[:, t] = rng.binomial(visits, p * occupied)
        occupied = rng.uniform(size=sites) < np.where(occupied, 0.8, 0.2)
    return as_lists(S=sites, T=seasons, visits=visits, elevation=elevation, y=y)


def gamma_frailty(rng: Generator, centres: int = 25, each: int = 10) -> Data:
    """The study ends at 3 years."""
    centre, frailty = grouped(centres, each), rng.gamma(2.5, 0.4, centres)
    x = np.column_stack([rng.binomial(1, 0.5, len(centre)), rng.standard_normal(len(centre))])
    rate = frailty[centre] * np.exp(-0.8 + x @ [-0.6, 0.4])
    t = (rng.exponential(size=len(centre)) / rate) ** (1 / 1.4)
    event = (t < 3).astype(int)
    t = np.round(np.clip(t, 0.01, 3), 2)
    return as_lists(N=len(t), G=centres, D=2, centre=centre + 1, x=x, t=t, event=event)


def ordinal_mixed(rng: Generator, patients: int = 60, visits: int = 5) -> Data:
    patient, week = grouped(patients, visits), np.tile(np.arange(visits) / 2, patients)
    treated = (patient < patients // 2).astype(int)
    eta = -0.3 * week - 0.6 * treated * week + rng.normal(0, 1.5, patients)[patient]
    y = 1 + (eta + rng.logistic(size=len(eta)) > np.array([-3, -1.2, 0.3, 2])[:, None]).sum(axis=0)
    return as_lists(N=len(y), J=patients, K=5, patient=patient + 1, treated=treated, week=week, y=y)


def network_meta(rng: Generator, studies: int = 20, treatments: int = 5) -> Data:
    """Studies of two arms, each fourth of three; the first arm of a study is its control."""
    sizes = np.where(np.arange(studies) % 4 == 3, 3, 2)
    popular = [0.4, 0.15, 0.15, 0.15, 0.15]
    arms = [np.sort(rng.choice(treatments, size, replace=False, p=popular)) for size in sizes]
    study, treatment = np.repeat(np.arange(studies), sizes), np.concatenate(arms)
    d, mu = np.array([0, -0.3, -0.5, -0.7, -0.2]), rng.normal(-1, 0.5, studies)
    n, control = rng.integers(40, 200, len(study)), np.array([arm[0] for arm in arms])
    eta = mu[study] + d[treatment] - d[control[study]] + rng.normal(0, 0.25 / np.sqrt(2), len(study))
    indices = {"study": study + 1, "treatment": treatment + 1, "control": control + 1}
    return as_lists(N=len(study), S=studies, K=treatments, **indices, n=n, r=rng.binomial(n, expit(eta)))


def emax_trials(rng: Generator, trials: int = 6) -> Data:
    trial, dose = grouped(trials, 5), np.tile([0.0, 5, 15, 50, 150], trials)
    e0, emax = rng.normal(2, 0.5, trials), rng.normal(8, 1.2, trials)
    se = rng.uniform(0.4, 0.8, len(dose))
    y = rng.normal(e0[trial] + emax[trial] * dose**1.3 / (20**1.3 + dose**1.3), se)
    return as_lists(N=len(y), S=trials, trial=trial + 1, dose=dose, y=y, se=se)


def hurdle_visits(rng: Generator, practices: int = 20, each: int = 20) -> Data:
    practice, age = grouped(practices, each), rng.standard_normal(practices * each)
    u = rng.multivariate_normal([0, 0], [[0.5, 0.15], [0.15, 0.15]], practices)[practice].T
    mean, seen = np.exp(0.8 + 0.3 * age + u[1]), rng.uniform(size=len(age)) < expit(0.4 + 0.5 * age + u[0])
    zero = (2 / (2 + mean)) ** 2
    y = stats.nbinom.ppf(rng.uniform(zero, 1), 2, 2 / (2 + mean)).astype(int)  # above zero
    return as_lists(N=len(y), G=practices, practice=practice + 1, age=age, y=np.where(seen, y, 0))


def composition_regression(rng: Generator, samples: int = 60) -> Data:
    x = np.column_stack([rng.binomial(1, 0.5, samples), rng.standard_normal(samples)])
    alpha, beta = np.array([0, 0.8, 0.3, -0.6, -1.2]), rng.normal(0, 0.6, (5, 2))
    share = softmax(alpha + x @ (beta - beta[0]).T, axis=1)
    y = np.array([rng.multinomial(rng.integers(80, 300), rng.dirichlet(25 * p)) for p in share])
    return as_lists(N=samples, K=5, D=2, x=x, y=y)


def seir_reported(rng: Generator, weeks: int = 20, population: float = 20_000) -> Data:
    def slope(_: float, y: Floats) -> list[float]:
        infected = 2.2 * y[0] * y[2] / population
        return [-infected, infected - 1.5 * y[1], 1.5 * y[1] - y[2], 1.5 * y[1]]

    week = np.arange(1, weeks + 1)
    start = [population - 12, 12, 0, 0]
    onsets = np.diff(solve_ivp(slope, (0, weeks), start, t_eval=week, rtol=1e-8).y[3], prepend=0)
    cases = rng.negative_binomial(12, 12 / (12 + 0.35 * onsets))
    return as_lists(T=weeks, week=week.astype(float), population=population, cases=cases)


def sur_lkj(rng: Generator, rows: int = 80) -> Data:
    x = np.column_stack([np.ones(rows), rng.standard_normal((rows, 3))])
    beta, omega = rng.normal(0, 1, (3, 4)), np.array([[1, 0.6, -0.3], [0.6, 1, 0.1], [-0.3, 0.1, 1]])
    sigma = np.array([1.0, 0.5, 2.0])
    y = x @ beta.T + rng.multivariate_normal(np.zeros(3), sigma[:, None] * omega * sigma, rows)
    return as_lists(K=3, J=4, N=rows, x=x, y=y)


def football(rng: Generator, teams: int = 16) -> Data:
    """Each team plays each other at home and away."""
    home, away = np.nonzero(~np.eye(teams, dtype=bool))
    attack, defence = rng.normal(0, [[0.3], [0.2]], (2, teams))
    home_goals = rng.poisson(np.exp(0.45 + attack[home] - defence[away]))
    away_goals = rng.poisson(np.exp(0.15 + attack[away] - defence[home]))
    goals = {"home_goals": home_goals, "away_goals": away_goals}
    return as_lists(teams=teams, N=len(home), home=home + 1, away=away + 1, **goals)


def crossed_logistic(rng: Generator, subjects: int = 40, words: int = 24) -> Data:
    """Everyone answers every word; the condition alternates."""
    subject, word = grouped(subjects, words), np.tile(np.arange(words), subjects)
    condition = (subject + word) % 2 - 0.5
    u = rng.multivariate_normal([0, 0], [[0.8, 0.2], [0.2, 0.3]], subjects)[subject].T
    eta = 1 + u[0] + rng.normal(0, 0.7, words)[word] + (u[1] - 0.6) * condition
    y = rng.binomial(1, expit(eta))
    return as_lists(
        N=len(y), J=subjects, K=words, subject=subject + 1, word=word + 1, condition=condition, y=y
    )


def ar_panel(rng: Generator, firms: int = 30, years: int = 12) -> Data:
    x, y = rng.standard_normal((firms, years)), np.zeros((firms, years))
    alpha, phi = rng.normal(0.5, 0.4, firms), np.tanh(rng.normal(0.5, 0.3, firms))
    y[:, 0] = rng.normal(alpha / (1 - phi), 1)
    for t in range(1, years):
        y[:, t] = rng.normal(alpha + phi * y[:, t - 1] + 0.5 * x[:, t], 0.6)
    return as_lists(J=firms, T=years, x=x, y=y)


def seasonal_counts(rng: Generator, quarters: int = 60) -> Data:
    level, season = 3 + rng.normal(0, 0.1, quarters).cumsum(), [0.4, -0.1, -0.5]
    while len(season) < quarters:
        season.append(-sum(season[-3:]) + rng.normal(0, 0.05))
    return as_lists(T=quarters, y=rng.poisson(np.exp(level + season)))


def r2d2_regression(rng: Generator, rows: int = 80, columns: int = 10) -> Data:
    x = rng.multivariate_normal(np.zeros(columns), 0.5 + 0.5 * np.eye(columns), rows, method="cholesky")
    beta = np.array([1.5, -1, 0.5, *[0] * (columns - 3)])
    return as_lists(N=rows, D=columns, x=x, y=rng.normal(2 + x @ beta, 1.5))


def mixture_of_regressions(rng: Generator, rows: int = 200) -> Data:
    x, group = rng.uniform(-2, 2, rows), rng.binomial(1, 0.4, rows)
    y = rng.normal(np.array([1, 0])[group] + np.array([-1, 0.8])[group] * x, 0.7)
    return as_lists(N=rows, x=x, y=y)


def zero_inflated_beta(rng: Generator, sites: int = 15, plots: int = 14) -> Data:
    site, moisture = grouped(sites, plots), rng.standard_normal(sites * plots)
    mean = expit(-1 + 0.5 * moisture + rng.normal(0, 0.5, sites)[site])
    cover = np.clip(rng.beta(mean * 8, (1 - mean) * 8), 0.001, 0.999).round(3)
    y = np.where(rng.uniform(size=len(site)) < expit(-1 - 0.7 * moisture), 0, cover)
    return as_lists(N=len(y), G=sites, site=site + 1, moisture=moisture, y=y)


def n_mixture(rng: Generator, sites: int = 60, visits: int = 4) -> Data:
    forest, wind = rng.standard_normal(sites), rng.standard_normal((sites, visits))
    birds = rng.poisson(np.exp(1.2 + 0.6 * forest))
    y = rng.binomial(birds[:, None], expit(0.2 - 0.5 * wind))
    return as_lists(R=sites, T=visits, K=60, forest=forest, wind=wind, y=y)


def volatility_leverage(rng: Generator, days: int = 300) -> Data:
    e, eta, h, y = *rng.standard_normal((2, days)), 0.0, np.zeros(days)
    for t in range(days):
        y[t] = e[t] * np.exp(h / 2)
        h = 0.95 * h + 0.25 * (-0.5 * e[t] + np.sqrt(0.75) * eta[t])
    return as_lists(T=days, y=y)


PROGRAMS = FixedData(
    Path(__file__).with_name("held_out"),
    0x68656C64,  # "held"
    (
        bym2_binomial,
        hsgp_counts,
        dynamic_occupancy,
        gamma_frailty,
        ordinal_mixed,
        network_meta,
        emax_trials,
        hurdle_visits,
        composition_regression,
        seir_reported,
        sur_lkj,
        football,
        crossed_logistic,
        ar_panel,
        seasonal_counts,
        r2d2_regression,
        mixture_of_regressions,
        zero_inflated_beta,
        n_mixture,
        volatility_leverage,
    ),
)
HELD_OUT = PROGRAMS.group()
