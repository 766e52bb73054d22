"""What judges the verdicts is right itself: exact answers, ranks, tables, files."""

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from ppl.errors import InferenceError
from tests.benchmarks.errors import LIMITS, errors_of, read_reference, sure
from tests.benchmarks.verdicts import record as recording
from tests.benchmarks.verdicts.case import Case, Improper
from tests.benchmarks.verdicts.constants import cut, separation
from tests.benchmarks.verdicts.exact import of_law, of_mixture, of_points
from tests.benchmarks.verdicts.groups import GROUPS
from tests.benchmarks.verdicts.lines import mend, read
from tests.benchmarks.verdicts.made_to_fail import ANSWERS, SUMMED
from tests.benchmarks.verdicts.simulated import SIMULATORS
from tests.benchmarks.verdicts.stan_reference import reference, text
from tests.benchmarks.verdicts.tables import tables
from tests.benchmarks.verdicts.uniform import calibration, places
from tests.benchmarks.verdicts.wrong import is_wrong


def record(level: str = "good", truth: str = "known", **errors: float):
    expected = {check: (errors.get(check, 0.0), "mu") for check in LIMITS}
    return {
        "group": "references",
        "name": "p",
        "seed": 1,
        "commit": "c",
        "truth": truth,
        "level": level,
        "seconds": 1.0,
        "errors": expected,
        "sure": expected,
        "verdict": {"khat": 1.0},
    }


@pytest.mark.parametrize("law", [stats.norm(3, 2), stats.gamma(2)])
def test_points_give_the_quantities_of_a_law(law):
    x = np.linspace(law.ppf(1e-9), law.ppf(1 - 1e-9), 20_001)
    found, exact = of_points(x, law.logpdf(x)), of_law(law)
    assert [found.mean, found.sd, found.q05, found.q95] == pytest.approx(
        [exact.mean, exact.sd, exact.q05, exact.q95], abs=1e-3
    )


def test_a_mixture_has_the_quantities_of_its_draws():
    rng = np.random.default_rng(4)
    weights, means, sds = np.array([0.2, 0.8]), np.array([-3.0, 1.0]), np.array([0.5, 2.0])
    k = (rng.uniform(size=400_000) > 0.2).astype(int)
    x, found = rng.normal(means[k], sds[k]), of_mixture(weights, means, sds)
    expected = [x.mean(), x.std(), np.quantile(x, 0.05), np.quantile(x, 0.95)]
    assert [found.mean, found.sd, found.q05, found.q95] == pytest.approx(expected, abs=0.02)


def test_varying_intercepts_are_those_of_importance_sampling():
    """Of three groups: tau and mu from the prior, weighted by what the means of the groups say of them."""
    data, truth = ANSWERS["varying_intercepts_400"](groups=3)
    means = np.reshape(data["y"], (3, 2)).mean(axis=1)
    rng = np.random.default_rng(5)
    mu, tau, z = (
        rng.standard_normal(400_000),
        np.abs(rng.normal(0, 0.5, 400_000)),
        rng.standard_normal((3, 400_000)),
    )
    theta = mu + tau * z
    log_p = stats.norm.logpdf(means[:, None], theta, math.sqrt(0.5)).sum(axis=0)
    expected = {"mu": mu, "tau": tau, "theta.2": theta[1], "z.3": z[2]}
    for name, x in expected.items():
        known, drawn = truth.quantities[name], of_points(x, log_p)
        assert [known.mean, known.sd, known.q05, known.q95] == pytest.approx(
            [drawn.mean, drawn.sd, drawn.q05, drawn.q95], abs=0.03
        ), name


def exact_draws(name: str, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draws of a program that was made to fail, by its own law."""
    z, first = rng.standard_normal(n), rng.uniform(size=n)
    match name:
        case "student_t_heavy":
            return {"x": rng.standard_t(0.3, n)}
        case "cauchy":
            return {"x": rng.standard_cauchy(n)}
        case "spike_in_slab":
            return {"x": np.where(first < 0.5, 0.001, 10) * z}
        case "narrow_main_mode":
            return {"x": np.where(first < 0.9, -20 + 0.1 * z, 20 + 5 * z)}
        case "two_modes":
            return {"x": np.where(first < 0.5, -10, 10) + z}
        case "beta_at_the_ends":
            return {"x": rng.beta(0.01, 0.01, n)}
        case "funnel":
            v = 3 * z
            return {"v": v} | {f"x.{k}": rng.normal(0, np.exp(v / 2)) for k in range(1, 10)}
        case "banana":
            x = 1 + math.sqrt(10) * z
            return {"x": x, "y": rng.normal(x**2, math.sqrt(0.1))}
        case "only_the_sum_with_priors":
            precision = 10 + 1 / 2e4  # of a + b; a - b keeps its prior
            total = sum(SUMMED) / precision + z / math.sqrt(precision)
            apart = rng.normal(0, math.sqrt(2e4), n)
            return {"a": (total + apart) / 2, "b": (total - apart) / 2}
    raise KeyError(name)


@pytest.mark.rotate
@pytest.mark.parametrize(
    "name",
    [
        "student_t_heavy",
        "cauchy",
        "spike_in_slab",
        "narrow_main_mode",
        "two_modes",
        "beta_at_the_ends",
        "funnel",
        "banana",
        "only_the_sum_with_priors",
    ],
)
def test_draws_of_a_law_made_to_fail_are_right(name: str):
    rng, (_, truth), alarms = np.random.default_rng(7), ANSWERS[name](), 0
    for _ in range(100):
        draws = exact_draws(name, 1000, rng)
        found = sure(errors_of(np.column_stack(list(draws.values())), list(draws), truth.quantities))
        alarms += any(np.nansum(np.abs(error)) > 0 for error in found.values())
    assert alarms <= 4  # 1 is expected


@pytest.mark.rotate
@pytest.mark.parametrize(
    "group, name",
    [(g, n) for g in ("made-to-fail", "simulated", "latent", "held-out") for n in GROUPS[g].names],
)
def test_every_quantity_is_a_column(group: str, name: str):
    case = GROUPS[group].case(name, 1)
    posterior = case.posterior()
    columns = set(posterior.param_names(include_tp=True, include_gq=True))
    known_names = getattr(case.truth, "quantities", None) or getattr(case.truth, "values", {})
    assert set(known_names) <= columns
    assert bool(known_names) != isinstance(case.truth, Improper)
    assert np.isfinite(posterior.log_density(np.full(posterior.param_unc_num(), 0.1)))


def test_chains_of_stan_become_a_reference(tmp_path: Path):
    rng, files = np.random.default_rng(8), [tmp_path / f"{k}.csv" for k in range(4)]
    for file in files:
        rows = rng.normal([-9, 0.8, 7, 0, 2, 1, 5, 4, 12345.45], [1, 0, 0, 0, 3, 1, 0, 1, 1], (1000, 9))
        lines = [",".join(map(str, row)) for row in rows]
        head = "lp__,accept_stat__,n_leapfrog__,divergent__,theta.1,z.1,known,c2,far"
        file.write_text("\n".join([head, "# Adaptation terminated", *lines, "# Elapsed Time: 1"]) + "\n")
    content = reference(files, {"theta.1", "known", "c2", "far"})
    assert content["rhat_max"] < 1.01 and content["ess_min"] > 2000 and content["divergences"] == 0
    made = tmp_path / "made.json"
    made.write_text(text({"source": "Stan", **content}))
    found = read_reference(made)
    assert set(found) == {"theta.1", "c2", "far"}  # what does not vary is left out
    assert found["far"].mean == pytest.approx(12345.45, abs=0.1)  # digits are those of the sd
    assert math.isnan(found["c2"].sd) and found["c2"].q95 == pytest.approx(5.645, abs=0.1)
    theta = found["theta.1"]
    assert [theta.mean, theta.sd, theta.q05, theta.q95] == pytest.approx([2, 3, -2.93, 6.93], abs=0.3)
    assert theta.worth == content["params"]["theta.1"]["ess"] > 2000


@pytest.mark.parametrize("name", SIMULATORS)
def test_the_same_seed_simulates_the_same_data(name: str):
    case = GROUPS["simulated"].case
    assert case(name, 3) == case(name, 3)
    assert case(name, 3) != case(name, 4)


def test_ranks_of_the_same_law_are_uniform_and_others_not():
    rng = np.random.default_rng(6)
    truth = rng.standard_normal((200, 3, 1))
    ranks = {sd: (sd * rng.standard_normal((200, 3, 500)) < truth).sum(axis=2) for sd in (1.0, 0.5)}
    exact, narrow = (calibration(places(ranks[sd], 500)) for sd in (1.0, 0.5))
    assert abs(exact.half - 0.5) < 3 * exact.half_se and abs(exact.most - 0.9) < 3 * exact.most_se
    assert min(exact.chi_squared, exact.ecdf) > 0.05
    assert narrow.most < 0.7 and max(narrow.chi_squared, narrow.ecdf) < 1e-3


def test_few_fits_have_no_p_value():
    found = calibration(places([[1], [400]], 500))
    assert math.isnan(found.chi_squared) and math.isnan(found.ecdf)


def test_what_is_wrong():
    assert is_wrong(record(sd=-0.21)) and not is_wrong(record(sd=-0.19, mean=0.2, q05=0.29))
    assert is_wrong(record(q95=math.nan))
    assert is_wrong(record(truth="improper")) and is_wrong(record("refused", "improper")) is False
    assert is_wrong(record("too long")) is None and is_wrong(record(truth="drawn")) is None


def test_the_table_names_what_is_good_and_wrong():
    lines = list(tables([record(), record(mean=-0.5), record("poor"), record("poor", mean=1.0)]))
    assert "| references | good | 2 | 1 | 50.0% | 1 | 2 |" in lines
    assert "- references p, seeds 1: mean of mu off by -0.50" in lines
    assert "- references p, seeds 1: mean of mu off by +0.00" in lines


def test_a_level_of_tomorrow_has_its_row():
    assert "| references | fair | 1 | 0 | 0.0% | 1 | 1 |" in list(tables([record("fair")]))


def test_a_cut_counts_both_sides():
    values, wrong = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 0.0, 1.0, 1.0])
    assert separation(values, wrong) == 1 and separation(-values, wrong) == 0
    assert cut("khat", 3, values, wrong) == "| khat 3 | 3 | 1 | 33.3% | 1 | 1 | 100.0% |"


def test_a_line_cut_off_is_left_out_and_mended(tmp_path: Path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"seed": 1}\n{"se')
    assert read(path) == [{"seed": 1}]
    mend(path)
    assert path.read_text() == '{"seed": 1}\n'
    mend(tmp_path / "none.jsonl")


def test_a_record_holds_the_verdict_and_the_errors():
    found = recording.record("made-to-fail", "only_the_sum_with_priors", 1, "c", 60)
    assert found["truth"] == "known" and found["d"] == 2 and found["level"] in ("good", "usable", "poor")
    assert set(found["errors"]) == set(found["sure"]) == set(LIMITS)
    assert {"khat", "ess", "made", "shifts.largest"} <= set(found["verdict"])
    assert is_wrong(found) is False


@pytest.mark.parametrize("error, level", [(InferenceError("no"), "refused"), (ValueError("no"), "crashed")])
def test_what_goes_wrong_is_in_the_record(error, level, monkeypatch):
    def fails(case: Case, seed: int):
        raise error

    monkeypatch.setattr(recording, "fitted", fails)
    found = recording.record("made-to-fail", "cauchy", 1, "c", 60)
    assert found["level"] == level and "no" in found["message"]


def test_a_fit_that_takes_too_long_is_ended(monkeypatch):
    def endless(case: Case, seed: int):
        while True:
            pass

    monkeypatch.setattr(recording, "fitted", endless)
    assert recording.record("made-to-fail", "cauchy", 1, "c", 0.05)["level"] == "too long"
