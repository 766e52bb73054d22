"""Programs of formulas: their linear predictor is formulae's design matrix, in every family."""

import re

import numpy as np
import pytest

import ppl
from ppl.cli.commands.new import files_of_formula
from ppl.formula.expressions import NAMESPACE
from ppl.formula.families import FAMILIES

formulae = pytest.importorskip("formulae")
pandas = pytest.importorskip("pandas")

CASES = {
    "gaussian": ("y", "x + sex + region"),
    "student": ("y", "0 + region + I((x - 1)**2 / 5) + C(k) + N"),
    "bernoulli": ("flag", "x * sex + (1 + x | clinic)"),
    "binomial": ("p(count, trials)", "scale(x) + sex:region + (sex | clinic)"),
    "poisson": ("count", "offset(log(n)) + treated * x + (0 + sex | clinic) + (1 | k)"),
    "negative_binomial": ("count", "center(n) + log(n):sex"),
    "gamma": ("n", "sqrt(1 + x**2) + (1 | clinic:region)"),
    "beta": ("share", "x:treated + C(sex)"),
    "ordinal": ("grade", "x + region"),
}
LOOP = re.compile(r"  vector\[N\w*\] (\w+);\n  for .*?\n  }\n", re.DOTALL)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(4)
    rows = 40
    return pandas.DataFrame(
        {
            "y": rng.normal(3, 2, rows),
            "x": rng.normal(20, 2, rows),
            "n": rng.uniform(1, 4, rows),
            "N": rng.normal(size=rows),
            "k": rng.integers(1, 4, rows),
            "sex": rng.choice(["F", "M"], rows),
            "region": rng.choice(["east", "north-west", "south"], rows),
            "clinic": rng.choice([*"abcdef"], rows),
            "treated": rng.random(rows) < 0.5,
            "flag": rng.choice(["no", "yes"], rows),
            "count": rng.integers(0, 5, rows),
            "trials": rng.integers(5, 9, rows),
            "share": rng.uniform(0.1, 0.9, rows),
            "one": np.ones(rows),
            "vast": 1e300 * rng.normal(size=rows),
            "far": 10**10 * rng.integers(1, 4, rows),
            "grade": pandas.Categorical(rng.choice(["low", "mid", "top"], rows), ["low", "mid", "top"]),
        }
    )


def test_every_family_has_a_case():
    assert CASES.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", CASES)
def test_the_linear_predictor_is_that_of_the_design_matrix(family, frame):
    follows_the_design(*CASES[family], family, frame)


def follows_the_design(outcome, right, family, frame):
    text = ppl.from_formula(f"{outcome} ~ {right}", frame, family)
    eta = LOOP.search(text)
    shown = text + "generated quantities {\n" + eta[0].replace(eta[1], "shown") + "}\n"
    posterior = ppl.compile_model(shown).condition(frame)
    u = np.random.default_rng(1).normal(size=posterior.param_unc_num())
    assert np.isfinite(posterior.log_density(u))
    values = dict(
        zip(posterior.param_names(True, True), posterior.param_constrain(u, True, True), strict=True)
    )
    predictor = np.array([values[f"shown.{k + 1}"] for k in range(len(frame))])
    data = frame.assign(**{name: frame[name].astype(float) for name in frame if frame[name].dtype == bool})
    design = formulae.design_matrices(f"{outcome} ~ {right}", data, extra_namespace=NAMESPACE)
    columns = [design.common.design_matrix] + ([design.group.design_matrix.toarray()] if design.group else [])
    columns = np.column_stack([*columns, np.ones(len(frame))] if family == "ordinal" else columns)
    rest = predictor - np.log(frame["n"]) if "offset" in right else predictor
    assert np.std(rest) > 0.1
    coefficients = np.linalg.lstsq(columns, rest, rcond=None)[0]
    assert np.allclose(columns @ coefficients, rest, atol=1e-3)  # centres are rounded to six digits


MANY = [f"x{k}" for k in range(250)]
HOSTILE = {
    "lines": ("g +\n h", {"g": ["a\n", "b\n target += 1e6; //", "c\r}"], "h": ["p\u2028", "q\x1b[2J"]}),
    "other letters": ("g", {"g": ["男", "女", "他"]}),
    "alike levels": ("g", {"g": ["a-b", "a b", "a_b"]}),
    "alike terms": ("x_z + x:z + (x | g) + (1 | g_x)", {"g": ["a", "b", "c"], "g_x": ["p", "q"]}),
    "long codes": ("C(k) + I(x * 99999999999)", {"k": [1234567, 1234568, 1234569]}),
    "large numbers": ("h", {"h": [2**40, 2**41, 2**42]}),
    "many terms": (" + ".join(MANY), {}),
}


@pytest.mark.rotate
@pytest.mark.parametrize("case", HOSTILE)
def test_a_program_does_what_its_formula_says_whatever_the_columns_hold(case):
    right, columns = HOSTILE[case]
    rng = np.random.default_rng(1)
    numbers = {name: rng.normal(size=30) for name in ("y", "x", "z", "x_z", *MANY)}
    follows_the_design(
        "y",
        right,
        "gaussian",
        pandas.DataFrame(numbers | {k: v * (30 // len(v)) for k, v in columns.items()}),
    )


def test_the_program_of_a_formula_reads_as_one_written_by_hand(frame):
    data = frame.drop(columns=["N", "y"])
    text = ppl.from_formula("flag ~ x + region + (1 | clinic)", data, "bernoulli")
    for line in (
        "int<lower=0, upper=1> flag;  // 0 is no, 1 is yes",
        "array[N] int<lower=1, upper=3> region;  // 1 is east, 2 is north-west, 3 is south",
        "real alpha;  // log odds of flag at x 20, region east",
        "vector<multiplier=tau_clinic>[J_clinic] u_clinic;",
        "+ b_region_north_west * (region[n] == 2)",
        "flag ~ bernoulli_logit(eta);",
    ):
        assert line in text


def test_columns_with_signs_in_their_names(tmp_path):
    (tmp_path / "d.csv").write_text("Blood Pressure,Age (years)\n120,30\n130,45\n125,50\n")
    text = ppl.from_formula("blood_pressure ~ age_years", tmp_path / "d.csv")
    posterior = ppl.compile_model(text).condition(tmp_path / "d.csv")
    assert posterior.data["age_years"].tolist() == [30, 45, 50]
    assert "`Age (years)` is read as `age_years`" in posterior.notes[0]
    with pytest.raises(ppl.DataError, match="write age_years in the formula, which finds it"):
        ppl.from_formula("blood_pressure ~ `Age (years)`", tmp_path / "d.csv")


@pytest.mark.parametrize(
    ("formula", "family", "error", "words"),
    [
        ("y ~ agee", "gaussian", ppl.UnknownName, "no column 'agee'"),
        ("y ~ x +", "gaussian", ppl.ArgumentError, "cannot be read"),
        ("x", "gaussian", ppl.ArgumentError, "no outcome"),
        ("y ~ x", "normal", ppl.UnknownName, "no family 'normal'; did you mean gaussian?"),
        ("y = x", "gaussian", ppl.ArgumentError, "write `outcome ~ ...`, with `~`"),
        ("log(y) ~ x", "gaussian", ppl.ArgumentError, "is not a column"),
        ("y ~ poly(x, 2)", "gaussian", ppl.ArgumentError, "several columns"),
        ("count ~ log(y - 100)", "poisson", ppl.DataError, "not finite"),
        ("count ~ I(y * 0)", "poisson", ppl.DataError, "is 0 in all rows"),
        ("y ~ (1 | x)", "gaussian", ppl.DataError, "not integers"),
        ("y ~ x", "poisson", ppl.DataError, "poisson needs"),
        ("region ~ x", "bernoulli", ppl.DataError, "bernoulli needs"),
        ("region ~ x", "ordinal", ppl.DataError, "order"),
        ("count ~ x", "binomial", ppl.ArgumentError, "p(count, trials)"),
        ("flag['no'] ~ x", "bernoulli", ppl.ArgumentError, "yes"),
        ("p(count, trials + 1) ~ x", "binomial", ppl.ArgumentError, "is not a column"),
        ("one ~ x", "gaussian", ppl.DataError, "one is 1 in all rows"),
        ("y ~ vast", "gaussian", ppl.DataError, "overflows"),
        ("y ~ C(far)", "gaussian", ppl.DataError, "the largest int"),
    ],
)
def test_what_the_program_cannot_say_is_refused(formula, family, error, words, frame):
    with pytest.raises(error, match=re.escape(words)):
        ppl.from_formula(formula, frame, family)


def test_new_reads_the_data_where_they_are(tmp_path, frame):
    frame.to_csv(tmp_path / 'ro"ws.csv', index=False)
    files, incomplete = files_of_formula(tmp_path / "mine", "y ~ x", tmp_path / 'ro"ws.csv', "gaussian")
    assert not incomplete
    assert [*files] == ["mine.model", "fit.py"] and r'"../ro\"ws.csv"' in files["fit.py"]
    assert "y ~ normal(mu, sigma);" in files["mine.model"]


def test_rows_with_blank_cells_are_left_out_of_the_scales(tmp_path):
    (tmp_path / "d.csv").write_text("y,x,g\n1,20,a\n2,,b\n3,24,b\nNA,29,a\n4,22,a\n")
    text = ppl.from_formula("y ~ x + (1 | g)", tmp_path / "d.csv")
    assert "(x[n] - 22)" in text and "for 3 rows" in text
    assert "// 2 rows have missing values: --missing drop leaves them out." in text
    files, incomplete = files_of_formula(tmp_path, "y ~ x + (1 | g)", tmp_path / "d.csv", "gaussian")
    assert incomplete and 'model.condition(here / "d.csv", missing="drop")' in files["fit.py"]


def test_dates_are_no_factor(tmp_path):
    (tmp_path / "d.csv").write_text("y,when\n1,2024-01-05\n2,2024-02-05\n3,2024-02-11\n")
    with pytest.raises(ppl.DataError, match=r"d\.csv: when holds dates; count days"):
        ppl.from_formula("y ~ when", tmp_path / "d.csv")


def test_a_number_among_words_is_named_with_its_line(tmp_path):
    (tmp_path / "d.csv").write_text("y,g\n1,a\n2,7\n3,b\n")
    with pytest.raises(
        ppl.DataError, match=r"d\.csv:3: g\[2\] is the number 7, and others are words such as a"
    ):
        ppl.from_formula("y ~ (1 | g)", tmp_path / "d.csv")
