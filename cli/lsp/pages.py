"""The page of `ppl docs` for a word of a program."""

import re
from functools import cache

from ppl.kernel.language.higher_order import HIGHER_ORDER, higher_order_page
from ppl.kernel.language.laplace import LAPLACE, STATEMENTS, laplace_page
from ppl.stdlib.library import standard
from ppl.stdlib.reference import meaning, reference, signature


@cache
def page(word: str) -> str | None:
    """The page of a function, a distribution or a constraint; None for any other word."""
    if word in HIGHER_ORDER:
        return higher_order_page(word)
    if word in LAPLACE or word in STATEMENTS:
        return laplace_page(word)
    return reference().get(word)


def as_markdown(text: str) -> str:
    """A page of the terminal: its first paragraph as prose, the rest as laid out, without source places."""
    body = re.sub(r"\n+Computed by ppl/[^\n]*(\n\S[^\n]*)*", "", text)
    first, _, rest = body.partition("\n\n")
    return f"{first}\n\n```text\n{rest.strip(chr(10))}\n```" if rest else first


def brief(name: str) -> str:
    """A line of meaning."""
    callee = standard().callees.get(name)
    return meaning(callee) if callee else (page(name) or "").partition("\n")[0]


def signatures(name: str) -> list[str]:
    """How a function of the library is called."""
    callee = standard().callees.get(name)
    return [signature(name, overload) for overload in callee.overloads] if callee else []


def statement(name: str) -> str | None:
    """`y ~ normal(mu, sigma)`: how a distribution stands in a program."""
    family = standard().families.get(name)
    if family is None:
        return None
    variate, *params = (word for word, _ in family.args)
    return f"{variate} ~ {name}({', '.join(params)})"
