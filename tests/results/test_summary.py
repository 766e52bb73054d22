import numpy as np
import pytest

from ppl.results.report.summary import as_html, as_text, summarise


def test_agrees_with_numpy():
    rows = np.random.default_rng(2).normal(3, 2, size=(400, 2))
    row = summarise(["a", "b"], rows)["b"]
    assert row.mean == pytest.approx(rows[:, 1].mean())
    assert row.sd == pytest.approx(rows[:, 1].std(ddof=1))
    assert (row.q5, row.q50, row.q95) == pytest.approx(tuple(np.quantile(rows[:, 1], [0.05, 0.5, 0.95])))


def test_nan_draws_are_left_out_and_counted():
    row = summarise(["x"], np.array([[1.0], [np.nan], [3.0]]))["x"]
    assert (row.mean, row.missing) == (2.0, 1)


def test_every_table_says_how_many_draws_are_nan_where_any_are():
    whole, broken = np.ones((3, 1)), np.array([[1.0], [np.nan], [3.0]])
    summary = summarise(["x", "y"], np.hstack([whole, broken]))
    header, *rows = str(summary).splitlines()
    assert header.endswith("nan draws") and [row.split()[-1] for row in rows] == ["0", "1"]
    assert "<th>nan draws</th>" in as_html(summary) and as_html(summary).count("<td>1</td>") == 1
    assert "nan draws" not in str(summarise(["x"], whole)) + as_html(summarise(["x"], whole))


def test_a_column_of_nan_and_a_single_draw_say_nan():
    summary = summarise(["x", "y"], np.array([[np.nan, 4.0]]))
    assert np.isnan(summary["x"].mean) and summary["y"].mean == 4.0 and np.isnan(summary["y"].sd)


def test_unknown_column():
    with pytest.raises(KeyError, match="no column 'z'"):
        summarise(["x"], np.zeros((2, 1)))["z"]


def test_text_shows_three_digits():
    text = str(
        summarise(
            ["mu", "big", "small"], np.array([[1.2345, 123456.0, 0.00123], [1.2346, 123457.0, 0.001231]])
        )
    )
    assert "mean" in text and "95%" in text
    assert "1.23" in text and "123456" in text and "0.00123" in text


def test_a_long_table_counts_the_rest():
    summary = summarise([f"x.{k}" for k in range(30)], np.zeros((2, 30)))
    _, *rows, last = as_text(summary, limit=20, rest=" (all in output.csv)")
    assert len(rows) == 20 and last == "… and 10 more (all in output.csv)"


def test_a_point_has_a_value_and_no_sd():
    rows = np.full((7, 2), 0.1)  # the mean of these is not 0.1, nor their sd 0
    lines = [line.split() for line in str(summarise(["x", "y"], rows)).splitlines()]
    assert lines == [["value"], ["x", "0.100"], ["y", "0.100"]]
    rows[0, 0] = 0.2
    summary = summarise(["x", "y"], rows)
    header, _, y = (line.split() for line in str(summary).splitlines())
    assert summary["y"].sd == 0 and header[:2] == ["mean", "sd"] and y == ["y", "0.100"]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_nothing_is_cut_however_narrow_the_screen(width):
    names = ["a_name_that_is_rather_long.1", "mu"]
    lines = list(as_text(summarise(names, np.random.default_rng(0).normal(size=(9, 2)) * 1e-7), width))
    words = " ".join(lines).split()
    assert {"mean", "sd", "5%", "50%", "95%", *names} <= {*words} and "…" not in "".join(lines)
    longest = len(names[0]) + 2 + len("-1.00e-07")
    assert max(map(len, lines)) <= max(width, longest)
