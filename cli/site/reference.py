"""Pages made from the tables: what a program may call, messages, terms, commands, settings, models."""

import inspect
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ppl.cli.site.markdown import entry, fenced, heading, prose, table

LANGUAGES = dict.fromkeys(("program", "wrong", "right", "before", "after"), "stan")


def constraints() -> Iterator[str]:
    from ppl.stdlib.constraints.table import CONSTRAINTS

    yield (
        "# Constraints\n\nA parameter is declared with a type and, where it has one, a constraint. Inference "
        "works on free numbers; the map gives the constrained value, and the log of its Jacobian is added to "
        "the target."
    )
    yield from _entries(c.keyword for c in CONSTRAINTS)


def distributions(pictured: Collection[str] = ()) -> Iterator[str]:
    """Each with its density, where there is a picture."""
    from ppl.stdlib.distributions.table import DISTRIBUTIONS

    yield (
        "# Distributions\n\n`y ~ name(a, b)` adds the log density of `y` to the target, without the terms "
        "that do not depend on parameters; so does `target += name_lupdf(y | a, b)`, and `name_lpdf` keeps "
        "every term."
    )
    for d in DISTRIBUTIONS:
        yield from _entries([d.name])
        if d.name in pictured:
            yield f"![{prose(f'Density of {d.name}')}]({density_file(d.name)})"


def density_file(name: str) -> str:
    return f"pictures/density-{name}.svg"


def functions() -> Iterator[str]:
    """By topic, then those that take a function."""
    from ppl.frontend.higher_order import HIGHER_ORDER, higher_order_page
    from ppl.stdlib.functions.table import TOPICS

    yield "# Functions\n\nIn a signature `T` stands for a scalar or any container of them."
    for topic in TOPICS:
        yield heading(topic.__name__.rpartition(".")[2].replace("_", " ").capitalize())
        yield prose((topic.__doc__ or "").partition("\n\n")[0])
        yield from _entries(dict.fromkeys(f.name for f in topic.FUNCTIONS), level=3)
    yield heading("Functions of functions")
    yield from (entry(name, higher_order_page(name), level=3) for name in HIGHER_ORDER)


def _entries(names: Iterable[str], level: int = 2) -> Iterator[str]:
    from ppl.stdlib.reference import reference

    yield from (entry(name, reference()[name], level) for name in names)


def messages() -> Iterator[str]:
    from ppl.frontend.pages import pages

    yield "# Messages\n\n`ppl explain CODE` shows the same in the terminal."
    for page in pages().values():
        yield heading(f"{page.code}: {page.title}")
        yield prose(page.text)
        for label, example in page.examples.items():
            yield f"{label.capitalize()}:\n\n{fenced(example, LANGUAGES.get(label, 'text'))}"


def glossary() -> Iterator[str]:
    from ppl.cli.glossary import GLOSSARY

    yield "# Glossary"
    yield from (f"{heading(term)}\n\n{prose(meaning)}" for term, meaning in GLOSSARY.items())


def commands(pages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Of (name, help)."""
    yield "# Command line"
    yield from (f"{heading(f'ppl {name}')}\n\n{fenced(text)}" for name, text in pages)


def machines() -> Iterator[str]:
    from ppl.cli.guides import MACHINES

    title, _, text = MACHINES.partition("\n\n")
    yield f"# {title}\n\n{fenced(text)}"


# --- Algorithms ----------------------------------------------------------------------------------


def algorithms() -> Iterator[str]:
    """What each is, its source, and the table of settings."""
    from ppl.inference.run import settings
    from ppl.inference.run.settings import ALGORITHMS

    yield (
        "# Algorithms\n\n`ppl variational MODEL DATA --algorithm NAME`, or in Python "
        "`posterior.variational(algorithm=NAME)`. [Which one?](faq.md#which-algorithm)"
    )
    for name, meaning in ALGORITHMS.items():
        yield f"{heading(name)}\n\n{prose(meaning)}.\n\n{prose(source_of(name))}"
    yield "## Settings\n\nThe same in Python, as options of the command, and as words of an executable."
    records = (
        ("Every algorithm", settings.RunSettings),
        ("Algorithms that take stochastic steps", settings.StochasticSettings),
        ("Correction of draws", settings.CorrectionSettings),
        ("Modes", settings.ModeSettings),
        ("NUTS", settings.SampleSettings),
        ("Simulation-based calibration", settings.SbcSettings),
    )
    yield from (f"{heading(title, 3)}\n\n{settings_table(record)}" for title, record in records)


def source_of(algorithm: str) -> str:
    """What the room of an algorithm says of it: how it works, and its papers."""
    from ppl.inference.recipes import RECIPES

    return inspect.getdoc(sys.modules[RECIPES[algorithm].__module__]) or ""


def settings_table(record: type) -> str:
    """A row a setting: name, option, default, the values it takes, what it does."""
    from ppl.cli.settings import option_name
    from ppl.inference.run.setting import settings_of

    rows = (
        (
            f"`{known.name}`",
            f"`{option_name(known)}`",
            prose(known.unset or _said(known.default)),
            prose(known.kind.expected),
            prose(known.about),
        )
        for known in settings_of(record).values()
    )
    return table(("setting", "option", "default", "values", "what it does"), rows)


def _said(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
