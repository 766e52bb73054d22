"""The site that `ppl docs --site` writes: all of `ppl docs` is there, its code runs, its links lead on."""

import gzip
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from browser import measured, needs_chromium

from ppl.arrays import NUMPY
from ppl.cli.commands.new import examples
from ppl.cli.glossary import GLOSSARY
from ppl.cli.group import NAMES
from ppl.cli.main import main
from ppl.cli.site.constraints import PAGED
from ppl.cli.site.constraints import page as constraint_page
from ppl.cli.site.densities import PICTURES, SHOWN
from ppl.cli.site.distributions import example
from ppl.cli.site.gallery import head_comment
from ppl.cli.site.markdown import prose
from ppl.cli.site.messages import SUBJECTS, subject
from ppl.cli.site.running import run
from ppl.cli.site.site import GUIDES, NAVIGATION, written
from ppl.methods.run.settings import ALGORITHMS, Settings
from ppl.programs.pages import pages
from ppl.stdlib.distributions.table import DISTRIBUTIONS
from ppl.stdlib.library import standard
from ppl.stdlib.reference import free_example, reference
from tests.cli.pages import run_page

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LANGUAGE = re.compile(r"^``` ?(\w+)", re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with pytest.raises(SystemExit) as exit:
        main(["docs", "--site", str(folder)])
    assert not exit.value.code
    return folder


def headings(site, name):
    text = (site / "docs" / f"{name}.md").read_text("utf-8")
    outside = FENCED.sub("", text)
    found = re.findall(r"^##+ (.+?)(?: \{ #\w+ \})?$", outside, re.MULTILINE)
    return {title.replace("\\", "").replace("&lt;", "<") for title in found}


def test_every_word_of_ppl_docs_has_a_heading(site):
    assert headings(site, "glossary") == {*GLOSSARY}
    assert headings(site, "commands") == {f"ppl {name.replace('_', '-')}" for name in NAMES}
    explained = {title for s in SUBJECTS for title in headings(site, f"messages/{s.name}")}
    assert explained == {f"{page.code}: {page.title}" for page in pages().values()}
    assert {path.stem for path in (site / "docs" / "gallery").iterdir()} == {"index", *examples()}
    assert {*ALGORITHMS} < headings(site, "algorithms")
    topics = (f"functions/{path.stem}" for path in (site / "docs" / "functions").iterdir())
    called = {name for page in topics for name in headings(site, page)}
    called |= {
        path.stem for kind in ("constraints", "distributions") for path in (site / "docs" / kind).iterdir()
    }
    of_distributions = {name for name, callee in standard().callees.items() if callee.kind != "function"}
    assert reference().keys() - of_distributions <= called


def test_overviews_list_what_there_is_by_what_it_is_about(site):
    for folder, names in (
        ("distributions", [d.name for d in DISTRIBUTIONS]),
        ("messages", [f"{subject(code).name}.md#{code.lower()}" for code in pages()]),
    ):
        text = (site / "docs" / folder / "index.md").read_text("utf-8")
        links = re.findall(r"^\| \[`\w+`\]\((.+?)(?:\.md)?\) \|", text, re.MULTILINE)
        assert sorted(links) == sorted(names) and len(headings(site, f"{folder}/index")) > 8


def test_every_setting_has_its_row(site):
    text = (site / "docs" / "algorithms.md").read_text("utf-8")
    for name in Settings.__dataclass_fields__:
        assert f"| `{name}` | `--{name.replace('_', '-')}` |" in text


def test_a_page_of_the_terminal_as_a_section(site):
    text = (site / "docs" / "functions" / "links.md").read_text("utf-8")
    assert "## logit\n\nlog(x / (1 - x))\n\n```text\n  T logit(T)" in text


def test_signatures_have_types(site):
    text = (site / "docs" / "python" / "posterior.md").read_text("utf-8")
    assert "posterior.sample(\n    *,\n    num_chains: int = 4,\n" in text and "\n) -> Chains\n" in text
    assert "    init: float | str | Path | Mapping[str, Any]" in text and "`Source`" not in text
    assert "fit.draws() -> NDArray[float64]" in (site / "docs" / "python" / "fit.md").read_text("utf-8")


def test_the_page_of_a_distribution(site):
    text = (site / "docs" / "distributions" / "inv_gamma.md").read_text("utf-8")
    assert "| `beta` | positive and finite |" in text and "inv_gamma_lcdf(reals | reals, reals)" in text
    assert '<p class="math">if <math><mi>α</mi><mo>&gt;</mo><mn>2</mn></math>' in text
    assert "y = inv_gamma_rng(1, 1);" in text and "[`gamma`](gamma.md)" in text


@pytest.mark.rotate
def test_a_distribution_without_a_picture_has_an_example_that_runs():
    """A variate and its log density; other examples have the arguments of the first curve."""
    plain = [d for d in DISTRIBUTIONS if d.name not in PICTURES]
    assert {*SHOWN} == {d.name for d in DISTRIBUTIONS}, "add it to cli/site/distributions.toml"
    for d in plain:
        (result,) = run("\n\n".join(example(d)))
        lines = [line.split() for line in result.text.splitlines() if line]
        values = {name: float(mean) for name, mean, *_ in lines[1:]}
        assert all(map(np.isfinite, values.values())) and any(name.startswith("y") for name in values), d.name
        assert "log_p" in values or d.name == "hmm_latent", d.name


@pytest.mark.rotate
@pytest.mark.parametrize("c, described", PAGED, ids=lambda x: getattr(x, "keyword", ""))
def test_the_page_of_a_constraint(c, described):
    """Its map and log-Jacobian are typeset, and its example prints the log-Jacobian of the record."""
    text = "\n\n".join(constraint_page(c, described))
    assert (
        text.partition("## Functions")[0].count("<math") >= 2
        and f"`{described.declared.partition(';')[0]};`" in text
    )
    *_, result = run(text)
    u = free_example(c, described)
    free = u if c.free_shape(described.shape) else u[0]
    _, log_jacobian = c.constrain(NUMPY, free, described.shape, *described.arguments)
    assert float(result.text.split()[-1]) == pytest.approx(float(np.sum(log_jacobian)), abs=1e-12)


def test_signs_mean_themselves():
    assert prose("a * b_c, `d * e`, <f>") == r"a \* b\_c, `d * e`, &lt;f\>"
    assert head_comment("// Two\n// lines.\ndata {\n}\n") == ("Two lines.", "data {\n}")


def test_every_page_is_in_the_navigation(site):
    named = {name for names in NAVIGATION.values() for name in names}
    docs = site / "docs"
    folders = {f"{path.name}/" for path in docs.iterdir() if path.is_dir()} - {"pictures/"}
    assert named == folders | {path.stem for path in docs.glob("*.md")}
    in_configuration = re.findall(r"([\w/-]+)\.md$", (site / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    written = [str(path.relative_to(docs).with_suffix("")) for path in docs.rglob("*.md")]
    assert sorted(in_configuration) == sorted(written)


def test_pages_fit_the_terminal():
    """But for tables, and for code."""
    for page in written().values():
        lines = FENCED.sub("", page.text).splitlines()
        assert [line for line in lines if len(line) > 80 and not line.startswith("|")] == []


@pytest.fixture(scope="module")
def built(site):
    """The folder of the site that MkDocs builds; with a broken link it builds none."""
    if not importlib.util.find_spec("mkdocs") or not importlib.util.find_spec("material"):
        pytest.skip("needs MkDocs Material: pip install mkdocs-material")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(site / "mkdocs.yml")]
    done = subprocess.run(words, capture_output=True, text=True, env={"NO_MKDOCS_2_WARNING": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return site / "site"


@pytest.mark.rotate("built")
def test_outputs_have_their_style(built):
    assert '<div class="language-output highlight">' in (built / "index.html").read_text("utf-8")
    assert ".language-output" in (built / "style.css").read_text("utf-8")


@pytest.mark.rotate("built")
def test_mkdocs_finds_no_broken_link(built):
    assert 'id="k-hat"' in (built / "glossary" / "index.html").read_text("utf-8")


@pytest.mark.rotate("built")
def test_the_first_page_is_small(built):
    """With its style, scripts and the index of the search, as servers compress them."""
    page = (built / "index.html").read_text("utf-8")
    named = [built / name for name in re.findall(r'(?:href|src)="([^":]+\.(?:css|js))"', page)]
    found = {*named, *built.glob("assets/javascripts/workers/*.js"), built / "search" / "search_index.json"}
    assert len(named) >= 4 and not re.search(r'(?:src=|<link[^>]* href=)"https?:', page)
    assert sum(len(gzip.compress(path.read_bytes())) for path in found) < 400_000
    for page in built.rglob("*.html"):
        assert page.stat().st_size < 600_000, page


@pytest.mark.rotate("built")
@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("odds", "logistic-regression/"),
        ("factor", "factors/"),
        ("formula", "formulas/"),
        ("random effects", "hierarchical/"),
        ("mixed model", "hierarchical/"),
        ("convergence", "reading-a-verdict/#convergence"),
        ("divergent", "reading-a-verdict/#divergent-transitions"),
    ],
)
def test_the_search_finds(built, words, place):
    """The index has all words at the place; a word also finds its plural."""
    index = json.loads((built / "search" / "search_index.json").read_text("utf-8"))["docs"]
    (text,) = (f"{entry['title']} {entry['text']}".lower() for entry in index if entry["location"] == place)
    assert all(word in text for word in words.split())


@pytest.mark.rotate("built")
def test_the_first_page_shows_a_program_beside_its_picture_and_its_verdict(built):
    page = (built / "index.html").read_text("utf-8")
    program, picture, verdict, tabs = (
        page.index(part)
        for part in ("binomial_logit", "pictures/hospitals.svg", "Verdict: good", "tabbed-labels")
    )
    assert program < picture < verdict < tabs
    assert re.findall(r"<label[^>]*>(?:<a[^>]*>)?(\w+)", page[tabs:])[:4] == [
        "Data",
        "Shell",
        "Python",
        "Formula",
    ]
    doors = re.findall(r'<li>\s*<p><strong><a href="([^"]+)">', page)
    assert doors == ["coming-from/#from-stan", "coming-from/#from-pymc", "from-brms/", "new-to-bayes/"]


@pytest.mark.rotate("built")
@needs_chromium
def test_pages_in_a_browser(built):
    named = (
        "gallery",
        "gallery/election88",
        "distributions",
        "distributions/student_t",
        "tutorial",
        "commands",
    )
    for (page, width), measures in measured(
        built, ["index.html", *(f"{n}/index.html" for n in named)]
    ).items():
        assert measures["title"].endswith("ppl"), page
        assert measures["scroll"] <= width, f"{page}: code scrolls sideways, the page itself never does"


@pytest.mark.rotate
@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*written()} - {*GUIDES}))
def test_the_code_of_a_page_runs_and_gives_the_outputs_shown(name, tmp_path, monkeypatch):
    """From the first block to the last, in one folder: programs are written, commands and Python run."""
    monkeypatch.chdir(tmp_path)
    text = written()[name].text
    assert {*LANGUAGE.findall(text)} <= {"stan", "sh", "python", "output", "text", "json"}
    run_page(text)


def test_the_tutorial_takes_an_hour():
    """Reading takes a minute for 200 words, typing a minute for 200 characters."""
    text = written()["tutorial"].text
    outputs = re.findall(r"^```output\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    read = " ".join([FENCED.sub("", text), *outputs])
    unsolved = re.sub(r"^### Exercises$.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    typed = re.findall(r"^```(?:sh|python)[^\n]*\n(.*?)^```$", unsolved, re.MULTILINE | re.DOTALL)
    characters = sum(len(re.sub(r"\n\s+", "\n", code)) for code in typed)
    assert "takes about an hour" in text
    assert len(read.split()) / 200 + characters / 200 == pytest.approx(60, rel=0.1)
