"""Pages made from the tables: what a program may call, terms, commands, settings, models."""

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ppl.cli.site.markdown import entry, fenced, heading, prose, table
from ppl.cli.site.mathml import displayed
from ppl.kernel.language.higher_order import HIGHER_ORDER, higher_order_page
from ppl.stdlib.reference import reference


def functions() -> Iterator[str]:
    """The names by topic, each topic a page."""
    yield "# Functions\n\nIn a signature `T` stands for a scalar or any container of them."
    for name, topic in topics().items():
        links = ", ".join(
            f"[`{f}`]({name}.md#{f.lower()})" for f in dict.fromkeys(f.name for f in topic.FUNCTIONS)
        )
        yield f"## [{title(name)}]({name}.md)\n\n{links}"
    links = ", ".join(f"[`{f}`](of_functions.md#{f})" for f in HIGHER_ORDER)
    yield f"## [Functions that take functions](of_functions.md)\n\n{links}"


def topics() -> Mapping[str, Any]:
    from ppl.stdlib.functions.table import TOPICS

    return {topic.__name__.rpartition(".")[2]: topic for topic in TOPICS}


TITLES: Mapping[str, str] = {
    "elementary": "Elementary functions",
    "fills": "Repeated and evenly spaced values",
    "fourier": "Fourier transforms",
    "hmm": "Hidden Markov models",
    "laplace_options": "Embedded Laplace approximation",
    "links": "Link functions",
    "solves": "Linear systems",
    "sparse": "Sparse matrices",
    "steps": "Rounding, minimum and maximum",
    "symmetric": "Symmetric matrices",
    "wiener_cumulative": "Wiener distribution functions",
}
"""Titles of topics that are not the names of their files."""


def title(name: str) -> str:
    return TITLES.get(name, name.replace("_", " ").capitalize())


def of_topic(name: str) -> Iterator[str]:
    """The functions of a topic with their signatures."""
    topic = topics()[name]
    yield f"{heading(title(name), 1)}\n\n{prose((topic.__doc__ or '').partition(chr(10) * 2)[0])}"
    yield from (entry(name, reference()[name]) for name in dict.fromkeys(f.name for f in topic.FUNCTIONS))


def of_functions() -> Iterator[str]:
    yield "# Functions that take functions"
    yield from (entry(name, higher_order_page(name)) for name in HIGHER_ORDER)


def glossary() -> Iterator[str]:
    from ppl.cli.glossary import GLOSSARY

    yield "# Glossary"
    yield from (f"{heading(term)}\n\n{prose(meaning)}" for term, meaning in GLOSSARY.items())


def commands(pages: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Of (name, help)."""
    yield "# Options of each command"
    yield from (f"{heading(f'ppl {name}')}\n\n{fenced(text)}" for name, text in pages)


# --- Algorithms ----------------------------------------------------------------------------------


OWN: Mapping[str, tuple[str, str]] = {
    "meanfield": ("q(u)", "N(u | mu, diag(exp(2 * omega)))"),
    "fullrank": ("q(u)", "N(u | mu, L * L')"),
    "lowrank": ("q(u)", "N(u | mu, B * B' + diag(d ^ 2))"),
    "nested": ("q(u)", "q(v) * p(w | v, y)"),
    "fixed-draws": ("ELBO(q)", "sum(m, log(p(y, mu + exp(omega) .* z[m]))) / M + H(q)"),
    "laplace": ("q(u)", "N(u | m, (-H(m)) ^ (-1))"),
    "optimize": ("u", "argmax(log(p(y, x(u))))"),
}
"""The own part of an algorithm: its approximation or objective, as two sides of an equation."""


def algorithms() -> Iterator[str]:
    """The meaning of each, its source, and the table of settings."""
    from ppl.methods.run import settings
    from ppl.methods.run.settings import ALGORITHMS

    yield (
        "# Algorithms\n\n`ppl variational MODEL DATA --algorithm NAME`, or in Python "
        "`posterior.variational(algorithm=NAME)`. [Which one?](faq.md#which-algorithm)"
    )
    yield (
        "Inference works on the free numbers u, from which the program makes its parameters x. Their density "
        "has the Jacobian J of [the maps of the constraints](constraints/index.md):"
    )
    yield displayed("log(p(y, x(u))) + log(abs(J(u)))", "log(p(y, u))")
    yield "Variational algorithms maximise the evidence lower bound of an approximation q:"
    yield displayed("E_q(log(p(y, u)) - log(q(u)))", "ELBO(q)")
    yield (
        "Below, ω are log standard deviations, z fixed draws of a standard normal, v the coordinates that "
        "the latent w depend on, m the mode of log p(y, u) and H the Hessian there."
    )
    by_source = dict[str, str]()
    for name, meaning in ALGORITHMS.items():
        yield f"{heading(name)}\n\n{prose(meaning)}."
        if name in OWN:
            yield displayed(OWN[name][1], OWN[name][0])
        first = by_source.setdefault(source_of(name), name)
        yield prose(source_of(name)) if first == name else f"As [{first}](#{first})."
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
    """The description of an algorithm in its room: how it works, and its papers."""
    from ppl.methods.recipes import recipe_of

    return inspect.getdoc(sys.modules[recipe_of(algorithm).__module__]) or ""


def settings_table(record: type) -> str:
    """A row a setting: name, option, default, the values it takes, what it does."""
    from ppl.cli.settings import option_name
    from ppl.methods.run.setting import settings_of

    rows = (
        (
            f"`{known.name}`",
            f"`{option_name(known)}`",
            prose(known.unset or str(known.default).removesuffix(".0")),
            prose(known.kind.expected),
            prose(known.about),
        )
        for known in settings_of(record).values()
    )
    return table(("setting", "option", "default", "values", "what it does"), rows)
