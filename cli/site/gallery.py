"""The gallery: programs with the question that each answers, how they are run, and pictures of their fits."""

import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from ppl.cli.site.markdown import fenced, heading, prose


class Exhibit(NamedTuple):
    """Its pictures as (kind, variables) of `ppl plot`, options of its fit, or why it has no picture."""

    title: str
    question: str
    pictures: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = ()
    unpictured: str = ""


@cache
def exhibits() -> Mapping[str, Exhibit]:
    """By the name of the model."""
    table = tomllib.loads(files("ppl.cli.site").joinpath("gallery.toml").read_text("utf-8"))
    return {name: Exhibit(**entry) for name, entry in table.items()}


# --- The pages -----------------------------------------------------------------------------------


def overview(pictured: bool) -> Iterator[str]:
    """A card for each program: a picture of its fit, its title and its question."""
    yield (
        "# Gallery\n\nPrograms that ship with the package, with small data: `ppl new mine --example NAME` "
        "writes one into a folder of its own."
    )
    cards = "\n".join(card(name, pictured and not e.unpictured) for name, e in exhibits().items())
    yield f'<div class="grid cards" markdown>\n\n{cards}\n\n</div>'


def card(name: str, pictured: bool) -> str:
    title, question, *_ = exhibits()[name]
    shown = f"    [![{title}](../{picture(name, 0)})]({name}.md)\n\n" if pictured else ""
    return f"-   **[{title}]({name}.md)**\n\n{shown}    {prose(question)}\n"


def page(name: str, pictured: bool) -> Iterator[str]:
    """The picture, the question, the program, and the commands that fit and draw it."""
    title, question, pictures, _, unpictured = exhibits()[name]
    about, program = head_comment(files("ppl.models").joinpath(name, f"{name}.model").read_text("utf-8"))
    shown = [f"![{title}](../{picture(name, k)})" for k in range(len(pictures)) if pictured]
    code = [fenced(command, "text" if unpictured else "sh") for command in commands(name)]
    reason = [f"Not run here: {prose(unpictured)}."] if unpictured else []
    yield "\n\n".join(
        [
            heading(title, 1),
            *shown[:1],
            prose(question),
            fenced(program, "stan"),
            f"`{name}`: {prose(about)}",
            *code,
            *reason,
            *shown[1:],
        ]
    )


def picture(name: str, k: int) -> str:
    """The file of a picture, from the folder of all pages."""
    return f"pictures/{stem(name, k)}.svg"


def stem(name: str, k: int) -> str:
    return f"{name}-{exhibits()[name].pictures[k][0]}"


def head_comment(program: str) -> tuple[str, str]:
    """The lines of comment at its beginning as one paragraph, and the rest."""
    lines = program.splitlines()
    end = next((k for k, line in enumerate(lines) if not line.startswith("//")), len(lines))
    about = " ".join(line.removeprefix("//").strip() for line in lines[:end])
    return about, textwrap.dedent("\n".join(lines[end:])).strip("\n")


# --- Commands ------------------------------------------------------------------------------------


def commands(name: str) -> list[str]:
    """The script that writes a model into a folder, fits it, and draws each picture."""
    exhibit = exhibits()[name]
    fit = ["ppl variational", f"{name}/{name}.model", f"{name}/{name}.data.json", *exhibit.options]
    plots = [
        f"ppl plot output.csv --kind {kind}{variables and f' --variables {variables}'} -o {stem(name, k)}.svg"
        for k, (kind, variables) in enumerate(exhibit.pictures)
    ]
    return [f"ppl new {name} --example {name}", " ".join(fit), *plots]
