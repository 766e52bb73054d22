"""Factors: text and categories as the codes that a program declares."""

import pickle

import numpy as np
import pytest

import ppl
from ppl.data.levels import Factor

PROGRAM = """
data {
  int N; int J;
  array[N] int<lower=1, upper=J> town;
  array[N] int<lower=0, upper=1> sex;
  vector[N] y;
}
transformed data { real centre = 0; }
parameters { vector[J] u; real b; }
model {
  u ~ normal(0, 1); b ~ normal(0, 1);
  y ~ normal(centre + u[town] + b * to_vector(sex), 1);
}
"""
TOWNS, SEXES, Y = (
    ["York", "Hull", "York", "Bath", "Hull"],
    ["M", "F", "F", "M", "F"],
    [1.0, 2.0, 0.5, -1.0, 2.5],
)
COLUMNS = {"town": TOWNS, "sex": SEXES, "y": Y}
MODEL = ppl.compile_model(PROGRAM)
CODED = MODEL.condition({"N": 5, "J": 3, "town": [3, 2, 3, 1, 2], "sex": [1, 0, 0, 1, 0], "y": Y})
U = np.linspace(-1, 1, 4)


def arrow_table():
    arrow = pytest.importorskip("pyarrow")
    return arrow.table({**COLUMNS, "town": arrow.chunked_array([TOWNS[:2], TOWNS[2:]])})


def categorical_frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({**COLUMNS, "town": pandas.Categorical(TOWNS)})


def table_of(suffix, path):
    frame = pytest.importorskip("pandas").DataFrame(COLUMNS)
    frame.to_csv(path) if suffix == ".csv" else frame.to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars", "categorical", "arrow", ".csv", ".parquet"])
def test_text_is_coded_in_the_order_of_levels_and_counts_them(kind, tmp_path):
    frames = {"categorical": categorical_frame, "arrow": arrow_table, "dict": lambda: {**COLUMNS, "N": 5}}
    if kind in frames:
        data = frames[kind]()
    elif kind.startswith("."):
        data = table_of(kind, tmp_path / f"rows{kind}")
    else:
        data = pytest.importorskip(kind).DataFrame(COLUMNS)
    posterior = MODEL.condition(data)
    assert posterior.log_density(U) == CODED.log_density(U)
    assert posterior.levels == {"town": ("Bath", "Hull", "York"), "sex": ("F", "M")}
    assert pickle.loads(pickle.dumps(posterior)).levels == posterior.levels


def test_a_categorical_has_its_own_order_and_levels_without_rows():
    pandas = pytest.importorskip("pandas")
    frame = categorical_frame()
    frame["town"] = pandas.Categorical(TOWNS, ["York", "Leeds", "Hull", "Bath"])
    posterior = MODEL.condition(frame)
    assert posterior.d.J == 4 and posterior.d.town.tolist() == [1, 3, 1, 4, 3]
    polars = pytest.importorskip("polars")
    enum = polars.DataFrame(
        COLUMNS, schema_overrides={"town": polars.Enum(["York", "Leeds", "Hull", "Bath"])}
    )
    assert MODEL.condition(enum).levels == posterior.levels


def test_keywords_give_sizes_and_other_variables():
    posterior = MODEL.condition({**COLUMNS, "N": 5}, J=12)
    assert posterior.d.J == 12 and len(posterior.levels["town"]) == 3
    with pytest.raises(ppl.DataError, match="`J` is in data too"):
        MODEL.condition({**COLUMNS, "J": 3}, J=12)


def test_numbered_groups_of_a_table_are_counted_unless_a_number_is_left_out():
    frame = pytest.importorskip("pandas").DataFrame({**COLUMNS, "town": [3, 2, 3, 1, 2]})
    posterior = MODEL.condition(frame)
    assert posterior.log_density(U) == CODED.log_density(U)
    assert posterior.notes == ("data: `J` is 3, the largest `town`.",)
    for gap in (frame.assign(town=[4, 2, 4, 1, 2]), dict(frame)):
        with pytest.raises(ppl.errors.DataError, match=r"`J` is missing|`N` is missing"):
            MODEL.condition(gap)
    assert MODEL.condition(frame, J=4).notes == ()


def test_variables_with_one_bound_share_their_levels():
    program = "data { int K; array[2] int<lower=1, upper=K> home; array[2] int<lower=1, upper=K> away; }"
    posterior = ppl.compile_model(program).condition({"home": ["b", "a"], "away": ["c", "a"]})
    assert posterior.d.home.tolist() == [2, 1] and posterior.d.away.tolist() == [3, 1] and posterior.d.K == 3


@pytest.mark.parametrize(
    ("declared", "value", "expected"),
    [
        ("int<lower=1, upper=2>", ["a", "b"], [1, 2]),
        ("int<upper=2>", ["b", "a"], [2, 1]),
        ("int<lower=0, upper=1>", [True, False], [1, 0]),
        ("int<lower=0, upper=1>", ["no", "yes"], [0, 1]),
        ("int<lower=1, upper=2>", ["a", "b", "c"], r"has 3 levels \(a, b, c\), but .* needs at most 2"),
        ("int<lower=0, upper=1>", ["a", "a"], "all of x is a, but .* needs 0 or 1"),
        ("int<lower=1, upper=2>", ["a", 2], 'x.1. is the string "a"'),
        ("int<lower=1, upper=2>", ["a", None], r"x\[2\] is nan, but .* --missing drop leaves out such rows"),
        ("int<lower=2, upper=9>", ["a", "b"], "is the string"),
        ("real", ["F", "M"], r"declare `array\[2\] int<lower=0, upper=1> x;`, and read to_vector\(x\)"),
        ("int", ["a", "b"], r"declare `array\[2\] int<lower=0, upper=1> x;`$"),
        ("real", ["1", "2"], r"of shape \(2\); write 1, without quotes"),
        ("real", ["2024-01-05", "2024-03-01"], r"count days, as in frame\[.x.\] ="),
        ("real", np.array(["2024-01-05", "2024-03-01"], "M8[ns]"), "x holds dates, but .* count days"),
    ],
)
def test_bounds_say_what_words_stand_for(declared, value, expected):
    model = ppl.compile_model(f"data {{ array[2] {declared} x; }}")
    if isinstance(expected, list):
        assert model.condition({"x": value}).d.of("x").tolist() == expected
    else:
        with pytest.raises(ppl.DataError, match=expected):
            model.condition({"x": value})


def test_three_levels_for_a_real_are_an_index():
    with pytest.raises(
        ppl.DataError, match=r"declare `array\[3\] int<lower=1, upper=K_x> x;` after `int K_x;`"
    ):
        ppl.compile_model("data { vector[3] x; }").condition({"x": ["a", "b", "c"]})


def test_missing_levels_are_parameters_if_they_are_modelled():
    program = "data { array[3] int<lower=1, upper=2> x; } parameters { simplex[2] p; } "
    program += "model { x ~ categorical(p); }"
    posterior = ppl.compile_model(program).condition({"x": ["a", None, "b"]}, missing="model")
    assert posterior.missing == {"x": ["x[2]"]}


@pytest.fixture(scope="module")
def fit():
    return MODEL.condition({**COLUMNS, "N": 5}).variational(seed=1, algorithm="laplace", draws=200)


def test_new_rows_have_the_codes_of_the_fit_and_unknown_levels_are_new_groups(fit):
    rows = {"sex": ["M", "M", "M"], "town": ["York", "Ely", "Hull"], "N": 3}
    coded = {"sex": [1, 1, 1], "town": [3, 4, 2], "N": 3, "J": 4}
    np.testing.assert_array_equal(fit.predict(rows)["y"], fit.predict(coded)["y"])
    updated = fit.update({**rows, "y": [1.0, 2.0, 0.0]}, algorithm="laplace", draws=10)
    assert updated.posterior.levels["town"] == ("Bath", "Hull", "York", "Ely") and updated.posterior.d.J == 4


def test_a_level_too_many_is_named_in_new_rows():
    program = "data { int N; array[N] int<lower=1, upper=2> x; vector[N] y; } parameters { vector[2] m; } "
    model = ppl.compile_model(program + "model { m ~ std_normal(); y ~ normal(m[x], 1); }")
    data = {"N": 3, "x": ["a", "b", "a"], "y": [0, 1, 2]}
    fit = model.condition(data).variational(algorithm="laplace", draws=10)
    with pytest.raises(ppl.DataError, match=r"3 levels \(a, b, c\), of which the fit did not have c, but"):
        fit.predict({"N": 2, "x": ["a", "c"]})


def test_an_updated_fit_keeps_levels_of_data_that_new_rows_omit(tmp_path):
    program = """
    data {
      int N; int J; int L; array[N] int<lower=1, upper=J> g; array[J] int<lower=1, upper=L> part;
      array[N] int<lower=0, upper=1> y;
    }
    parameters { vector[L] r; }
    model { r ~ normal(0, 1); y ~ bernoulli_logit(r[part[g]]); }
    """
    model, quick = ppl.compile_model(program), {"algorithm": "laplace", "draws": 20}
    data = {"N": 3, "g": ["a", "b", "a"], "part": ["north", "south"], "y": ["no", "yes", "no"]}
    new = {"N": 2, "g": ["b", "a"], "y": ["yes", "yes"]}
    updated = model.condition(data).variational(seed=1, **quick).update(new, **quick)
    updated.save(tmp_path / "fit.json")
    again = ppl.load_fit(tmp_path / "fit.json", model, new)
    assert again.posterior.labels == updated.posterior.labels
    assert again.posterior.labels.of("r.2") == "r[south]"
    np.testing.assert_array_equal(again.draws(), updated.draws())


def test_words_for_what_had_numbers_are_refused():
    fit = CODED.variational(seed=1, algorithm="laplace", draws=10)
    with pytest.raises(ppl.DataError, match="town had numbers at the fit"):
        fit.predict({"sex": [1], "town": ["York"], "N": 1})


def test_simulations_take_factors():
    frame = pytest.importorskip("pandas").DataFrame(COLUMNS)
    assert MODEL.prior_predictive(frame, draws=3)["y"].shape == (3, 5)
    assert isinstance(
        MODEL.sbc(frame, simulations=2, draws=3, algorithm="laplace", cores=1).ranks, np.ndarray
    )
    assert isinstance(MODEL.condition(frame).data["town"], Factor)
