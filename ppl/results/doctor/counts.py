"""Counts: more zeros, or more dispersion, than the model replicates."""

from collections.abc import Sequence

import numpy as np

from ppl.floats import Floats
from ppl.kernel.language.lalr import is_identifier
from ppl.late import stats
from ppl.programs.fresh_names import FreshNames
from ppl.results.doctor.advice import LOCATIONS, bracketed, with_term
from ppl.results.doctor.change import Change, written
from ppl.results.doctor.evidence import ObservedOutcome
from ppl.results.doctor.finding import Finding
from ppl.results.doctor.residuals import Candidate
from ppl.results.doctor.statement import Lines, Statement, restated
from ppl.results.doctor.tails import farthest
from ppl.types import INT, REAL

TRIED = 60
"""Values of a parameter at which the likelihood of an alternative is computed."""
CERTAIN = 1e-9
"""The distance of a probability from 0 and 1."""


def zeros(o: ObservedOutcome) -> Finding | None:
    """More zeros than in replicated data, unless dispersion explains them better."""
    if not is_count(o) or inflated(o) is False:
        return None
    tried: list[Candidate] = [("zeros", lambda rows: (rows == 0).sum(axis=1).astype(float))]
    finding = farthest("PPL030", o, tried, (o.y, o.replicated), f"{{}} among `{o.name}`")
    return finding and finding.finding(
        f"`{o.name}` has {finding.reference.observed:.0f} zeros; replicated data have "
        f"{np.median(finding.reference.replicated):.0f}.",
        zero_inflated(o.statement),
    )


def zero_inflated(s: Statement) -> Change:
    """A mixture with a point at zero; of a whole array by its rows."""
    zero = s.fresh("zero")
    return Change(s, mixed(s, zero), (f"real<lower=0, upper=1> {zero};",))


def mixed(s: Statement, zero: str) -> Lines | str:
    def mixture(y: str, args: Sequence[str]) -> str:
        of_zero = f"poisson_lpmf({y} | 0)"
        return f"target += log_mix({zero}, {of_zero}, {s.distribution}_lpmf({y} | {', '.join(args)}));"

    if s.at:
        return Lines((mixture(s.left, s.args),))
    if s.site is None or not s.site.size:
        return f"for each n, with the arguments of row n, write `{mixture(s.left + '[n]', s.args)}`"
    names, size = FreshNames(set(s.site.taken)), s.site.size
    n, local, args = names.fresh("n"), list[str](), list[str]()
    for arg, of_type in zip(s.args, s.site.types, strict=True):
        if of_type in (INT, REAL):
            args.append(arg)
            continue
        whole = arg if is_identifier(arg) else names.fresh("eta")
        if whole != arg:
            local.append(f"  {of_type}[{size}] {whole} = {arg};")
        args.append(f"{whole}[{n}]")
    loop = (f"for ({n} in 1 : {size}) {{", f"  {mixture(f'{s.left}[{n}]', args)}", "}")
    return Lines(("{", *local, *(f"  {line}" for line in loop), "}") if local else loop)


def dispersion(o: ObservedOutcome) -> Finding | None:
    """Residuals of counts that are larger than those of replicated data, unless zeros explain them better."""
    if not is_count(o) or inflated(o):
        return None
    tried: list[Candidate] = [("Pearson residuals", lambda s: (s**2).sum(axis=1))]
    finding = farthest("PPL031", o, tried, o.residuals, "sum of squares of {}")
    assert finding is not None
    ratio = finding.reference.observed / float(np.mean(finding.reference.replicated))
    return finding.finding(
        f"`{o.name}` varies more than the model says: its squared residuals are {ratio:.3g} times those of "
        "replicated data.",
        overdispersed(o.statement),
    )


def overdispersed(s: Statement) -> Change | str:
    """The change to a distribution with a dispersion of its own."""
    match s.distribution:
        case "poisson" | "poisson_log":
            phi, name = s.fresh("phi"), s.distribution.replace("poisson", "neg_binomial_2")
            return with_dispersion(s, phi, restated(s, name, (*s.args, phi)))
        case "binomial" | "binomial_logit":
            p = bracketed(s.args[1]) if s.distribution == "binomial" else f"inv_logit({s.args[1]})"
            kappa, of_size = s.fresh("kappa"), s.args[0]
            args = (of_size, f"{kappa} * {p}", f"{kappa} * (1 - {p})")
            return with_dispersion(s, kappa, restated(s, "beta_binomial", args))
        case name if name in LOCATIONS:
            return (
                "Give each row an effect: declare `real<lower=0> s_u; vector[N] u;` in parameters for N "
                f"rows, write `u ~ normal(0, s_u); s_u ~ normal(0, 1);`, and "
                f"{written(with_term(s, f'u{s.at}'))}."
            )
        case _:
            return f"Give `{s.text}` a parameter of dispersion, or each row an effect of its own."


def with_dispersion(s: Statement, name: str, new: Statement) -> Change:
    """A statement with a positive parameter that is small where counts vary much."""
    return Change(s, new, (f"real<lower=0> {name};",), (f"{name} ~ exponential(0.1);",))


def is_count(o: ObservedOutcome) -> bool:
    """Whether the outcome counts something: ints that are not only 0 and 1."""
    return o.discrete and o.y.min() >= 0 and o.y.max() > 1


def inflated(o: ObservedOutcome) -> bool | None:
    """Whether zero inflation of these means is likelier than dispersion; None for other distributions."""
    shares, sizes = np.linspace(0.01, 0.95, TRIED)[:, None], np.geomspace(0.01, 1e4, TRIED)[:, None]
    mean, n = np.maximum(o.fitted, np.finfo(float).tiny), trials(o)
    if o.statement.distribution.startswith(("poisson", "neg_binomial")):
        at = stats.poisson.logpmf(o.y, mean / (1 - shares))
        dispersed = stats.nbinom.logpmf(o.y, sizes, sizes / (sizes + mean))
    elif n is not None:
        p = np.clip(mean / n, CERTAIN, 1 - CERTAIN)
        at = stats.binom.logpmf(o.y, n, np.minimum(p / (1 - shares), 1 - CERTAIN))
        dispersed = stats.betabinom.logpmf(o.y, n, sizes * p, sizes * (1 - p))
    else:
        return None
    one = at + np.log1p(-shares)
    mixed = np.where(o.y == 0, np.logaddexp(np.log(shares), one), one)
    return bool(mixed.sum(axis=1).max() > dispersed.sum(axis=1).max())


def trials(o: ObservedOutcome) -> Floats | None:
    """The trials of each row (n,) of a binomial outcome: a column of the data, or a literal."""
    s = o.statement
    if not s.distribution.startswith("binomial"):
        return None
    name = s.args[0].removesuffix(s.at)
    if name in o.columns:
        return o.columns[name].values
    return np.full(len(o.y), float(name)) if name.isdigit() else None
