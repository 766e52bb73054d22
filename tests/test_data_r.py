"""R's dump as data: read, never run."""

import numpy as np
import pytest

import ppl
from ppl.data.r_dump import parse_r_dump
from ppl.data.text import BadText

DUMP = """
# made by stan_rdump
N <- 3L; K <-
2
"y" <-
c(0.5, -1e-2,
  Inf)
g = 3:1
`X` <- structure(c(1, 2, 3, 4, 5, 6), .Dim = c(3L, 2))
none <- integer(0)
shifted <- c(1:2, -5)
"""


def test_values_are_those_that_r_would_give():
    found = parse_r_dump(DUMP.encode())
    assert list(found) == ["N", "K", "y", "g", "X", "none", "shifted"]
    assert found["N"] == 3 and isinstance(found["N"], int) and found["K"] == 2
    np.testing.assert_array_equal(found["y"], [0.5, -0.01, np.inf])
    np.testing.assert_array_equal(found["g"], [3, 2, 1])
    np.testing.assert_array_equal(found["X"], [[1, 4], [2, 5], [3, 6]])
    assert found["none"].shape == (0,) and found["none"].dtype == np.int64
    np.testing.assert_array_equal(found["shifted"], [1, 2, -5])


def test_a_program_takes_it_as_it_takes_json(tmp_path):
    program = """
    data { int N; vector[N] y; matrix[N, 2] X; array[N] int g; }
    parameters { vector[2] b; }
    model { b ~ normal(0, 1); y ~ normal(X * b + to_vector(g), 1); }
    """
    file = tmp_path / "d.data.R"
    file.write_text("N <- 2\ny <- c(1, 2)\nX <- structure(1:4, .Dim = c(2, 2))\ng <- c(0L, 1L)\n")
    given = {"N": 2, "y": [1, 2], "X": [[1, 3], [2, 4]], "g": [0, 1]}
    model, u = ppl.compile_model(program), np.array([0.3, -0.2])
    assert model.condition(file).log_density(u) == model.condition(given).log_density(u)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("N <- 3\ny <- c(1, NA)", 2, "a number is missing (NA)"),
        ("x <- system('rm')", 1, "found system, where a number, c(...) or structure(...) should stand"),
        ("x <- 1\n\nx <- 2", 3, "`x` is given twice"),
        ("x <- structure(c(1, 2, 3), .Dim = c(2, 2))", 1, "3 values have no .Dim of 2x2"),
        ("x <- 1:2.5", 1, "a range goes from one integer to another"),
        ("x <- c(1, 2", 1, "found the end of the text, where , or ) should stand"),
        ("x <- c(1 2)", 1, "found 2, where , or ) should stand"),
        ("x 1", 1, "found 1, where <- or = should stand"),
        ("1 <- 2", 1, "found 1, where the name of a variable should stand"),
        ("x <- 'a'", 1, "found ', where a number"),
        ("x <- structure(1:2, names = c(1, 2))", 1, "found names, where .Dim should stand"),
    ],
)
def test_what_is_not_data_is_refused_with_its_line(text, line, message):
    with pytest.raises(BadText) as error:
        parse_r_dump(text.encode())
    assert error.value.line == line and message in str(error.value)


def test_a_file_is_named_with_the_line(tmp_path):
    (tmp_path / "d.R").write_text("N <- 3\ny <- NA\n")
    with pytest.raises(ppl.DataError, match=r"d\.R:2: a number is missing"):
        ppl.compile_model("data { int N; } model { }").condition(tmp_path / "d.R")
