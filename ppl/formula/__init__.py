"""From a formula to a program: `outcome ~ age + (1 | clinic)` as a person would write it in the language."""

from ppl.data import AnyData, load_data, with_declared_names
from ppl.formula.families import family_of
from ppl.formula.frame import frame_of, names_of
from ppl.formula.outcome import require_outcome
from ppl.formula.program import written
from ppl.formula.terms import read_formula


def from_formula(formula: str, data: AnyData, family: str = "gaussian") -> str:
    """The text of a program for a formula, with priors scaled to the data.

    The program takes the columns of `data` as they are. Nothing of the formula is left at run time: edit
    the program as any other. `family` is gaussian, student, bernoulli, binomial, poisson,
    negative_binomial, gamma, beta or ordinal. The package formulae reads the formula.

    Raises:
        ArgumentError: the formula cannot be read, or has a term that is unsupported.
        DataError: a column does not fit its place in the formula.
        UnknownName: the formula names a column that is not there, or there is no such family.
        MissingPackage: formulae is not installed.

    Example:
        >>> data = {"y": [1.2, 0.7, 3.1, 2.2], "x": [0.1, 0.2, 0.8, 0.5]}
        >>> print(ppl.from_formula("y ~ x", data).splitlines()[-2])
          y ~ normal(mu, sigma);
    """
    inputs = with_declared_names(load_data(data), names := names_of(formula))
    kind = family_of(family)
    terms = read_formula(formula, frame_of(names, inputs))
    require_outcome(terms, family, inputs)
    return written(terms, kind, inputs)


__all__ = ["from_formula"]
