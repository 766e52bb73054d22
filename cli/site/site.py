"""The site as files: its pages in order, and the configuration of MkDocs."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files

from ppl.api import MEMBERS
from ppl.cli.site import constraints, distributions, gallery, python_api, reference
from ppl.cli.site.densities import SHOWN, densities
from ppl.cli.site.distributions import page as of_distribution
from ppl.cli.site.messages import SUBJECTS
from ppl.cli.site.messages import overview as messages
from ppl.cli.site.messages import page as of_subject
from ppl.cli.site.reference import of_topic, title, topics
from ppl.cli.site.running import outputs, picture_files, with_outputs
from ppl.records import dataclass, replace
from ppl.stdlib.distributions.table import DISTRIBUTIONS

FILES = ("style.css", "logo.svg", "hospitals.svg")
"""Of this folder, as they are; pictures where pages look for them."""
MARK = re.compile(r"<!-- /?measured.*?-->")

Made = tuple[str, Callable[[], Iterable[str]]]
"""The title of a page, and what makes its parts."""

MADE: Mapping[str, Made] = {
    "constraints/index": ("Constraints", constraints.overview),
    "distributions/index": ("Distributions", distributions.overview),
    "functions/index": ("Functions", reference.functions),
    "functions/of_functions": ("Functions that take functions", reference.of_functions),
    "algorithms": ("Algorithms and settings", reference.algorithms),
    "messages/index": ("Messages", messages),
    "python/index": ("Python API", python_api.overview),
    "glossary": ("Glossary", reference.glossary),
}
"""Pages that are made from tables, by their file."""

RUN = ("gallery/", "constraints/", "distributions/")
"""Those whose code runs, by their beginnings."""

GUIDES = (
    "logistic-regression",
    "factors",
    "formulas",
    "priors",
    "predictive-checks",
    "hierarchical",
    "mixtures",
    "discrete-parameters",
    "time-series",
    "gaussian-processes",
    "odes",
    "missing-data",
    "prediction",
    "expected",
    "model-comparison",
    "from-brms",
    "own-distributions",
    "coding-agents",
)
"""Pages written by hand that users look for by a topic."""

NAVIGATION: Mapping[str, tuple[str, ...]] = {
    "Home": ("index",),
    "Start": (
        *("new-to-bayes", "tutorial", "reading-a-verdict", "checking-a-model", "faq"),
        *("coming-from", "comparison", "editors"),
    ),
    "Gallery": ("gallery/",),
    "Guides": GUIDES,
    "Language": ("language", "constraints/", "distributions/", "functions/", "messages/"),
    "Use": ("command-line", "commands", "from-python", "python/", "files", "machines"),
    "Inference": ("algorithms", "speed", "limits", "glossary"),
}


@dataclass(frozen=True)
class SitePage:
    """Its file without the suffix, its title in the navigation, and its text in parts, whose code may run."""

    name: str
    title: str
    parts: tuple[str, ...]
    runs: bool = False

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts).rstrip() + "\n"


@cache
def written() -> Mapping[str, SitePage]:
    """The pages written by hand, the Markdown files of this folder, by their name, as in the navigation."""
    texts = {path.name.removesuffix(".md") for path in files("ppl.cli.site").iterdir()}
    return {name: _read(name) for names in NAVIGATION.values() for name in names if name in texts}


def _read(name: str) -> SitePage:
    text = own(f"{name}.md")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return SitePage(name, title[1] if title else name, (text,), runs=True)


def site(commands: Iterable[tuple[str, str]], run: bool = False) -> Iterator[tuple[str, str]]:
    """Every file as (path, text); `commands` are their names and helps.

    With `run` densities are drawn, and outputs and pictures follow the code: some minutes.

    Raises:
        MissingPackage: `run`, and matplotlib is not installed.
        PPLError: `run`, and the code of a page fails.
    """
    curves = dict(densities()) if run else {}
    yield from ((f"docs/{distributions.density_file(name)}", svg) for name, svg in curves.items())
    by_name = {d.name: d for d in DISTRIBUTIONS}
    made_pages: dict[str, Made] = {
        **MADE,
        "commands": ("Options of each command", partial(reference.commands, commands)),
        **{f"functions/{name}": (title(name), partial(of_topic, name)) for name in topics()},
        "gallery/index": ("Gallery", partial(gallery.overview, run)),
        **{
            f"gallery/{name}": (exhibit.title, partial(gallery.page, name, run))
            for name, exhibit in gallery.exhibits().items()
        },
        **{f"messages/{s.name}": (s.title, partial(of_subject, s)) for s in SUBJECTS},
        **{f"python/{name.lower()}": (name, partial(python_api.of_class, name)) for name in MEMBERS},
        **{
            f"constraints/{c.keyword}": (c.keyword, partial(constraints.page, c, p))
            for c, p in constraints.PAGED
        },
        **{
            f"distributions/{name}": (name, partial(of_distribution, by_name[name], curves)) for name in SHOWN
        },
    }
    pages = {
        name: SitePage(name, heading, tuple(make()), name.startswith(RUN))
        for name, (heading, make) in made_pages.items()
    }
    pages = {**written(), **pages}
    yield "mkdocs.yml", own("mkdocs.yml") + "".join(navigation(pages))
    yield from ((f"docs/{'pictures/' * (name == 'hospitals.svg')}{name}", own(name)) for name in FILES)
    if run:
        running = [page for page in pages.values() if page.runs]
        shown = outputs([part for page in running for part in page.parts])
        for page in running:
            printed = [next(shown) for _ in page.parts]
            folder = "../" * page.name.count("/") + "pictures"
            parts = tuple(map(partial(with_outputs, pictures=folder), page.parts, printed))
            pages[page.name] = replace(page, parts=parts)
            drawn = (picture_files(page.text, output) for part in printed for output in part)
            yield from ((f"docs/pictures/{name}", svg) for files in drawn for name, svg in files.items())
    yield from ((f"docs/{page.name}.md", page.text) for page in pages.values())


def own(name: str) -> str:
    """A file of this folder, without the marks of measured figures (tests/benchmarks/measured.py)."""
    return MARK.sub("", files("ppl.cli.site").joinpath(name).read_text("utf-8"))


def navigation(pages: Mapping[str, SitePage]) -> Iterator[str]:
    """A section of one page, or of one folder, has no level between."""
    for section, names in NAVIGATION.items():
        if names == ("index",):
            yield f"  - {section}: index.md\n"
        elif names[0].endswith("/"):
            yield from folder(names[0], pages, "  ")
        else:
            yield f"  - {section}:\n"
            for name in names:
                yield from (
                    folder(name, pages, " " * 6) if name.endswith("/") else [f"      {item(pages[name])}"]
                )


def folder(name: str, pages: Mapping[str, SitePage], indent: str) -> Iterator[str]:
    """The pages of a folder, below its own."""
    yield f'{indent}- "{pages[f"{name}index"].title}":\n{indent}    - {name}index.md\n'
    inside = (page for page in pages.values() if page.name.startswith(name))
    yield from (f"{indent}    {item(page)}" for page in inside if page.name != f"{name}index")


def item(page: SitePage) -> str:
    return f'- "{page.title}": {page.name}.md\n'
