"""Names that are spelt much alike: what a misspelt one was meant for."""

import re
from collections.abc import Iterable
from unicodedata import normalize

from ppl.late import difflib

FAMILIES = {
    "normal": "gaussian", "t": "student", "studentt": "student", "binary": "bernoulli", "logit": "bernoulli",
    "logistic": "bernoulli", "negbinomial": "negative_binomial", "nbinom": "negative_binomial",
    "negbin": "negative_binomial", "cumulative": "ordinal",
}  # fmt: skip
"""Families of outcomes as lme4, brms and bambi call them, and as `ppl new --formula` does."""
PICTURES = {
    "hist": "marginals", "histogram": "marginals", "density": "marginals", "posterior": "marginals",
    "kde": "marginals", "distribution": "marginals", "traceplot": "trace", "coef": "forest",
    "intervals": "forest", "ppcheck": "ppc", "posteriorpredictive": "ppc", "correlation": "covariance",
    "heatmap": "covariance", "scatter": "pairs", "corner": "pairs", "conditionaleffects": "effects",
    "residuals": "predictive", "paretok": "khat", "loopit": "loo-pit",
}  # fmt: skip
"""Pictures as ArviZ, bayesplot and pandas call them, and as `ppl plot --kind` does."""
SAMPLERS = ("nuts", "hmc", "mcmc", "sampling")
"""Names of other tools for the algorithm of `ppl sample`."""
LIKE = 0.7
"""The ratio of difflib from which a name is taken for a misspelling of another."""
ROUGHLY_LIKE = 0.6
"""The same where only few names come into question: keywords, and variables that the data lack."""


def nearest(name: str, names: Iterable[str], cutoff: float = LIKE) -> str | None:
    """The name most like `name`: the same but for case and underscores, else by spelling.

    Example:
        >>> nearest("Sigma_y", ["mu", "sigmay", "sigma"])
        'sigmay'
    """
    word = fold(name)
    folded = {f: n for n in names if may_be_alike(f := fold(n), word, cutoff)}
    close = difflib.get_close_matches(word, folded, n=1, cutoff=cutoff) if folded else []
    return folded[close[0]] if close else None


def may_be_alike(one: str, other: str, cutoff: float) -> bool:
    """Whether the lengths allow the ratio, which costs a tenth of it: a table may have a million columns."""
    both = len(one) + len(other)
    return not both or 2 * min(len(one), len(other)) / both >= cutoff


def fold(name: str) -> str:
    return name.lower().replace("_", "")


def as_variable(name: str) -> str:
    """A name that a program can declare, `age_years`, for a column `Age (years)`."""
    ascii_only = normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    name = re.sub(r"\W+", "_", ascii_only).strip("_")
    return f"x{name}" if name[:1].isdigit() else name


def letters(name: str) -> str:
    """Letters and digits alone, without case and accents: `Age (years)` and `age_years` are one."""
    return "".join(sign for sign in normalize("NFKD", name.lower()) if sign.isalnum())
