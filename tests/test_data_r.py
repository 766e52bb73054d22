"""R's dump as data: read, never run."""

import random

import numpy as np
import pytest

import ppl
from ppl.data.bounded_read import BadText
from ppl.data.r_dump import parse_r_dump

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
        ("x <- system('rm')", 1, "found system, where a number, c(...) or structure(...) should stand"),
        ("x <- 1\n\nx <- 2", 3, "`x` is given twice"),
        ("x <- structure(c(1, 2, 3), .Dim = c(2, 2))", 1, "3 values have no .Dim of 2x2"),
        ("x <- 1:2.5", 1, "a range goes from one integer to another"),
        ("x <- c(1, 2", 1, "found the end of the text, where , or ) should stand"),
        ("x <- c(1 2)", 1, "found 2, where , or ) should stand"),
        ("x 1", 1, "found 1, where <- or = should stand"),
        ("1 <- 2", 1, "found 1, where the name of a variable should stand"),
        ("x <- 'a", 1, "found ', where a number"),
        ("x <- structure(1:2, names)", 1, "found ), where = should stand"),
        ("x <- structure(1:2, terms = y ~ f(x", 1, "found the end of the text, where ) should stand"),
        ("x <-\n" + "c(" * 5000 + "1" + ")" * 5000, 2, "values are nested more than 100 deep"),
        ("\nx <- 1:1000000000000", 2, "with these 1000000000000 values the file holds more than"),
        ("x <- 1:1e12", 1, "a range goes from one integer to another"),
        ("x <- c(" + "\n1:1000000000, " * 1000 + "2)", None, "values the file holds more than"),
        ("x <- double(1000000000000)", 1, "values the file holds more than"),
        ("x <- double(-5)", 1, "the number of zeros must be an integer of at least 0"),
        ("x <- double(NaN)", 1, "the number of zeros must be an integer of at least 0"),
        ("x <- integer(Inf)", 1, "the number of zeros must be an integer of at least 0"),
        ("x <- integer(1e400)", 1, "1e400 is beyond double precision"),
        ("x <- integer(c(1, 2))", 1, "the number of zeros must be an integer of at least 0"),
        ("x <- structure(1, .Dim = c(NaN))", 1, "a size in .Dim must be an integer of at least 0"),
        ("x <- structure(1, .Dim = c(Inf))", 1, "a size in .Dim must be an integer of at least 0"),
        ("x <- structure(1:2, .Dim = c(2.5))", 1, "a size in .Dim must be an integer of at least 0"),
        ("x <- structure(1, .Dim = rep(1))", 1, "found rep, where a number"),
        ("x <- structure(c(1, 2), .Dim = c(" + "1, " * 70 + "2))", 1, "2 values have no .Dim of 1x1x1"),
        ("x <- structure(1, .Dim = c(4294967296, 4294967296))", 1, "1 values have no .Dim of 4294967296x42"),
        ("x <- " + "9" * 5000, 1, "99... is beyond double precision"),
        ("x <- c(1,\n2, 1e999)", 2, "1e999 is beyond double precision"),
        ("x <- 1:" + "9" * 5000, 1, "99... is beyond double precision"),
        ("c(1, 2) <- 3", 1, "found c(1, 2), where the name of a variable should stand"),
    ],
)
def test_what_is_not_data_is_refused_with_its_line(text, line, message):
    with pytest.raises(BadText) as error:
        parse_r_dump(text.encode())
    assert error.value.line == line or line is None
    assert message in str(error.value)


def test_values_combined_of_several_kinds_are_in_columns_first():
    found = parse_r_dump(b"x <- c(structure(1:4, .Dim = c(2, 2)), 5, c(6, 7), double(1))")["x"]
    np.testing.assert_array_equal(found, [1, 2, 3, 4, 5, 6, 7, 0])


R_4 = r"""
N <-
c(N = 3L)
X <-
structure(c(1, 1, 1, 0.1, 0.2, 0.3), dim = 3:2, dimnames = list(
    c("1", "a)", '3'), c("(Intercept\")", "x")), assign = 0:1)
y <- c(a = 1, `b c` = 2, "c" = NA)
g <- structure(c(2L, 1L, 2L), levels = c("control", "treated"), class = "factor")
fit <- structure(1:2, terms = y ~ x + s(x[, 1], k = 3), .Names = c("a", "b"))
A <- list(structure(1:4, dim = c(2L, 2L)), structure(5:8, .Dim = c(2L, 2L)))
d <- structure(list(x = c(1, 2), b = c(TRUE, FALSE)), class = "data.frame", row.names = c(NA, -2L))
words <- c("p", "q")
"""


def test_attributes_and_names_of_r_4_are_read_or_ignored():
    found = parse_r_dump(R_4.encode())
    assert found["N"] == 3 and found["y"].tolist() == [1, 2, None] and found["words"] == ["p", "q"]
    np.testing.assert_array_equal(found["X"], [[1, 0.1], [1, 0.2], [1, 0.3]])
    assert found["g"].tolist() == [2, 1, 2] and found["fit"].tolist() == [1, 2]
    np.testing.assert_array_equal(found["A"], [[[1, 3], [2, 4]], [[5, 7], [6, 8]]])
    assert {name: list(column) for name, column in found["d"].items()} == {"x": [1, 2], "b": [1, 0]}


PIECES = "c( structure( , .Dim = ) 1 2.5 -3 NA NaN Inf : x <- ` # L e9 e999 integer( double(".split()
PIECES += "dim = list( 'q' { ] TRUE".split()


@pytest.mark.rotate
@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_dump_became_it_is_read_or_refused(seed, tmp_path):
    """Pieces put in, taken out and doubled: numbers come of it, or a DataError."""
    rng, file = random.Random(seed), tmp_path / "d.R"
    model = ppl.compile_model("data { array[2, 2] real X; array[3] int g; vector[3] y; } model { }")
    read = 0
    for _ in range(250):
        text = DUMP
        for _ in range(rng.randrange(1, 6)):
            a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
            piece = rng.choice([*PIECES, '"', "\n", "9" * 20, text[a : min(b, a + 20)]])
            text = rng.choice([text[:a] + piece + text[a:], text[:a] + text[min(b, a + 9) :]])
        file.write_text(text)
        try:
            model.condition(file)
            read += 1
        except ppl.DataError as error:
            assert str(error)
    assert read < 250


def test_a_file_is_named_with_the_line(tmp_path):
    (tmp_path / "d.R").write_text("N <- 3\ny <- zz\n")
    with pytest.raises(ppl.DataError, match=r"d\.R:2: found zz"):
        ppl.compile_model("data { int N; } model { }").condition(tmp_path / "d.R")
