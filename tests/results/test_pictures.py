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

import ppl
from ppl.errors import DataError, PPLError
from ppl.kernel.draws.columns import chosen, folded
from ppl.results.files.readers import read_all
from ppl.results.fits.density import density, is_discrete, masses
from ppl.results.fits.fit import variational
from ppl.results.pictures.leave_one_out import loo_pit
from ppl.results.pictures.marks import BAND_STEPS, band_of_ranks, band_of_uniform
from ppl.results.pictures.material import (
    ElboTrace,
    Groups,
    Material,
    NamedDraws,
    Overlay,
    Replicated,
    read_trace,
    replicated_outcomes,
)
from ppl.results.pictures.pairs import labelled, worst
from ppl.results.pictures.ppc import support_of
from ppl.results.pictures.table import KINDS, parts
from ppl.results.report.log_lik import LogLik
from ppl.results.report.reading import reading
from ppl.results.report.report import Program, report

pytest.importorskip("matplotlib")
from ppl.results.pictures.canvas import NARROW_LOOK, WIDE_LOOK, Look, save, svg


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
    trace = ElboTrace(np.array([[100.0, -90.0], [200.0, -35.0], [300.0, -34.0], [400.0, -34.1]]), "converged")
    outcomes = replicated_outcomes(files[:1], {"y": [0.5, 1.0]}, {})
    reference = Overlay(str(files[1].path), NamedDraws(files[1].columns, files[1].draws))
    return Material(files, files[0].columns[:3], trace, reference, outcomes)


def of_outcome(y, y_rep, **more):
    """Material of an outcome alone."""
    return Material(
        (), (), outcomes={"y": Replicated(np.asarray(y, float), np.asarray(y_rep, float), **more)}
    )


@pytest.fixture(scope="module")
def page(material):
    """The text of a report."""
    return report(material, "a <b>", Program("model { /* < */ }", "loop & loop"))


@pytest.fixture(scope="module")
def there(material):
    """The kinds that this material is enough for."""
    return [kind for kind in KINDS.values() if not kind.missing(material)]


def test_most_kinds_are_there(there):
    missing = {*KINDS} - {kind.name for kind in there}
    assert missing == {"prior", "groups", "loo-pit", "khat", "energy", "effects"}


@pytest.mark.rotate
@pytest.mark.parametrize("kind", KINDS)
def test_every_picture_is_svg_of_its_width_and_the_same_each_time(material, kind):
    if not KINDS[kind].missing(material):
        for look in (WIDE_LOOK, NARROW_LOOK):
            text = svg(KINDS[kind].figure(material, look))
            width = float(ElementTree.fromstring(text).get("width").removesuffix("pt")) / 72
            assert width <= (10.5 if look.wide else 4.0)
        assert text == svg(KINDS[kind].figure(material, NARROW_LOOK))


def test_the_trace_shows_where_the_run_stopped(material):
    axes = KINDS["elbo"].axes(material)[0]
    assert [text.get_text() for text in axes.texts] == ["converged at 400"]
    bottom = axes.get_ylim()[0]
    assert bottom > -90 and any(list(line.get_ydata()) == [bottom] for line in axes.lines)


def test_marginals_have_the_reference_beside_them(material):
    axes = KINDS["marginals"].axes(material)
    assert [a.get_title(loc="left") for a in axes] == list(material.names)
    assert [len(a.lines) for a in axes] == [6] * len(axes)  # a density, an interval and a mean, twice


def test_marginals_mark_mean_and_interval(material):
    material = replace(material, reference=None)
    figure = KINDS["marginals"].figure(material)
    values = material.draws.column("mu")
    _, bar, dot = figure.axes[0].lines
    assert list(bar.get_xdata()) == list(np.quantile(values, (0.05, 0.95)))
    assert list(dot.get_xdata()) == [values.mean()]
    assert "90% interval" in figure.get_supxlabel() and figure.get_supylabel() == "density"


def test_the_forest_has_a_row_a_column(material):
    axes = KINDS["forest"].axes(material)[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == list(material.names)
    assert list(axes.lines[0].get_xdata()) == pytest.approx(material.draws.rows.mean(axis=0))
    assert "90% intervals" in axes.get_xlabel()


def test_the_trace_of_draws_has_a_line_a_run(material, files):
    axes = KINDS["trace"].axes(material)
    assert [a.get_title(loc="left") for a in axes] == list(material.names)
    assert [line.get_label() for line in axes[0].lines] == ["1.csv", "2.csv"]
    assert list(axes[0].lines[1].get_ydata()) == list(files[1].draws[:, 0])
    assert KINDS["trace"].usual(material) and not KINDS["trace"].usual(replace(material, files=files[:1]))


def test_what_a_picture_has_no_room_for_is_said(files):
    columns = tuple(f"x.{k}" for k in range(1, 31))
    draws = np.random.default_rng(0).normal(size=(200, 30))
    wide = replace(files[0], columns=columns, draws=draws, mean=None)
    material = Material((wide,), columns)
    assert KINDS["marginals"].left_out(material) == (
        "marginals shows 24 of 30 columns, the first; for others name them, as in --variables x.25,x.26."
    )
    assert KINDS["forest"].left_out(material) == ""
    asked = replace(material, named=True)
    assert KINDS["marginals"].left_out(asked) == "" and len(KINDS["marginals"].axes(asked)) == 30
    shown, _ = worst(asked, 8)
    message = KINDS["pairs"].left_out(asked)
    assert "8 of 30 columns, those with the worst k-hat" in message
    assert message.split()[-1].split(",")[0] not in shown


def test_pairs_are_those_with_the_worst_khat(material):
    names, labels = worst(material, 3)
    khats = [float(label.split()[-1]) for label in labels]
    assert khats == sorted(khats, reverse=True) and len(names) == 3


def test_captions_are_true_of_what_was_done(material, files):
    assert KINDS["pairs"].caption(material).title == "Pairs with the worst k-hat"
    assert "red" not in KINDS["marginals"].caption(replace(material, reference=None)).reading
    assert material.reference.name in KINDS["marginals"].caption(material).reading
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


@pytest.mark.rotate("page")
def test_the_report_begins_with_the_verdict_and_folds_its_table(material, page):
    message = material.files[0].provenance
    assert page.index(message.judgement[:30]) < page.index("<table>") < page.index("<figure>")
    assert "Converged: " in page and "<th>mu</th>" in page and "<th>y_rep.1</th>" not in page
    asked = report(replace(material, names=("y_rep.2",), named=True, outcomes={}, trace=None), "toy")
    assert asked.count("<tr><th>") == 2 and "<th>y_rep.2</th>" in asked and "Left out" not in asked
    assert "y_rep (2 entries)" in page and "--variables y_rep</code>" in page


def test_the_heat_map_is_the_correlation(material):
    image = KINDS["covariance"].axes(material)[0].images[0]
    assert np.allclose(image.get_array(), np.corrcoef(material.draws.rows, rowvar=False))


def test_the_predictive_picture_has_the_data(material):
    points = KINDS["predictive"].axes(material)[0].lines[-1]
    assert list(points.get_ydata()) == [0.5, 1.0]


def test_many_observations_are_drawn_over_their_means():
    rng = np.random.default_rng(0)
    y_rep = rng.normal(size=(80, 500))
    axes = KINDS["predictive"].axes(of_outcome(y_rep[0], y_rep[1:]))[0]
    assert np.allclose(axes.lines[-1].get_xdata(), y_rep[1:].mean(axis=0))
    assert np.array_equal(axes.lines[-1].get_ydata(), y_rep[0])


@pytest.mark.parametrize("n", [40, 100])
def test_whole_outcomes_have_whole_ticks(n):
    y_rep = np.random.default_rng(0).integers(1, 4, (80, n)).astype(float)
    ticks = KINDS["predictive"].axes(of_outcome(y_rep[0], y_rep[1:]))[0].get_yticks()
    assert len(ticks) > 2 and np.array_equal(ticks, np.round(ticks))


def test_a_predictive_check_counts_replications():
    """Data twice as wide as the replications have an sd that none of these reaches."""
    rng = np.random.default_rng(0)
    y_rep = rng.normal(size=(400, 100))
    first, *others = KINDS["ppc"].axes(of_outcome(2 * rng.normal(size=100), y_rep))
    titles = [axes.get_title(loc="left") for axes in others]
    assert [title.partition(" ")[0] for title in titles] == ["mean", "sd", "least", "greatest"]
    assert titles[1].endswith("(P = 0.00)") and len(first.lines) == 41
    same = KINDS["ppc"].axes(of_outcome(y_rep[7], y_rep))[2].get_title(loc="left")
    shown = float(same.rpartition("= ")[2].rstrip(")"))
    assert shown == pytest.approx(np.mean(y_rep.std(1) >= y_rep[7].std()), abs=6e-3)


def heights(axes):
    return [patch.get_height() for patch in axes.patches]


def test_a_statistic_that_never_differs_is_left_out():
    y_rep = np.random.default_rng(0).integers(1, 6, size=(50, 100))
    titles = [
        axes.get_title(loc="left").partition(" ")[0]
        for axes in KINDS["ppc"].axes(of_outcome(y_rep[0], y_rep))
    ]
    assert titles == ["distribution", "mean", "sd"]


def test_whole_numbers_are_bars_with_intervals_of_replications():
    """A number is counted where it is; of two values the mean alone is a statistic."""
    rng = np.random.default_rng(0)
    y_rep = rng.binomial(1, 0.3, size=(500, 50))
    axes, mean = KINDS["ppc"].axes(of_outcome([0] * 20 + [1] * 30, y_rep))
    assert heights(axes) == [20, 30] and mean.get_title(loc="left").startswith("mean")
    low, high = np.quantile(y_rep.sum(axis=1), (0.05, 0.95))
    assert [list(line[:, 1]) for line in axes.collections[0].get_segments()][1] == [low, high]
    counts = rng.poisson(3, size=(500, 200))
    rootogram = KINDS["rootogram"].axes(of_outcome(counts[0], counts))[0]
    assert heights(rootogram)[:4] == [float((counts[0] == k).sum()) for k in range(4)]
    assert rootogram.get_yaxis().get_transform().transform(np.array([9.0])) == 3
    titles = [axes.get_title(loc="left") for axes in KINDS["ppc"].axes(of_outcome(counts[0], counts))]
    assert "zeros (P" in titles[3] and KINDS["rootogram"].usual(of_outcome(counts[0], counts))
    wide = KINDS["rootogram"].axes(of_outcome(1000 * counts[0], 1000 * counts))[0]
    assert sum(heights(wide)) == 200 and len(heights(wide)) <= 61


def test_groups_have_a_panel_or_a_row_each():
    """Levels by name, in their order, with how many observations each has."""
    y, codes = np.array([1.0, 2, 3, 4, 5]), np.array([0, 1, 1, 0, 1])
    y_rep = np.tile(y, (40, 1)) + np.arange(40)[:, None] / 40
    material = of_outcome(y, y_rep, groups=Groups("clinic", ("Bath", "Hull", "York"), codes))
    rows = KINDS["groups"].axes(material)[0]
    assert [text.get_text() for text in rows.get_yticklabels()] == ["Bath (2)", "Hull (3)"]
    assert list(rows.lines[-1].get_xdata()) == [2.5, 10 / 3] and "by clinic" in rows.get_xlabel()
    assert [axes.get_title(loc="left") for axes in KINDS["ppc"].axes(material)] == ["Bath (2)", "Hull (3)"]


def test_columns_of_data_are_groups(files):
    y, simulated = np.arange(6.0).reshape(3, 2), {"x": np.arange(1200.0).reshape(200, 3, 2)}
    data = {"x": y, "row": ["b", "a", "b"], "each": [[0, 1], [1, 1], [0, 0]], "long": [1, 2], "word": "x"}
    groups = replicated_outcomes(files[:1], data, simulated, by="row")["x"].groups
    assert groups.levels == ("a", "b") and groups.codes.tolist() == [1, 0, 1, 1, 0, 1]
    found = replicated_outcomes(files[:1], data, simulated, by="each")["x"]
    assert found.groups.levels == ("each 0", "each 1") and found.y.tolist() == [0, 2, 4, 1, 3, 5]
    assert [level[1].tolist() for level in found.by_group()] == [[0, 4, 5], [2, 1, 3]]
    for by, says in (
        ("long", "has no value for each observation of x"),
        ("word", "no value"),
        ("z", "no column z"),
    ):
        with pytest.raises(DataError, match=says):
            replicated_outcomes(files[:1], data, simulated, by=by)


# --- ECDFs ---------------------------------------------------------------------------------------


def test_left_out_rows_of_the_right_model_have_uniform_pits():
    """Of known parameters, with equal weights; counts are spread over the jumps of their cdf."""
    rng = np.random.default_rng(0)
    y, y_rep = rng.normal(size=400), rng.normal(size=(1000, 400))
    rows = LogLik(tuple(map(str, range(400))), np.zeros((1000, 400)), np.zeros(1000))
    assert np.allclose(loo_pit(rows, y, y_rep), (y_rep < y).mean(axis=0))
    counts = rng.poisson(1.0, size=(1001, 400)).astype(float)
    for pits in (loo_pit(rows, y, y_rep), loo_pit(rows, counts[0], counts[1:])):
        below = (
            np.searchsorted(np.sort(pits), np.arange(1, BAND_STEPS) / BAND_STEPS) / 400
            - np.arange(1, BAND_STEPS) / BAND_STEPS
        )
        low, high = band_of_uniform(400)
        assert ((low <= below) & (below <= high)).all()
    with pytest.raises(DataError, match="400 values at 1000 draws"):
        loo_pit(replace(rows, values=np.zeros((10, 400))), y, y_rep)


@pytest.mark.parametrize(("total", "n"), [(0, 50), (400, 100)])
def test_a_band_has_95_percent_of_whole_ecdfs(total, n):
    """Of values and ranks with other random numbers than those that it was made with."""
    rng = np.random.default_rng(7)
    low, high = band_of_ranks(total, n) if total else band_of_uniform(n)
    steps, inside = np.arange(1, BAND_STEPS) / BAND_STEPS, 0
    for _ in range(400):
        x = rng.choice(total, n, replace=False) / total if total else rng.uniform(size=n)
        below = np.searchsorted(np.sort(x), steps) / n - steps
        inside += bool(((low <= below + 1e-9) & (below - 1e-9 <= high)).all())
    assert 0.92 < inside / 400 < 0.985


def test_ranks_of_a_shifted_run_leave_the_band(files):
    moved = replace(files[1], draws=files[1].draws + 3)
    axes = KINDS["rank"].axes(Material((files[0], moved), files[0].columns[:1]))[0]
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert max(axes.lines[1].get_ydata()) > 2 * band.max()
    assert (
        KINDS["rank"].missing(Material(files[:1], files[0].columns))[0].what
        == "draws of several runs or chains"
    )


def test_energy_has_the_fraction_of_missing_information(files):
    """A random walk of energies has next to no information."""
    walk = np.random.default_rng(0).normal(size=200).cumsum()
    chains = tuple(
        replace(file, internal={"energy__": e})
        for file, e in zip(files, (walk, walk * 0 + np.arange(200) % 2), strict=True)
    )
    titles = [axes.get_title(loc="left") for axes in KINDS["energy"].axes(Material(chains, files[0].columns))]
    assert float(titles[0].rpartition(" ")[2]) < 0.1 and titles[1] == "2.csv: BFMI 3.98"


# --- Looks ---------------------------------------------------------------------------------------


def test_a_log_axis_a_transform_and_a_line(files):
    positive = Material(files, ("mu",), transform=np.exp)
    axes = KINDS["forest"].axes(positive, Look(log=True, line=1.0, title="Ratios"))[0]
    assert axes.get_xscale() == "log" and axes.get_title(loc="left") == "Ratios"
    assert list(axes.lines[0].get_xdata()) == [1, 1] and axes.get_xlabel().startswith("exp(value)")
    assert axes.lines[1].get_xdata()[0] == pytest.approx(np.exp(positive.draws.rows).mean())
    density_of_log = KINDS["marginals"].axes(positive, Look(log=True))[0].lines[0]
    _, height = density(np.exp(positive.draws.column("mu")))
    assert not np.allclose(density_of_log.get_ydata(), height)
    ratios = replace(positive, transform=lambda x: np.exp(x - np.median(x)))
    assert list(KINDS["forest"].axes(ratios)[0].lines[-1].get_xdata()) == [ratios.no_effect] * 2
    with pytest.raises(DataError, match="mu has values that are not positive"):
        KINDS["forest"].axes(replace(positive, transform=None), Look(log=True))
    with pytest.raises(DataError, match="covariance has no axis of values"):
        KINDS["covariance"].axes(Material(files, files[0].columns), Look(line=0.0))


def test_the_prior_is_cut_off_where_it_reaches_far_beyond(files):
    wide = NamedDraws(("mu",), 1000 * np.random.default_rng(0).normal(size=(400, 1)))
    material = Material(files, ("mu",), prior=Overlay("prior", wide))
    low, high = KINDS["prior"].axes(material)[0].get_xlim()
    assert high - low < 10 * np.ptp(material.draws.rows)


@pytest.mark.rotate
def test_outcomes_have_a_picture_each(files, material):
    """Replications among the draws or simulated, by any name; missing values are left out."""
    simulated = {"x": np.arange(600.0).reshape(200, 3)}
    data = {"N": 3, "y": [0.5, 1.0], "x": [1.0, None, 2.0], "word": "a"}
    found = replicated_outcomes(files[:1], data, simulated)
    assert [*found] == ["y", "x"] and found["x"].y.tolist() == [1, 2]
    assert np.array_equal(found["x"].y_rep, simulated["x"][:, [0, 2]])
    assert [*replicated_outcomes(files[:1], data, simulated, "x")] == ["x"]
    other = replicated_outcomes(files[:1], {"b": [0.5, 1.0]}, {}, "b", "y_rep")
    assert np.array_equal(other["b"].y_rep, found["y"].y_rep)
    assert not replicated_outcomes(files[:1], data, simulated, replicated="z")
    both = replace(material, outcomes=found)
    drawn = {name: KINDS["ppc"].axes(part, NARROW_LOOK)[0] for name, part in parts(both, KINDS["ppc"])}
    assert [axes.get_xlabel() for axes in drawn.values()] == [*drawn] == ["y", "x"]
    assert [*parts(both, KINDS["forest"])] == [("", both)]
    page = report(replace(both, files=files[:1], names=("mu",), trace=None), "a")
    assert "Posterior predictive check of x</h2>" in page and "Posterior predictive of y</h2>" in page


def test_pictures_whose_material_is_missing_are_left_out(files):
    bare = Material(files, files[0].columns[:1])
    drawn = {name for name, kind in KINDS.items() if not kind.missing(bare)}
    assert drawn == {"marginals", "forest", "trace", "rank"}
    with pytest.raises(DataError, match=r"ppc needs an outcome with replicated data\."):
        KINDS["ppc"].axes(bare)


def test_a_column_that_never_varies_or_is_nan_harms_nothing(files):
    rows = files[0].draws.copy()
    rows[:, 0], rows[:, 1], rows[:, 2] = 3.0, np.nan, 4.6 + 1e-15 * (np.arange(len(rows)) % 2)
    file = replace(files[0], draws=rows)
    material = Material((file,), file.columns)
    assert material.omitted == file.columns[:3] and material.draws.columns == file.columns[3:]
    for kind in KINDS.values():
        assert kind.missing(material) or svg(kind.figure(material))
    nothing = Material((file,), file.columns[:3])
    assert [name for name, kind in KINDS.items() if not kind.missing(nothing)] == []


def test_a_symmetric_matrix_is_drawn_by_its_lower_triangle(files):
    rng = np.random.default_rng(0)
    a, b, c, one = *rng.normal(size=(3, 50)), np.ones(50)
    columns = tuple(f"R.{i}.{j}" for j in (1, 2, 3) for i in (1, 2, 3))
    file = replace(files[0], columns=columns, mean=None, draws=np.array([one, a, b, a, one, c, b, c, one]).T)
    material = Material((file,), columns)
    assert material.draws.columns == ("R.2.1", "R.3.1", "R.3.2")
    assert np.array_equal(material.draws.rows, np.array([a, b, c]).T)


@pytest.mark.rotate
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", KINDS)
def test_no_warning_leaks(files, kind):
    rng = np.random.default_rng(0)
    rows = files[0].draws.copy()
    rows[:, 0], rows[:, 1] = rng.standard_cauchy(200) ** 9 * 1e200, rng.normal(size=200) * 1e-300
    rows[:, 2], rows[:5, 3] = rng.poisson(3, 200), np.inf
    for internal, look in (({}, WIDE_LOOK), (files[0].internal, NARROW_LOOK)):
        file = replace(files[0], draws=rows, internal=internal)
        ones = Overlay("ones", NamedDraws(file.columns, np.ones_like(rows)))
        material = Material((file, file), file.columns, reference=ones)
        if not KINDS[kind].missing(material):
            KINDS[kind].figure(material, look).draw_without_rendering()


@pytest.mark.rotate
def test_files_by_suffix(material, tmp_path):
    save(KINDS["elbo"].figure(material), tmp_path / "a.png")
    save(KINDS["elbo"].figure(material), tmp_path / "a.svg")
    contents = set()
    for _ in range(2):
        save(KINDS["elbo"].figure(material), tmp_path / "a.pdf")
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


def test_a_density_ends_where_the_support_ends():
    """Known: at the bound, not at the least draw; without bounds it goes on to where it is low."""
    values = np.random.default_rng(0).exponential(size=200) + 0.05
    x, height = density(values, (0, np.inf))
    assert x[0] == 0 and height[0] > 0.5
    x, height = density(values, (-np.inf, np.inf))
    assert x[0] < 0 and height[0] < 0.35


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


@pytest.mark.rotate("page")
def test_the_report_is_one_file_that_asks_for_nothing(page, material, there):
    parsed = Page(page)
    assert not parsed.open and "script" not in [tag for tag, _ in parsed.tags]
    assert not re.search(r"(src|href|srcset)=\"(?!data:)|url\(|@import", page)
    assert "a &lt;b&gt;" in page and "loop &amp; loop" in page and "k-hat" in page
    pictures = [attrs for tag, attrs in parsed.tags if tag in ("img", "source")]
    assert len(pictures) == 2 * len([k for k in there if k.usual(material)])
    for attrs in pictures:
        uri = attrs.get("src") or attrs["srcset"]
        ElementTree.fromstring(base64.b64decode(uri.partition("base64,")[2]))


def test_draws_by_column():
    draws = NamedDraws(("a", "b"), np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert draws.column("b").tolist() == [3.0] and draws.only(["b"]).rows.shape == (2, 1)


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(PPLError, match=r"pip install .*(matplotlib|plot)"):
        KINDS["predictive"].axes(of_outcome([0, 1], np.zeros((3, 2))))


def test_long_names_fit_their_panels_and_long_labels_are_wrapped():
    names = [f"standardised_effect_of_predictor_number_{k}" for k in range(1, 9)]
    program = f"parameters {{ {' '.join(f'real {name};' for name in names)} }} model {{ "
    program += " ".join(f"{name} ~ std_normal();" for name in names) + " }"
    fit = ppl.compile_model(program).condition({}).variational(algorithm="laplace", draws=50)
    for narrow in (False, True):
        titles = [axes.get_title(loc="left") for axes in fit.plot.marginals(narrow=narrow)]
        assert all("…" in title and title.endswith(f"_{k}") for k, title in enumerate(titles, 1))
        label = fit.plot.forest(narrow=narrow).get_xlabel()
        assert ("\n" in label) == narrow and label.split() == fit.plot.forest().get_xlabel().split()


@pytest.mark.parametrize(("statistic", "least"), [("zeros", 0), ("greatest", 0)])
def test_statistics_of_counts_have_no_density_below_zero(statistic, least):
    y, y_rep = np.array([0.0, 40, 90]), np.random.default_rng(2).poisson(np.full((400, 3), [0.7, 40, 90]))
    low, high = support_of(statistic, y, y_rep.astype(float))
    assert low == least and high >= 1
    assert support_of("least", y - 1, y_rep - 1.0)[0] == -np.inf
