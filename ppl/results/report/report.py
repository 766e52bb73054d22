"""One HTML file about a fit: verdict, table, pictures, program, plan. It needs no network and no script."""

import base64
import shlex
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from ppl import html
from ppl.kernel.draws.columns import folded
from ppl.records import dataclass
from ppl.results.files.arviz import POINTWISE, PREDICTIVE
from ppl.results.files.read_csv import DrawsFile
from ppl.results.pictures.canvas import NARROW_LOOK, WIDE_LOOK, svg
from ppl.results.pictures.material import Material
from ppl.results.pictures.table import KINDS, parts
from ppl.results.report.reading import reading
from ppl.results.report.stansummary import figure_texts, headings, stansummary, stated
from ppl.results.report.style import USUAL

STYLE = files(__package__).joinpath("report.css").read_text(encoding="utf-8")

NARROW_BELOW = "(max-width: 700px)"
MOST_REPORT_ROWS = 200
"""Columns of draws that the report shows."""


@dataclass(frozen=True)
class Program:
    """The section of the report on the program."""

    text: str
    plan: str


def report(material: Material, title: str, program: Program | None = None) -> str:
    """The report as the text of one HTML file, pictures inside it in a wide and a narrow version."""
    body = "\n".join(
        [
            f"<h1>{escape(title)}</h1>",
            f'<p class="verdict">{escape(reading(material.files, material.names))}</p>',
            f'<p class="stated">{escape(stated(material.files))}</p>',
            *how_it_went(material.files),
            *table(material),
            *pictures(material),
            *source(program),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n'
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def how_it_went(files: Sequence[DrawsFile]) -> Iterator[str]:
    """The ELBO of each run, and how it ended."""
    for file in files:
        if about := file.provenance:
            name = f"{file.path}: " if len(files) > 1 else ""
            yield f'<p class="stated">{escape(name + about.run)}</p>'


def pictures(material: Material) -> Iterator[str]:
    there = [kind for kind in KINDS.values() if kind.usual(material) and not kind.missing(material)]
    each = ((kind, *of_outcome) for kind in there for of_outcome in parts(material, kind))
    for kind, outcome, part in each:
        wide, narrow = kind.figure(part, WIDE_LOOK), kind.figure(part, NARROW_LOOK)
        title, words = kind.caption(part)
        title += f" of {outcome}" if outcome else ""
        yield f"<h2>{escape(title)}</h2>\n<figure>\n<picture>"
        yield f'<source media="{NARROW_BELOW}" srcset="{data_uri(svg(narrow))}">'
        yield f'<img alt="{escape(title)}" src="{data_uri(svg(wide))}">'
        yield f"</picture>\n<figcaption>{escape(words)}</figcaption>\n</figure>"


def data_uri(picture: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(picture.encode()).decode()


def table(material: Material) -> Iterator[str]:
    """The rows of `ppl summary` for the variables named, else for all but the large ones.

    A line says how the others are printed.
    """
    small, large = folded(material.files[0].columns, (PREDICTIVE, POINTWISE))
    if material.named:
        small, large = material.names, {}
    files = [file.only(small[:MOST_REPORT_ROWS]) for file in material.files]
    names = headings(USUAL, files)
    label = files[0].labels.of
    rows = [(label(line.name), *figure_texts(line, names)) for line in stansummary(files)]
    yield f'<h2>Summary</h2>\n<div class="scroll">{html.table(("", *names), rows)}</div>'
    paths = [str(file.path) for file in material.files]
    if len(small) > MOST_REPORT_ROWS:
        rest = f"{len(small) - MOST_REPORT_ROWS} more columns: {shlex.join(['ppl', 'summary', *paths])}"
        yield f'<p class="stated">Omitted: {escape(rest)}</p>'
    if large:
        what = ", ".join(f"{name} ({n} entries)" for name, n in large.items())
        how = shlex.join(["ppl", "summary", *paths, "--variables", ",".join(large)])
        yield f'<p class="stated">Omitted: {escape(what)}: <code>{escape(how)}</code></p>'


def source(program: Program | None) -> Iterator[str]:
    if program:
        yield f"<h2>Program</h2>\n{html.preformatted(program.text)}"
        yield f"<h2>Plan</h2>\n{html.preformatted(program.plan)}"
