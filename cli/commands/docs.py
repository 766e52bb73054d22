"""`ppl docs`: a page for any word, in the terminal."""

import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from pathlib import Path
from typing import Annotated, Any

import click

from ppl.cli.options import folder, unknown
from ppl.cli.output import LINE_LENGTH
from ppl.cli.signatures import Argument, Option


def docs(
    words: Annotated[
        list[str] | None, Argument(metavar="[WORD...]", help="Command, function, PPL104, odds ratio, ...")
    ] = None,
    site: Annotated[Path | None, folder("Write the site for MkDocs.")] = None,
    run: Annotated[bool, Option("--run", help="With --site: run the code of pages.")] = False,
) -> None:
    """Document a command, function, distribution, message or term.

    \b
    First example:
      ppl docs normal

    \b
    WORD may also be a constraint or a guide; of another word, the guides that
    mention it are listed. Without WORD, list all words;
    `ppl docs glossary` defines all terms. `--site DIR` writes all pages as
    Markdown for MkDocs:
      pip install "mkdocs>=1.6,<2" "mkdocs-material>=9.5"
      mkdocs build -f DIR/mkdocs.yml
    `--run` adds the output and plots of the code on the pages, and plots of
    densities. It takes some minutes, caches its results, and requires
    matplotlib: pip install "matplotlib>=3.8".
    """
    if site is None and run:
        raise click.BadParameter("it runs the code of the pages that --site DIR writes.", param_hint="--run")
    word = " ".join(words or [])
    if site is not None and word:
        raise click.BadParameter("--site writes all pages; omit WORD.", param_hint="--site")
    texts = sources(click.get_current_context())
    if site is not None:
        require_own_site(site)
        write_site(site, texts, run)
        return
    if not word:
        lists = (f"{title}:\n{filled(', '.join(names))}" for title, (names, _) in texts.items())
        click.echo("\n\n".join(lists))
        return
    pages = [page(name) for names, page in texts.values() for name in spellings(word, names)]
    if not pages and not (pages := [*mentions(word)]):
        raise unknown("page for", word, [n for names, _ in texts.values() for n in names], "ppl docs")
    click.echo("\n\n".join(dict.fromkeys(pages)))


def mentions(word: str) -> Iterator[str]:
    """The guides that mention a word without a page, with the first line of each that does."""
    from ppl.cli.site.site import written

    pattern = re.compile(rf"(?i)\b{re.escape(word)}")
    of = {
        name: next(line.strip(" |-#>") for line in page.text.splitlines() if pattern.search(line))
        for name, page in written().items()
        if name != "index" and pattern.search(page.text)
    }
    if of:
        width = max(map(len, of))
        lines = (f"  {name:{width}}  {line}"[:LINE_LENGTH] for name, line in of.items())
        yield "\n".join(
            [f"No page is called {word}. `ppl docs GUIDE` shows a guide that mentions it:", *lines]
        )


def spellings(word: str, names: list[str]) -> list[str]:
    """The names that a word stands for: itself, or where that is none, the same in other cases."""
    return [word] if word in names else [name for name in names if name.lower() == word.lower()]


def unabridged(command: Any) -> Any:
    """The command with the options that its own `--help` has no room for."""
    every = copy(command)
    every.params = [copy(param) for param in command.params]
    for param in every.params:
        param.hidden = False
    return every


PageSource = tuple[list[str], Callable[[str], str]]


def sources(context: click.Context) -> Mapping[str, PageSource]:
    """Names by kind, each kind with what makes the page of a name."""
    from ppl.cli.commands.explain import page_text
    from ppl.cli.glossary import GLOSSARY
    from ppl.cli.site.sections import WORDS, section, sections
    from ppl.cli.site.site import written
    from ppl.kernel.language.higher_order import HIGHER_ORDER, higher_order_page
    from ppl.kernel.language.laplace import LAPLACE, STATEMENTS, laplace_page
    from ppl.methods.run.settings import ALGORITHMS
    from ppl.programs.pages import pages
    from ppl.stdlib.constraints.table import CONSTRAINTS
    from ppl.stdlib.distributions.table import DISTRIBUTIONS
    from ppl.stdlib.library import standard
    from ppl.stdlib.reference import reference

    group = context.parent.command if context.parent else context.command
    commands = getattr(group, "commands", {})

    def command_page(name: str) -> str:
        command = unabridged(commands[name])
        text: str = command.get_help(click.Context(command, context.parent, name))
        return f"{text.rstrip()}\n\n{stages(name == 'sample')}" if name in ("variational", "sample") else text

    entry, callees = reference().__getitem__, standard().callees.items()
    guides = {name: page.text.rstrip() for name, page in written().items() if name != "index"}
    return {
        "Guides": (list(guides), guides.__getitem__),
        "Commands": (list(commands), command_page),
        "Terms": (["glossary", *GLOSSARY], term_page),
        "Algorithms": (list(ALGORITHMS), algorithm_page),
        "Sections": ([*sections(), *WORDS], section),
        "Messages": (list(pages()), lambda code: page_text(pages()[code])),
        "Constraints": ([c.keyword for c in CONSTRAINTS], entry),
        "Distributions": ([d.name for d in DISTRIBUTIONS], entry),
        "Functions": ([name for name, c in callees if c.kind == "function"], entry),
        "Functions of functions": (list(HIGHER_ORDER), higher_order_page),
        "Embedded Laplace approximation": ([*STATEMENTS, *LAPLACE], laplace_page),
        "Functions of distributions": ([name for name, c in callees if c.kind != "function"], entry),
    }


def require_own_site(folder: Path) -> None:
    """Refuse to write over the site of another program."""
    from ppl.cli.site.site import own
    from ppl.errors import ArgumentError
    from ppl.files import is_file

    config = folder / "mkdocs.yml"
    if (
        is_file(config)
        and own("mkdocs.yml").partition("\n")[0] not in config.read_text(errors="replace").splitlines()
    ):
        raise ArgumentError(
            f"{config} is not of this site, and would be overwritten. Give --site another folder."
        )


def write_site(folder: Path, pages: Mapping[str, PageSource], run: bool) -> None:
    """Writes the configuration of MkDocs and the pages, over those of an earlier time."""
    from ppl.cli.site.site import site
    from ppl.errors import ArgumentError
    from ppl.files import write_whole

    names, page = pages["Commands"]
    for path, text in site([(name, page(name)) for name in names], run):
        try:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise ArgumentError(
                f"{error.filename} is a file, or a link whose target does not exist, where a folder is "
                "needed. Remove it, or give --site another folder."
            ) from None
        write_whole(folder / path, [text])
    click.echo(f"Wrote {folder}. Build it with\n  mkdocs build --strict -f {folder / 'mkdocs.yml'}")


def algorithm_page(name: str) -> str:
    """The page of an algorithm, with its source."""
    from ppl.cli.site.reference import source_of
    from ppl.methods.run.settings import ALGORITHMS

    meaning = {str(known): meaning for known, meaning in ALGORITHMS.items()}[name]
    parts = (f"{meaning}.", *source_of(name).split("\n\n"))
    paragraphs = (filled(" ".join(part.split())) for part in parts)
    return "\n\n".join([f"--algorithm {name}", *paragraphs])


def term_page(name: str) -> str:
    """The meaning of a term, or of all of them."""
    from ppl.cli.glossary import GLOSSARY

    terms = GLOSSARY if name == "glossary" else {name: GLOSSARY[name]}
    return "\n\n".join(f"{term}\n{filled(text)}" for term, text in terms.items())


def filled(text: str, indent: str = "  ") -> str:
    """A paragraph in lines of 80 columns, indented, those after the first by `indent`."""
    return textwrap.fill(text, LINE_LENGTH, initial_indent="  ", subsequent_indent=indent)


def stages(of_chains: bool = False) -> str:
    """The stages of the progress of a fit, or of chains, and what each of them does."""
    from ppl.methods.run.phases import OF_CHAINS, OF_FIT, PHASES

    about = (
        "Stages, as the progress on standard error names them. The time left is estimated from the usual "
        "cost of stages. It is shorter if stages are skipped or end early, and longer with many "
        "HMC moves."
    )
    own = OF_CHAINS if of_chains else OF_FIT
    entries = (filled(f"{name}: {PHASES[name].does}", "    ") for name in own)
    return "\n".join([textwrap.fill(about, LINE_LENGTH), *entries])
