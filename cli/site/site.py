"""The site as files: its pages in order, and the configuration of MkDocs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files

from ppl.api import MEMBERS
from ppl.cli.site import constraints, distributions, python_api, reference
from ppl.cli.site.densities import densities
from ppl.cli.site.distributions import page as of_distribution
from ppl.cli.site.gallery import gallery
from ppl.cli.site.reference import hundred, of_hundred, of_topic, title, topics
from ppl.cli.site.running import outputs, with_outputs
from ppl.programs.pages import pages as messages
from ppl.records import dataclass, replace
from ppl.stdlib.distributions.table import DISTRIBUTIONS

CONFIG = """\
site_name: ppl
site_description: A Stan-like language compiled to automatic differentiation variational inference
theme:
  name: material
  font: false
  features:
    - navigation.indexes
    - navigation.sections
    - navigation.top
    - search.suggest
    - search.highlight
    - content.code.copy
    - toc.follow
  palette:
    - media: "(prefers-color-scheme)"
      toggle: {icon: material/brightness-auto, name: Use the light theme}
    - media: "(prefers-color-scheme: light)"
      scheme: default
      toggle: {icon: material/brightness-7, name: Use the dark theme}
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
      toggle: {icon: material/brightness-4, name: Follow the system}
plugins: [search]
extra_css: [style.css]
markdown_extensions:
  - admonition
  - attr_list
  - tables
  - toc:
      permalink: true
  - pymdownx.highlight:
      pygments_lang_class: true
  - pymdownx.superfences
validation:
  links:
    not_found: warn
    anchors: warn
    absolute_links: warn
    unrecognized_links: warn
nav:
"""
STYLE = """\
/* Outputs of code, and pictures drawn on white that become dark with the page. */
.math { font-size: 0.75rem; overflow: auto hidden; padding-block: 0.2rem; text-align: center; }
.language-output pre > code {
  background: none;
  border-left: 0.2rem solid var(--md-default-fg-color--lightest);
}
.language-output .go { color: inherit; }
.language-output .md-code__nav { display: none; }
.md-typeset td code { word-break: normal; }
.md-typeset td:first-child code { white-space: nowrap; }
@media (min-width: 60em) { .language-output pre > code { white-space: pre-wrap; } }
img[src*="pictures/"] { mix-blend-mode: multiply; }
[data-md-color-scheme="slate"] img[src*="pictures/"] {
  filter: invert(1) hue-rotate(180deg);
  mix-blend-mode: screen;
}
"""
Made = tuple[str, Callable[[], Iterable[str]]]
"""The title of a page, and what makes its parts."""

MADE: Mapping[str, Made] = {
    "constraints/index": ("Constraints", constraints.overview),
    "distributions/index": ("Distributions", distributions.overview),
    "functions/index": ("Functions", reference.functions),
    "functions/of_functions": ("Functions of functions", reference.of_functions),
    "algorithms": ("Algorithms and settings", reference.algorithms),
    "messages/index": ("Messages", reference.messages),
    "python/index": ("Python API", python_api.overview),
    "glossary": ("Glossary", reference.glossary),
    "gallery": ("Gallery", gallery),
}
"""Pages that are made from tables, by their file."""

RUN = ("gallery", "constraints/", "distributions/")
"""Those whose code runs, by their beginnings."""

WRITTEN = (
    "index",
    "tutorial",
    "reading-a-verdict",
    "checking-a-model",
    "from-python",
    "command-line",
    "limits",
    "language",
    "files",
    "editors",
    "coming-from",
    "comparison",
    "faq",
    "machines",
)
"""Pages that are written by hand: a Markdown file each in this folder."""

GUIDES = (
    "priors",
    "predictive-checks",
    "hierarchical",
    "mixtures",
    "discrete-parameters",
    "time-series",
    "gaussian-processes",
    "odes",
    "factors",
    "formulas",
    "missing-data",
    "prediction",
    "expected",
    "model-comparison",
    "from-brms",
    "own-distributions",
    "coding-agents",
)
"""Those that users look for by a topic."""

NAVIGATION: Mapping[str, tuple[str, ...]] = {
    "Start": (
        "index",
        "tutorial",
        "reading-a-verdict",
        "checking-a-model",
        "faq",
        "coming-from",
        "comparison",
        "gallery",
        "editors",
    ),
    "Guides": GUIDES,
    "Language": ("language", "constraints/", "distributions/", "functions/", "messages/"),
    "Use": ("command-line", "commands", "from-python", "python/", "files", "machines"),
    "Inference": ("algorithms", "limits", "glossary"),
}


@dataclass(frozen=True)
class Page:
    """Its file without the suffix, its title in the navigation, and its text in parts, whose code may run."""

    name: str
    title: str
    parts: tuple[str, ...]
    runs: bool = False

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts).rstrip() + "\n"


@cache
def written() -> Mapping[str, Page]:
    """The pages written by hand, by their name."""
    return {name: _read(name) for name in (*WRITTEN, *GUIDES)}


def _read(name: str) -> Page:
    text = files("ppl.cli.site").joinpath(f"{name}.md").read_text("utf-8")
    return Page(name, text.partition("\n")[0].removeprefix("# "), (text,), runs=True)


def site(commands: Iterable[tuple[str, str]], run: bool = False) -> Iterator[tuple[str, str]]:
    """Every file as (path, text); `commands` are their names and helps.

    With `run` densities are drawn, and outputs and pictures follow the code: some minutes.

    Raises:
        MissingPackage: `run`, and matplotlib is not installed.
        PPLError: `run`, and the code of a page fails.
    """
    curves = dict(densities()) if run else {}
    yield from ((f"docs/{distributions.density_file(name)}", svg) for name, svg in curves.items())
    made: dict[str, Made] = {
        **MADE,
        "commands": ("Command line", partial(reference.commands, commands)),
        **{f"functions/{name}": (title(name), partial(of_topic, name)) for name in topics()},
        **{
            f"messages/{name}": (f"{name.upper()}xx", partial(of_hundred, name))
            for name in map(hundred, messages())
        },
        **{f"python/{name.lower()}": (name, partial(python_api.of_class, name)) for name in MEMBERS},
        **{
            f"constraints/{c.keyword}": (c.keyword, partial(constraints.page, c, p))
            for c, p in constraints.PAGED
        },
        **{f"distributions/{d.name}": (d.name, partial(of_distribution, d, curves)) for d in DISTRIBUTIONS},
    }
    pages = {
        name: Page(name, heading, tuple(make()), name.startswith(RUN))
        for name, (heading, make) in made.items()
    }
    pages = {**written(), **pages}
    yield "mkdocs.yml", CONFIG + "".join(navigation(pages))
    yield "docs/style.css", STYLE
    if run:
        running = [page for page in pages.values() if page.runs]
        found = outputs([part for page in running for part in page.parts])
        for page in running:
            printed = [next(found) for _ in page.parts]
            folder = "../" * page.name.count("/") + "pictures"
            parts = tuple(map(partial(with_outputs, pictures=folder), page.parts, printed))
            pages[page.name] = replace(page, parts=parts)
            drawn = (output.files for part in printed for output in part)
            yield from ((f"docs/pictures/{name}", svg) for files in drawn for name, svg in files.items())
    yield from ((f"docs/{page.name}.md", page.text) for page in pages.values())


def navigation(pages: Mapping[str, Page]) -> Iterator[str]:
    for section, names in NAVIGATION.items():
        yield f"  - {section}:\n"
        for name in names:
            yield from (folder(name, pages) if name.endswith("/") else [f"      {item(pages[name])}"])


def folder(name: str, pages: Mapping[str, Page]) -> Iterator[str]:
    """The pages of a folder, below its own."""
    yield f'      - "{pages[f"{name}index"].title}":\n          - {name}index.md\n'
    inside = (page for page in pages.values() if page.name.startswith(name))
    yield from (f"          {item(page)}" for page in inside if page.name != f"{name}index")


def item(page: Page) -> str:
    return f'- "{page.title}": {page.name}.md\n'
