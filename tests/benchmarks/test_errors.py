"""Errors of draws and the noise in them; references of both kinds."""

import math
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from scipy import stats

from tests.benchmarks.errors import LIMITS, Quantity, errors_of, read_reference, sure, worst
from tests.benchmarks.verdicts.exact import of_law

NORMAL = of_law(stats.norm())


def judged(draws, **known: Quantity) -> dict[str, float]:
    """The largest sure error of each check."""
    found = errors_of(np.column_stack(list(draws)), list(known), known)
    return {check: worst(found.names, error)[0] for check, error in sure(found).items()}


def test_exact_draws_are_called_wrong_as_seldom_as_is_said():
    rng, known = np.random.default_rng(1), {f"x.{k}": NORMAL for k in range(20)}
    found = [errors_of(rng.standard_normal((1000, 20)), list(known), known) for _ in range(200)]
    alarms = sum(any(np.any(error) for error in sure(one).values()) for one in found)
    assert alarms <= 8  # 2 are expected


def test_noise_counts_what_the_reference_is_worth():
    x = np.random.default_rng(2).standard_normal(1000)
    of = [
        errors_of(x[:, None], ["x"], {"x": Quantity(0, 1, -1.645, 1.645, worth)})
        for worth in (math.inf, 1000)
    ]
    for check in LIMITS:
        assert of[1].noise[check] == pytest.approx(of[0].noise[check] / math.sqrt(2))


@pytest.mark.parametrize(
    "change, check, error",
    [
        (lambda x: x + 0.5, "mean", 0.5),
        (lambda x: 0.5 * x, "sd", -0.5),
        (lambda x: np.where(x < -1.2, -1.2, x), "q05", 1.645 - 1.2),
        (lambda x: np.where(x > 1.2, 3.0, x), "q95", 3 - 1.645),
    ],
)
def test_each_error_is_seen(change, check, error):
    x = stats.norm.ppf((np.arange(1000) + 0.5) / 1000)
    assert judged([change(x)], x=NORMAL)[check] == pytest.approx(error, abs=0.02)


def test_what_noise_explains_is_no_error():
    x = stats.t(3).ppf((np.arange(1000) + 0.5) / 1000)  # an sd of 1.69 for 1.73, and no fourth moment
    assert judged([np.append(x, 60.0)], x=of_law(stats.t(3)))["sd"] == 0


def test_without_moments_quantiles_judge():
    known = of_law(stats.cauchy(), moments=False)
    exact = stats.cauchy.ppf((np.arange(1000) + 0.5) / 1000)
    assert judged([exact], x=known) == {"mean": 0, "sd": 0, "q05": 0, "q95": 0}
    short = judged([exact / 4], x=known)
    assert short["q95"] < -0.3 < 0.3 < short["q05"]
    assert short["mean"] == short["sd"] == 0


def test_draws_that_are_not_finite_are_wrong():
    assert judged([np.array([0.0, np.nan])], x=NORMAL)["mean"] == math.inf


def test_draws_at_a_quantile_count_as_suits_it():
    known = Quantity(0.5, 0.5, 0.0, 1.0)  # a coin
    assert judged([np.tile([0.0, 1.0], 500)], x=known)["q05"] == 0


def test_references_of_all_kinds_are_read(tmp_path: Path):
    pack, models, draws = (tmp_path / name for name in ("a.reference.json", "b.reference.json", "c.json.zip"))
    pack.write_text(
        '{"ess_min": 900.0, "params": {"a": {"mean": 1, "sd": 2, "q05": -1, "q50": 1, "q95": 4}, '
        '"fixed": {"mean": 1, "sd": 0}}}'
    )
    models.write_text('{"source": "NUTS, 4 chains of 500 draws", "mean": {"a": 1}, "sd": {"a": 2}}')
    assert read_reference(pack) == {"a": Quantity(1, 2, -1, 4, 900)}
    (known,) = read_reference(models).values()
    assert (known.mean, known.sd, known.worth) == (1, 2, 200) and math.isnan(known.q05)
    with ZipFile(draws, "w") as archive:
        archive.writestr("c.json", '[{"a[1,2]": [1, 2]}, {"a[1,2]": [3, 6]}]')
    assert read_reference(draws)["a.1.2"].mean == 3 and read_reference(draws)["a.1.2"].worth == 4
