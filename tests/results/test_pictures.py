"""Pictures and the report: what is in them, not how they look."""

import base64
import json
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from laws.toy import Toy

from ppl.errors import DataError, PPLError
from ppl.kernel.draws.columns import chosen, folded
from ppl.results.files.readers import read_all
from ppl.results.fits.density import density, is_discrete, masses
from ppl.results.fits.fit import variational
from ppl.results.report.pictures import (
    KINDS,
    Material,
    Trace,
    left_out,
    parts,
    read_trace,
    replicated_outcomes,
    worst,
)
from ppl.results.report.reading import reading
from ppl.results.report.report import Program, data_uri, report

pytest.importorskip("matplotlib")
from ppl.results.report.plots import Draws, labelled, ppc, predictive, save, svg


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two runs, whose theta passes for replicated data."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2):
        variational(Toy(), algorithm="meanfield", seed=seed, draws=200, resample=False, move=False).save_csv(
            folder / f"{seed}.csv"
        )
        text = (folder / f"{seed}.csv").read_text().replace("theta.1,theta.2,y_rep", "y_rep.1,y_rep.2,z")
        (folder / f"{seed}.csv").write_text(text)
    return read_all([folder / "1.csv", folder / "2.csv"])


@pytest.fixture(scope="module")
def material(files):
    trace = Trace(np.array([[100.0, -90.0], [200.0, -35.0], [300.0, -34.0], [400.0, -34.1]]), "converged")
    outcomes = replicated_outcomes(files[0], {"y": [0.5, 1.0]}, {})
    return Material(files, files[0].columns, trace, reference=files[1], outcomes=outcomes)


@pytest.fixture(scope="module")
def page(material):
    """The text of a report."""
    return report(material, "a <b>", Program("model { /* < */ }", "loop & loop"))


@pytest.mark.rotate(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wide", [True, False])
def test_every_picture_is_svg_of_its_width_and_the_same_each_time(material, page, kind, wide):
    """That of the report, or a second one where the report has none."""
    text = svg(KINDS[kind].draw(material, wide))
    if KINDS[kind].usual(material):
        assert data_uri(text) in page
    else:
        assert text == svg(KINDS[kind].draw(material, wide))
    width = float(ElementTree.fromstring(text).get("width").removesuffix("pt")) / 72
    assert width <= (10.5 if wide else 4.0)


def test_the_trace_shows_where_the_run_stopped(material):
    axes = KINDS["elbo"].draw(material, True).axes[0]
    assert [text.get_text() for text in axes.texts] == ["converged at 400"]
    bottom = axes.get_ylim()[0]
    assert bottom > -90 and any(list(line.get_ydata()) == [bottom] for line in axes.lines)


def test_marginals_have_the_reference_beside_them(material):
    axes = KINDS["marginals"].draw(material, True).axes
    assert [a.get_title(loc="left") for a in axes] == list(material.names)
    assert [len(a.lines) for a in axes] == [6] * len(axes)  # a density, an interval and a mean, twice


def test_marginals_mark_mean_and_interval(material):
    material = replace(material, reference=None)
    figure = KINDS["marginals"].draw(material, True)
    values = material.draws.column("mu")
    _, bar, dot = figure.axes[0].lines
    assert list(bar.get_xdata()) == list(np.quantile(values, (0.05, 0.95)))
    assert list(dot.get_xdata()) == [values.mean()]
    assert "90% interval" in figure.get_supxlabel() and figure.get_supylabel() == "density"


def test_the_forest_has_a_row_a_column(material):
    axes = KINDS["forest"].draw(material, True).axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == list(material.names)
    assert list(axes.lines[0].get_xdata()) == pytest.approx(material.draws.rows.mean(axis=0))
    assert axes.get_xlabel() and axes.get_ylabel()


def test_the_trace_of_draws_has_a_line_a_run(material, files):
    axes = KINDS["trace"].draw(material, True).axes
    assert [a.get_title(loc="left") for a in axes] == list(material.names)
    assert [line.get_label() for line in axes[0].lines] == ["1.csv", "2.csv"]
    assert list(axes[0].lines[1].get_ydata()) == list(files[1].draws[:, 0])
    assert KINDS["trace"].usual(material) and not KINDS["trace"].usual(replace(material, files=files[:1]))


def test_what_a_picture_has_no_room_for_is_said(files):
    columns = tuple(f"x.{k}" for k in range(1, 31))
    draws = np.random.default_rng(0).normal(size=(200, 30))
    wide = replace(files[0], columns=columns, draws=draws, mean=None)
    material = Material((wide,), columns)
    assert left_out(material, "marginals") == (
        "marginals shows 24 of 30 columns, the first; for others name them, as in --variables x.25,x.26."
    )
    assert left_out(material, "forest") == "" and left_out(material, "predictive") == ""
    asked = replace(material, named=True)
    assert left_out(asked, "marginals") == "" and len(KINDS["marginals"].draw(asked, True).axes) == 30
    shown, _ = worst(asked, 8)
    message = left_out(asked, "pairs")
    assert "8 of 30 columns, those with the worst k-hat" in message
    assert message.split()[-1].split(",")[0] not in shown


def test_pairs_are_those_with_the_worst_khat(material):
    names, labels = worst(material, 3)
    khats = [float(label.split()[-1]) for label in labels]
    assert khats == sorted(khats, reverse=True) and len(names) == 3


def test_captions_are_true_of_what_was_done(material, files):
    assert KINDS["pairs"].caption(material).title == "Pairs with the worst k-hat"
    assert "red" not in KINDS["marginals"].caption(replace(material, reference=None)).reading
    assert str(material.reference.path) in KINDS["marginals"].caption(material).reading
    silent = replace(material, files=tuple(replace(file, internal={}) for file in files))
    assert KINDS["pairs"].caption(silent).title == "Pairs"
    assert "darker" not in KINDS["pairs"].caption(silent).reading
    assert "Mean-field" in KINDS["covariance"].caption(material).reading
    for change in ({"fit_draws": "moved"}, {"fit_family": "fullrank"}, {"fit_elbo_se": None}):
        config = {k: v for k, v in {**files[1].config, **change}.items() if v}
        other = replace(material, files=(files[0], replace(files[1], config=config)))
        assert "Mean-field" not in KINDS["covariance"].caption(other).reading


def test_large_variables_are_folded():
    columns = ("mu", *(f"theta.{k}" for k in range(1, 22)), "y_rep.1", "y_rep.2", "log_lik")
    shown, large = folded(columns, ("y_rep", "log_lik"))
    assert shown == ("mu", "log_lik") and large == {"theta": 21, "y_rep": 2}
    assert folded(columns[:21])[0] == columns[:21]


def test_the_report_begins_with_the_verdict_and_folds_its_table(material, page):
    message = material.files[0].provenance
    assert page.index(message.judgement[:30]) < page.index("ELBO ") < page.index("<table>")
    assert "Converged: " in page and "<th>mu</th>" in page and "<th>y_rep.1</th>" not in page
    asked = report(replace(material, names=("y_rep.2",), named=True), "toy")
    assert asked.count("<tr><th>") == 2 and "<th>y_rep.2</th>" in asked and "Left out" not in asked
    assert "y_rep (2 entries)" in page and "--variables y_rep</code>" in page


def test_the_heat_map_is_the_correlation(material):
    image = KINDS["covariance"].draw(material, True).axes[0].images[0]
    assert np.allclose(image.get_array(), np.corrcoef(material.draws.rows, rowvar=False))


def test_the_predictive_picture_has_the_data(material):
    points = KINDS["predictive"].draw(material, True).axes[0].lines[-1]
    assert list(points.get_ydata()) == [0.5, 1.0]


def test_many_observations_become_densities():
    rng = np.random.default_rng(0)
    axes = predictive(rng.normal(size=500), rng.normal(size=(80, 500))).axes[0]
    assert len(axes.lines) == 41


def test_a_predictive_check_counts_replications():
    """Data twice as wide as the replications have an sd that none of these reaches."""
    rng = np.random.default_rng(0)
    y_rep = rng.normal(size=(400, 100))
    first, *others = ppc(2 * rng.normal(size=100), y_rep).axes
    titles = [axes.get_title(loc="left") for axes in others]
    assert [title.partition(":")[0] for title in titles] == ["mean", "sd", "least", "greatest"]
    assert titles[1].endswith("= 0.00") and len(first.lines) == 41
    same = ppc(y_rep[7], y_rep).axes[2].get_title(loc="left")
    assert float(same.rpartition("= ")[2]) == pytest.approx(np.mean(y_rep.std(1) >= y_rep[7].std()), abs=6e-3)


def test_outcomes_have_a_picture_each(files, material):
    """Replications among the draws or simulated, by any name; missing values are left out."""
    simulated = {"x": np.arange(600.0).reshape(200, 3)}
    data = {"N": 3, "y": [0.5, 1.0], "x": [1.0, None, 2.0], "word": "a"}
    found = replicated_outcomes(files[0], data, simulated)
    assert [*found] == ["y", "x"] and found["x"].y.tolist() == [1, 2]
    assert np.array_equal(found["x"].y_rep, simulated["x"][:, [0, 2]])
    assert [*replicated_outcomes(files[0], data, simulated, "x")] == ["x"]
    other = replicated_outcomes(files[0], {"b": [0.5, 1.0]}, {}, "b", "y_rep")
    assert np.array_equal(other["b"].y_rep, found["y"].y_rep)
    assert not replicated_outcomes(files[0], data, simulated, replicated="z")
    both = replace(material, outcomes=found)
    drawn = {name: KINDS["ppc"].draw(part, False) for name, part in parts(both, "ppc")}
    titles = {name: figure.axes[1].get_title(loc="left") for name, figure in drawn.items()}
    assert titles["x"].startswith("mean: P(x_rep ≥ x) = ") and [*titles] == ["y", "x"]
    assert [*parts(both, "forest")] == [("", both)]
    page = report(both, "a")
    assert "Posterior predictive check of x</h2>" in page and "Posterior predictive of y</h2>" in page


def test_pictures_whose_material_is_missing_are_left_out(files):
    bare = Material(files, files[0].columns[:1])
    drawn = {name for name, kind in KINDS.items() if kind.draw(bare, True) is not None}
    assert drawn == {"marginals", "forest", "trace"}


def test_a_column_that_never_varies_or_is_nan_harms_nothing(files):
    rows = files[0].draws.copy()
    rows[:, 0], rows[:, 1], rows[:, 2] = 3.0, np.nan, 4.6 + 1e-15 * (np.arange(len(rows)) % 2)
    file = replace(files[0], draws=rows)
    material = Material((file,), file.columns)
    assert material.constant == file.columns[:3] and material.draws.columns == file.columns[3:]
    for kind in KINDS.values():
        figure = kind.draw(material, True)
        assert figure is None or svg(figure)
    nothing = Material((file,), file.columns[:3])
    assert [name for name, kind in KINDS.items() if kind.draw(nothing, True)] == []


@pytest.mark.rotate(2)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
def test_no_warning_leaks(files, kind, tmp_path):
    rng = np.random.default_rng(0)
    rows = files[0].draws.copy()
    rows[:, 0], rows[:, 1] = rng.standard_cauchy(200) ** 9 * 1e200, rng.normal(size=200) * 1e-300
    rows[:, 2], rows[:5, 3] = rng.poisson(3, 200), np.inf
    for internal, wide in (({}, True), (files[0].internal, False)):
        file = replace(files[0], draws=rows, internal=internal)
        material = Material((file,), file.columns, reference=replace(file, draws=np.ones_like(rows)))
        figure = KINDS[kind].draw(material, wide)
        if figure:
            save(figure, tmp_path / "a.png")


def test_files_by_suffix(material, tmp_path):
    save(KINDS["elbo"].draw(material, True), tmp_path / "a.png")
    save(KINDS["elbo"].draw(material, True), tmp_path / "a.svg")
    contents = set()
    for _ in range(2):
        save(KINDS["elbo"].draw(material, True), tmp_path / "a.pdf")
        contents.add((tmp_path / "a.pdf").read_bytes())
    assert len(contents) == 1 and contents.pop().startswith(b"%PDF")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_labels_of_many_columns_are_the_first_of_each_variable():
    columns = [f"{name}.{k}" for name in "abc" for k in range(1, 41)]
    assert labelled(columns, 30) == [0, 40, 80] and labelled(columns[:5], 30) == [0, 1, 2, 3, 4]


# --- Densities -----------------------------------------------------------------------------------


def test_a_density_integrates_to_one_and_stays_inside_the_support():
    values = np.random.default_rng(0).exponential(size=4000)
    x, height = density(values)
    assert x[0] >= 0 and np.trapezoid(height, x) == pytest.approx(0.995, abs=0.01)
    assert height[0] == pytest.approx(1.0, abs=0.15)


def test_counts_are_masses():
    values = np.array([3.0, 3.0, 5.0, 4.0])
    assert is_discrete(values) and not is_discrete(values + 0.5)
    at, mass = masses(values)
    assert at.tolist() == [3, 4, 5] and mass.tolist() == [0.5, 0.25, 0.25]


# --- Reading -------------------------------------------------------------------------------------


def test_a_trace_is_read_from_both_kinds_of_file(toy, tmp_path):
    fit = variational(toy, draws=10)
    fit.save_diagnostics(tmp_path / "d.csv")
    fit.save(tmp_path / "fit.json")
    for name in ("d.csv", "fit.json"):
        assert np.array_equal(read_trace(tmp_path / name).points, fit.elbo_trace)
    assert read_trace(tmp_path / "fit.json").ending == fit.outcome.ending.value
    (tmp_path / "no.json").write_text(json.dumps({"a": 1}))
    with pytest.raises(DataError, match="holds no ELBO trace"):
        read_trace(tmp_path / "no.json")


def test_columns_are_chosen_by_variable():
    columns = ("mu", "theta.1", "theta.2", "y_rep")
    assert chosen(columns, ["theta"], ()) == ("theta.1", "theta.2")
    assert chosen(columns, ["theta.2", "mu"], ()) == ("mu", "theta.2")
    assert chosen(columns, [], ["mu"]) == ("mu",) and chosen(columns, [], ()) == columns
    with pytest.raises(DataError, match="no variable tau among the draws; there are mu, theta, y_rep"):
        chosen(columns, ["tau"], ())


def test_the_paragraph_tells_good_from_bad(files):
    assert reading(files[:1], files[0].columns).startswith("Verdict: good: ")
    assert "The 2 runs agree" in reading(files, files[0].columns)
    rng = np.random.default_rng(0)
    ratios = {"log_p__": rng.standard_cauchy(200) * 5, "log_g__": np.zeros(200)}
    bad = replace(files[0], internal=ratios, config={})
    assert reading([bad], bad.columns).startswith("Verdict: poor: ")
    assert "q misses part of the posterior (Pareto k-hat" in reading([bad], bad.columns)
    moved = replace(files[1], draws=files[1].draws + 3)
    assert "do not agree" in reading([files[0], moved], files[0].columns)
    silent = replace(files[0], internal={}, config={})
    assert "the quality of the fit is unknown" in reading([silent], silent.columns)


@pytest.mark.parametrize(("scale", "level"), [(0.02, "good"), (0.25, "usable"), (1.0, "poor")])
def test_files_that_say_nothing_are_judged_by_the_rule_of_fits(files, scale, level):
    draws = np.random.default_rng(1).standard_normal((1000, 2))
    ratios = {"log_p__": scale * (draws**2).sum(axis=1), "log_g__": np.zeros(1000)}
    names = files[0].parameters[:2]
    file = replace(files[0], config={}, columns=names, draws=draws, internal=ratios, mean=None)
    assert reading([file], names).startswith(f"Verdict: {level}: ")


class Page(HTMLParser):
    """The tags of a page with their attributes, and whether they are balanced."""

    VOID = ("meta", "link", "img", "source")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_report_is_one_file_that_asks_for_nothing(page):
    parsed = Page(page)
    assert not parsed.open and "script" not in [tag for tag, _ in parsed.tags]
    assert not re.search(r"(src|href|srcset)=\"(?!data:)|url\(|@import", page)
    assert "a &lt;b&gt;" in page and "loop &amp; loop" in page and "k-hat" in page
    pictures = [attrs for tag, attrs in parsed.tags if tag in ("img", "source")]
    assert len(pictures) == 2 * len(KINDS)
    for attrs in pictures:
        uri = attrs.get("src") or attrs["srcset"]
        ElementTree.fromstring(base64.b64decode(uri.partition("base64,")[2]))


def test_draws_by_column():
    draws = Draws(("a", "b"), np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert draws.column("b").tolist() == [3.0] and draws.first(1).columns == ("a",)


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PPLError, match=r"pip install .*(matplotlib|plot)"):
        predictive(np.zeros(2), np.zeros((3, 2)))
