import math

import numpy as np
import pytest

from ppl.errors import ArgumentError
from ppl.results.report.style import TableStyle
from ppl.results.report.summary import as_html, as_text, known_digits, summarise, summary_of_chains


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
    assert "<th>nan draws</th>" in as_html(summary) and as_html(summary).endswith(
        "<td>1</td></tr></tbody></table>"
    )
    assert "nan draws" not in str(summarise(["x"], whole)) + as_html(summarise(["x"], whole))


def test_a_column_of_nan_and_a_single_draw_say_nan():
    summary = summarise(["x", "y"], np.array([[np.nan, 4.0]]))
    assert np.isnan(summary["x"].mean) and summary["y"].mean == 4.0 and np.isnan(summary["y"].sd)


def test_a_column_that_differs_by_rounding_is_constant():
    """As the diagonal of a correlation matrix that is computed from its factor; seconds since 1970 vary."""
    diagonal, seconds = 1 - 2.0**-53 * (np.arange(40) % 2), 1.7e9 + np.linspace(0, 1, 40)
    summary = summarise(["R.2.2", "t"], np.column_stack([diagonal, seconds]))
    assert summary["R.2.2"].constant and summary["R.2.2"].sd == 0
    assert not summary["t"].constant and summary["t"].sd == pytest.approx(seconds.std(ddof=1))


def test_unknown_column():
    summary = summarise(["x"], np.zeros((2, 1)))
    with pytest.raises(KeyError, match="no column 'z'"):
        summary["z"]
    with pytest.raises(KeyError, match="no column 'z'"):
        summary.only(["x", "z"])


def test_text_shows_the_digits_that_are_known():
    rng = np.random.default_rng(5)
    draws = rng.standard_normal((1000, 3))
    draws = (draws - draws.mean(axis=0)) / draws.std(axis=0, ddof=1)
    header, *rows = str(
        summarise(["mu", "big", "small"], [4.39, 123456, 0.00123] + [2, 5000, 1e-6] * draws)
    ).splitlines()
    assert header.split() == ["mean", "se", "sd", "5%", "50%", "95%"]
    shown = [row.split()[1:4] for row in rows]
    assert shown == [["4.4", "0.063", "2.0"], ["123500", "158", "5000"], ["0.0012300", "3.2e-08", "1.0e-06"]]


@pytest.mark.parametrize(("value", "se", "shown"), [
    (4.39, 0.05, "4.4"), (4.39, 0.03, "4.4"), (4.39, 0.01, "4.39"), (4.39, 0.2, "4"), (0.004, 0.03, "0.0"),
    (-0.004, 0.03, "0.0"), (1234.5, 30, "1200"), (1234.5, 0.001, "1234.50"), (1.23e-7, 1e-9, "1.23e-07"),
    (1e-9, 1e-7, "0"), (2.0, math.nan, "2.00"), (math.nan, 0.1, "nan"), (math.inf, 0.1, "inf"),
])  # fmt: skip
def test_digits_that_two_standard_errors_leave(value, se, shown):
    assert known_digits(value, se) == shown


def test_a_data_frame_has_all_figures():
    pytest.importorskip("pandas")
    rows = np.random.default_rng(3).normal(size=(100, 2))
    frame = summarise(["a", "b"], rows).to_pandas()
    assert frame.index.tolist() == ["a", "b"] and {"mean", "se", "q95", "se_q95"} <= {*frame.columns}
    assert frame.loc["b", "se"] == pytest.approx(rows[:, 1].std(ddof=1) / 10)


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
    assert summary["y"].sd == 0 and header[:3] == ["mean", "se", "sd"] and y == ["y", "0.100"]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_nothing_is_cut_however_narrow_the_screen(width):
    names = ["a_name_that_is_rather_long.1", "mu"]
    lines = list(as_text(summarise(names, np.random.default_rng(0).normal(size=(9, 2)) * 1e-7), width))
    words = " ".join(lines).split()
    assert {"mean", "sd", "5%", "50%", "95%", *names} <= {*words} and "…" not in "".join(lines)
    longest = len(names[0]) + 2 + len("-1.00e-07")
    assert max(map(len, lines)) <= max(width, longest)


def test_another_interval_names_its_ends_and_has_errors_of_its_own():
    rows = np.random.default_rng(2).gamma(1.5, size=(4000, 1))
    wide = summarise(["x"], rows, style=TableStyle(interval=0.99))["x"]
    assert (wide.lower, wide.upper) == pytest.approx(np.quantile(rows, [0.005, 0.995]))
    assert wide.se_upper > summarise(["x"], rows)["x"].se_q95
    with pytest.raises(AttributeError, match="`lower` and `upper`"):
        wide.q5  # noqa: B018
    assert "0.5%" in str(summarise(["x"], rows, style=TableStyle(interval=0.99)))
    for bad in ({"interval": 1.0}, {"sig_figs": 0}):
        with pytest.raises(ArgumentError, match=next(iter(bad))):
            TableStyle(**bad)


def test_the_highest_density_interval_is_the_shortest_that_holds_as_many_draws():
    rows = np.random.default_rng(2).exponential(size=(2001, 1))
    found = summarise(["x"], rows, style=TableStyle(interval=0.8, hdi=True, sig_figs=4))
    row, (n, inside) = found["x"], (2001, 1601)
    ordered = np.sort(rows[:, 0])
    widths = [ordered[k + inside - 1] - ordered[k] for k in range(n - inside + 1)]
    assert row.upper - row.lower == pytest.approx(min(widths)) and row.lower == ordered[np.argmin(widths)]
    header, line = str(found).splitlines()
    assert "80% HDI low" in header and f"{row.mean:.4f}" in line
    assert list(row.record())[3:6] == ["lower", "median", "upper"]
    chains = summary_of_chains(["x"], rows[:2000].reshape(2, 1000, 1), TableStyle(hdi=True))
    assert chains["x"].lower < 0.01 and "90% HDI high" in str(chains)
