"""The pictures of the site: densities, and fits of the gallery, made by the commands that stand there."""

import re
from importlib.resources import files

import numpy as np
import pytest

from ppl.cli.commands.new import examples
from ppl.cli.site import gallery, site
from ppl.cli.site.densities import PICTURES, curves, densities, labels
from ppl.cli.site.running import Output, expected_outputs, outputs, picture_files, run, with_outputs
from ppl.errors import PPLError
from ppl.results.pictures.table import KINDS
from ppl.stdlib.distributions.formulas import FORMULAS
from ppl.stdlib.distributions.table import DISTRIBUTIONS

BY_NAME = {d.name: d for d in DISTRIBUTIONS}
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)]*)\)")


@pytest.fixture(scope="module")
def drawn():
    """All densities, drawn once."""
    pytest.importorskip("matplotlib")
    return [*densities()]


def test_every_density_of_single_numbers_is_drawn():
    assert {*PICTURES} == {*FORMULAS, "wiener"}, "add the picture to cli/site/distributions.toml"


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_most_of_each_density(name):
    d = BY_NAME[name]
    y, heights = curves(d)
    assert np.isfinite(heights).all() and (heights >= 0).all()
    widths = 1 if d.discrete else (PICTURES[name].high - PICTURES[name].low) / len(y)
    masses = heights.sum(axis=1) * widths
    assert (masses > 0.75).all() and (masses < 1.02).all()


def test_a_label_names_the_parameters():
    assert labels(BY_NAME["normal"])[1] == "mu = 0, sigma = 2" and labels(BY_NAME["std_normal"]) == [""]
    assert labels(BY_NAME["wiener"])[0] == "alpha = 1.5, tau = 0.2, beta = 0.5, delta = 1"


@pytest.mark.rotate
def test_pictures_are_svg_that_name_their_curves(drawn):
    drawn = dict(drawn)
    assert drawn.keys() == PICTURES.keys() and all("<svg" in svg for svg in drawn.values())
    assert "sigma = 0.5" in drawn["normal"] and ">density<" in drawn["normal"]
    assert ">probability<" in drawn["poisson"]


def test_every_example_is_an_exhibit_with_a_picture_or_a_reason_why_not():
    assert sorted(gallery.exhibits()) == sorted(examples())
    for name, exhibit in gallery.exhibits().items():
        assert bool(exhibit.pictures) != bool(exhibit.unpictured), name
        assert exhibit.title.endswith(("?", "way")) and exhibit.question.endswith((".", "?")), name
        page = "".join(gallery.page(name, pictured=True))
        assert page.startswith(f"# {exhibit.title}\n\n![") == bool(exhibit.pictures), name
        assert (f"Not run here: {exhibit.unpictured}." in page) == bool(exhibit.unpictured), name


@pytest.mark.parametrize("name", gallery.exhibits())
def test_an_exhibit_is_a_model_with_these_variables(name):
    program = files("ppl.models").joinpath(name, f"{name}.model").read_text("utf-8")
    for kind, variables in gallery.exhibits()[name].pictures:
        assert kind in KINDS
        for variable in filter(None, variables.split(",")):
            assert re.search(rf"\b{variable.partition('.')[0]}\b", program)


@pytest.mark.rotate
def test_what_its_commands_give_is_on_the_page(drawn, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    exhibit = gallery.exhibits()["weibull_poisson"]
    monkeypatch.setattr(gallery, "exhibits", lambda: {"weibull_poisson": exhibit})
    monkeypatch.setattr(site, "densities", lambda: drawn)
    pages = {name: site.SitePage(name, name, ()) for name in site.written()}
    monkeypatch.setattr(site, "written", lambda: pages)
    found = dict(site.site([], run=True))
    page = found["docs/gallery/weibull_poisson.md"]
    shown = f"![{exhibit.title}](../pictures/weibull_poisson-marginals.svg)"
    assert page.startswith(f"# {exhibit.title}\n\n{shown}\n\n{exhibit.question}\n\n```stan\n")
    assert page.endswith(
        "--kind marginals -o weibull_poisson-marginals.svg\n```\n\n"
        "```output\nWrote weibull_poisson-marginals.svg.\n```\n"
    )
    assert f"[{shown}](weibull_poisson.md)" in found["docs/gallery/index.md"]
    assert re.search(r"```output\n +mean +se +sd .*\ntheta +0\.6", page)
    assert "\nVerdict: good: " in page
    for path, text in found.items():
        assert all(f"docs/{image.removeprefix('../')}" in found for image in IMAGE.findall(text)), path
    assert all(IMAGE.findall(found[f"docs/distributions/{name}.md"]) for name in PICTURES)


def test_without_running_the_first_page_alone_has_its_picture():
    found = dict(site.site([]))
    assert [path for path, text in found.items() if path.endswith(".md") and IMAGE.findall(text)] == [
        "docs/index.md"
    ]
    (picture,) = IMAGE.findall(found["docs/index.md"])
    assert f"docs/{picture}" in found and len(found[f"docs/{picture}"]) < 30_000


CODE = """\
```python
x = 2
```

```python
open("line.svg", "w").write("<svg/>")
print(x + 1)
```

```sh
ppl docs elbo
```

```text
not run
```
"""


def test_outputs_stand_below_their_blocks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = [*run(CODE)]
    assert found[:2] == [Output(), Output("3\n", (("line", "<svg/>"),))] and "Evidence" in found[2].text
    (picture,) = picture_files(CODE, found[1])
    text = with_outputs(CODE, found, "../pictures")
    assert f"print(x + 1)\n```\n\n```output\n3\n```\n\n![line](../pictures/{picture})\n" in text
    assert with_outputs(f"![x](../pictures/line.svg)\n{CODE}", found, "../pictures").count("line") == 2
    assert "x = 2\n```\n\n```python" in text and text.endswith("```text\nnot run\n```\n")


def test_an_expected_output_gives_way_to_that_of_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expecting = CODE.replace("print(x + 1)\n```\n", "print(x + 1)\n```\n\n```output\n4\n```\n")
    assert expected_outputs(expecting) == ["", "4\n", ""]
    found = [*run(CODE)]
    assert with_outputs(expecting, found) == with_outputs(CODE, found)


@pytest.mark.rotate
def test_outputs_are_read_from_the_cache_until_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text = "```python\nimport os\nprint(os.urandom(8))\n```\n"
    first, other = outputs([text, text.replace("8", "9")])
    assert [first] == [*outputs([f"Prose.\n\n{text}"])] != [other]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("ppl check none.model", r"`ppl check none\.model` ended with (?s:.*)'none"),
        ("ls", "not a command of"),
    ],
)
def test_a_command_that_fails_is_named(line, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PPLError, match=says):
        [*run(f"```sh\n{line}\n```\n")]
