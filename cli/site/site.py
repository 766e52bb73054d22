"""The site as files: its pages in order, and the configuration of MkDocs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files

from ppl.cli.site import reference
from ppl.cli.site.gallery import EXHIBITS, drawn, gallery, picture_file
from ppl.cli.site.python_api import python_api

CONFIG = """\
site_name: ppl
site_description: A Stan-like language compiled to automatic differentiation variational inference
theme:
  name: material
  font: false
  features:
    - navigation.sections
    - navigation.top
    - search.suggest
    - search.highlight
    - content.code.copy
    - toc.follow
  palette:
    - media: "(prefers-color-scheme: light)"
      scheme: default
    - media: "(prefers-color-scheme: dark)"
      scheme: slate
plugins: [search]
markdown_extensions:
  - admonition
  - tables
  - toc:
      permalink: true
  - pymdownx.highlight
  - pymdownx.superfences
validation:
  links:
    not_found: warn
    anchors: warn
    absolute_links: warn
    unrecognized_links: warn
nav:
"""
Made = tuple[str, Callable[[], Iterable[str]]]
"""The title of a page, and what makes its parts."""

MADE: Mapping[str, Made] = {
    "constraints": ("Constraints", reference.constraints),
    "distributions": ("Distributions", reference.distributions),
    "functions": ("Functions", reference.functions),
    "algorithms": ("Algorithms and settings", reference.algorithms),
    "messages": ("Messages", reference.messages),
    "python": ("Python", python_api),
    "glossary": ("Glossary", reference.glossary),
    "machines": ("Beyond one machine", reference.machines),
    "gallery": ("Gallery", gallery),
}
"""Pages that are made from tables, by their file."""

WRITTEN = ("index", "tutorial", "language", "files", "editors", "coming-from", "faq")
"""Pages that are written by hand: a Markdown file each in this folder."""

NAVIGATION: Mapping[str, tuple[str, ...]] = {
    "Start": ("index", "tutorial", "editors", "faq", "coming-from", "gallery"),
    "Language": ("language", "constraints", "distributions", "functions", "messages"),
    "Inference": ("algorithms", "python", "commands", "files", "machines", "glossary"),
}


@dataclass(frozen=True)
class Page:
    """Its file without the suffix, its title in the navigation, and its text."""

    name: str
    title: str
    text: str


@cache
def written() -> Mapping[str, Page]:
    """The pages written by hand, by their name."""
    return {name: _read(name) for name in WRITTEN}


def _read(name: str) -> Page:
    text = files("ppl.cli.site").joinpath(f"{name}.md").read_text("utf-8")
    return Page(name, text.partition("\n")[0].removeprefix("# "), text)


def site(commands: Iterable[tuple[str, str]], pictures: bool = False) -> Iterator[tuple[str, str]]:
    """Every file as (path, text); `commands` are their names and helps.

    With `pictures` those of densities, and those of fits of the gallery, which take some minutes.

    Raises:
        MissingPackage: `pictures`, and matplotlib is not installed.
    """
    made: dict[str, Made] = {**MADE, "commands": ("Command line", partial(reference.commands, commands))}
    if pictures:
        from ppl.cli.site.densities import densities

        curves = dict(densities())
        yield from ((f"docs/{reference.density_file(name)}", svg) for name, svg in curves.items())
        fits = {name: drawn(name) for name in EXHIBITS}
        yield from (
            (f"docs/{picture_file(name, kind)}", svg)
            for name, fit in fits.items()
            for kind, svg in fit.pictures.items()
        )
        made["distributions"] = ("Distributions", partial(reference.distributions, curves))
        made["gallery"] = ("Gallery", partial(gallery, fits))
    pages = {name: Page(name, title, "\n\n".join(make()) + "\n") for name, (title, make) in made.items()}
    pages = {**written(), **pages}
    yield "mkdocs.yml", CONFIG + "".join(navigation(pages))
    yield from ((f"docs/{page.name}.md", page.text) for page in pages.values())


def navigation(pages: Mapping[str, Page]) -> Iterator[str]:
    for section, names in NAVIGATION.items():
        yield f"  - {section}:\n"
        yield from (f'      - "{pages[name].title}": {name}.md\n' for name in names)
