"""ArviZ's statistics, of either major version, for tests that compare with them."""

import pytest

arviz = pytest.importorskip("arviz")
ONE = not arviz.__version__.startswith("0.")
"""Whether it is version 1 or later."""
QUANTILES = (0.05, 0.5, 0.95)


def psislw(ratios):
    """Smoothed log weights and Pareto k-hat; that of ArviZ 1 is fitted otherwise and differs by 0.03."""
    if ONE:
        pytest.skip("ArviZ 1 fits the tail otherwise")
    return arviz.psislw(ratios.copy())


def convergence(draws):
    """R-hat, effective sample sizes of bulk and tail, standard errors of the mean and of QUANTILES."""
    tail = {"prob": (0.05, 0.95)} if ONE else {}
    return (
        float(arviz.rhat(draws)),
        float(arviz.ess(draws, method="bulk")),
        float(arviz.ess(draws, method="tail", **tail)),
        float(arviz.mcse(draws, method="mean")),
        *(float(arviz.mcse(draws, method="quantile", prob=p)) for p in QUANTILES),
    )


def loo(data):
    """The ELPD and k-hat of each row, the ELPD, the effective number of parameters, the bound for k-hat."""
    found = arviz.loo(data, pointwise=True, reff=1.0)
    if ONE:
        return found.elpd_i.values, found.pareto_k.values, found.elpd, found.p, found.good_k
    return found.loo_i.values, found.pareto_k.values, found.elpd_loo, found.p_loo, found.good_k


def compare(data):
    """A row a model: elpd, p, elpd_diff, se, dse, weight; variances are divided by n-1."""
    (n,) = {group.log_likelihood["y"].shape[-1] for group in data.values()}
    divisor = (n / (n - 1)) ** 0.5
    if ONE:
        found = arviz.compare(data, round_to="none")
        return found.assign(dse=found.dse * divisor)
    found = arviz.compare(data, ic="loo").rename(columns={"elpd_loo": "elpd", "p_loo": "p"})
    return found.assign(elpd_diff=-found.elpd_diff, se=found.se * divisor, dse=found.dse * divisor)
