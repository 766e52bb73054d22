"""The pictures of the site: densities, and fits of the gallery, made by the commands that stand there."""

import re
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import ppl
from ppl.cli.commands.new import examples
from ppl.cli.site import gallery, site
from ppl.cli.site.densities import SHOWN, curves, densities, labels
from ppl.errors import PPLError
from ppl.results.report.pictures import KINDS
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.table import DISTRIBUTIONS

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")


def test_every_density_of_single_numbers_is_drawn():
    assert {*SHOWN} == {*FORMULAS, "wiener"}


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_shows_most_of_each_density(name):
    d = BY_NAME[name]
    y, heights = curves(d)
    assert np.isfinite(heights).all() and (heights >= 0).all()
    widths = 1 if d.discrete else (SHOWN[name].high - SHOWN[name].low) / len(y)
    masses = heights.sum(axis=1) * widths
    assert (masses > 0.75).all() and (masses < 1.02).all()


def test_a_label_names_the_parameters():
    assert labels(BY_NAME["normal"])[1] == "mu = 0, sigma = 2" and labels(BY_NAME["std_normal"]) == [""]
    assert labels(BY_NAME["wiener"])[0] == "alpha = 1.5, tau = 0.2, beta = 0.5, delta = 1"


def test_pictures_are_svg_that_name_their_curves():
    pytest.importorskip("matplotlib")
    drawn = dict(densities())
    assert drawn.keys() == SHOWN.keys() and all("<svg" in svg for svg in drawn.values())
    assert "sigma = 0.5" in drawn["normal"] and ">density<" in drawn["normal"]
    assert ">probability<" in drawn["poisson"]


def test_every_example_has_a_picture_or_a_reason_why_not():
    assert sorted([*gallery.EXHIBITS, *gallery.UNPICTURED]) == sorted(examples())
    page = "\n".join(gallery.gallery())
    assert all(f"No picture: {reason}." in page for reason in gallery.UNPICTURED.values())


@pytest.mark.parametrize("name", gallery.EXHIBITS)
def test_an_exhibit_is_a_model_with_these_variables(name):
    assert name in examples()
    program = files("ppl.models").joinpath(name, f"{name}.model").read_text("utf-8")
    for kind, variables in gallery.EXHIBITS[name].pictures:
        assert kind in KINDS
        for variable in filter(None, variables.split(",")):
            assert re.search(rf"\b{variable.partition('.')[0]}\b", program)


def test_what_its_commands_give_is_on_the_page(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(site, "EXHIBITS", {"weibull_poisson": gallery.EXHIBITS["weibull_poisson"]})
    found = dict(site.site([], pictures=True))
    _, _, page = found["docs/gallery.md"].partition("## weibull\\_poisson\n")
    page, _, _ = page.partition("\n## ")
    assert "ppl plot output.csv --kind marginals -o marginals.svg\n" in page
    assert re.search(r"```text\n +mean +se +sd .*\ntheta +0\.6", page)
    assert "\n\nVerdict: good: " in page
    assert "docs/pictures/weibull_poisson-marginals.svg" in found
    for path, text in found.items():
        assert all(f"docs/{image}" in found for image in IMAGE.findall(text)), path
    assert len(IMAGE.findall(found["docs/distributions.md"])) == len(SHOWN)


def test_without_pictures_no_page_has_one():
    assert not any(IMAGE.findall(text) for path, text in site.site([]) if path.endswith(".md"))


def test_a_command_that_fails_is_named_with_what_it_said(tmp_path):
    with pytest.raises(PPLError, match=r"`ppl check none\.model` ended with status (?s:.*)none\.model"):
        gallery.said("ppl check none.model", str(tmp_path))


def test_commands_run_this_package_wherever_they_run(tmp_path, monkeypatch):
    """`python -c` has "" on its path, which would be the folder of the commands."""
    (tmp_path / "ppl.py").write_text("raise ImportError")
    monkeypatch.chdir(Path(ppl.__file__).parents[1])
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert gallery.said("ppl --version", str(tmp_path)).startswith("ppl ")
