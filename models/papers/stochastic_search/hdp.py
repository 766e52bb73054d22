"""Paisley, Blei and Jordan 2012, Table 3 and Figures 2 and 4: the top level of a finite HDP."""

from pathlib import Path
from typing import Any

import numpy as np
from stochastic_search import six_words
from stochastic_search.levels import DRAWS, STEPS, TOPICS, Case, case
from stochastic_search.top_level import Terms, bound, climb, log_draws, noisy, remainder
from stochastic_search.topics import entropy, reviews, simulated

import ppl

from frame.figures import COLOURS, legend, panels
from frame.result import Claim, Result, Table

MODEL = Path(__file__).with_name("top_level.model")
VARIANCE = 1.0
PILOT = 2000
CONCENTRATIONS = (1.0, 5.0, 15.0)


def run(quick: bool, data: Path | None) -> Result:
    assert data is not None
    if quick:
        corpora, rounds, b = {"simulated": simulated(30, words=60)}, 5, CONCENTRATIONS[:1]
    else:
        corpora = {"simulated": simulated(300), "reviews": reviews(data, 300)}
        corpora |= {"simulated, twice as many": simulated(600)}
        rounds, b = 150, CONCENTRATIONS
    small, starts = (("alike",), 1) if quick else (tuple(six_words.CORPORA), six_words.STARTS)
    cases = [case(name, corpus, x, rounds) for name, corpus in corpora.items() for x in b]
    noise = [draws_needed(c) for c in cases]
    exact = [six_words.beside(name, x, rounds, starts) for name in small for x in b]
    return Result(
        data="simulated: documents of 80 words from 10 topics over 500 words; and a stand-in for the "
        "New York Times: 300 film reviews, counts of 1,000 words recovered from their tf-idf weights.",
        tables=[
            Table(
                "Table 3: the bound in nats by what stands at the top level",
                ("corpus", "documents", "b", "Dirichlet q", "point", "uniform", "entropy of q"),
                [c.row for c in cases],
                dict.fromkeys(("Dirichlet q", "point", "uniform", "entropy of q"), ",.1f"),
            ),
            Table(
                f"Figure 4: draws that bring the gradient's variance to {VARIANCE:g} an entry, at the "
                "fitted q",
                ("corpus", "b", "under q'", "under q", "q', no control", "q, no control"),
                [(c.corpus, c.b, *n) for c, n in zip(cases, noise, strict=True)],
                dict.fromkeys(("under q'", "under q", "q', no control", "q, no control"), ",.3g"),
            ),
            Table(
                "The top level alone, given its documents: a Dirichlet q beside a Gaussian on R^(K-1)",
                ("corpus", "b", "Dirichlet q", "full-rank Gaussian, default settings"),
                [(c.corpus, c.b, bound(c.terms, c.c), gaussian(c, quick)) for c in cases[: len(b)]],
                {"Dirichlet q": ",.2f", "full-rank Gaussian, default settings": ",.2f"},
            ),
            six_words.table(exact),
        ],
        claims=[] if quick else claims(cases, noise),
        remarks=[
            f"K = {TOPICS} topics and at most 600 documents, where the paper has 200 and 8,000: what an "
            f"afternoon on two processors allows. Each of {rounds} rounds of coordinate ascent takes {STEPS} "
            f"natural-gradient steps of stochastic search at the top level, {DRAWS} draws each, under q' and "
            "with the two-piece control variate. All three fits begin where half as many rounds with a "
            "uniform top level end. E log Gamma in the bound is by quadrature.",
            "A delta q has an entropy of minus infinity. The bound of a point leaves it out and "
            "keeps the log density of its prior, so it is no lower bound on the evidence, and a "
            "Dirichlet q that is as good falls behind it by its own entropy, the last column of "
            "Table 3. How the paper compares the two is not in its text.",
            *behind_uniform(cases),
            six_words.remark(exact),
        ],
        figure=picture(cases),
    )


def draws_needed(case: Case) -> list[float]:
    log_p = log_draws(case.c, PILOT, np.random.default_rng(2))
    ways = [(True, True), (False, True), (True, False), (False, False)]
    return [noisy(case.terms, case.c, log_p, *way).variance / VARIANCE for way in ways]


def gaussian(case: Case, quick: bool) -> float:
    """The bound of this project's default full-rank fit of the same top level."""
    t = case.terms
    given = {"K": len(t.s), "n_documents": t.n, "a": t.a, "b": t.b, "s": t.s}
    settings = {"iter": 100, "refine": False} if quick else {}
    fitted = ppl.compile_model(MODEL).condition(given).variational(algorithm="fullrank", **settings)
    return float(fitted.elbo)


def claims(cases: list[Case], noise: list[list[float]]) -> list[Claim]:
    to_uniform = [c.dirichlet - c.uniform for c in cases]
    to_point = [c.dirichlet - c.point for c in cases]
    saved = [under_q / marginal for marginal, under_q, *_ in noise]
    controlled = [plain / marginal for marginal, _, plain, _ in noise]
    return [
        Claim(
            "In general a variational posterior at the top level gives a better bound than a uniform one.",
            better(to_uniform),
            in_general(to_uniform),
        ),
        Claim(
            "In general it gives a better bound than a point estimate.",
            better(to_point),
            in_general(to_point),
        ),
        Claim(
            "Under the beta marginal q' the gradient needs significantly fewer draws than under q.",
            f"It needs {min(saved):,.0f} to {max(saved):,.0f} times fewer.",
            min(saved) > 2,
        ),
        Claim(
            "Control variates make the search possible: without them the variance was massive.",
            f"Without them it takes {min(controlled):,.3g} to {max(controlled):,.3g} times the draws, "
            "though in log space it can be done.",
            min(controlled) > 10,
        ),
    ]


def better(gaps: list[float]) -> str:
    above = sum(gap > 0 for gap in gaps)
    return f"It does in {above} of {len(gaps)} cases, {min(gaps):+,.0f} to {max(gaps):+,.0f} nats apart."


def in_general(gaps: list[float]) -> bool:
    """In three cases of four."""
    return sum(gap > 0 for gap in gaps) >= 0.75 * len(gaps)


def behind_uniform(cases: list[Case]) -> list[str]:
    """Why a Dirichlet q is behind where it is."""
    behind = [c for c in cases if c.dirichlet < c.uniform]
    if not behind:
        return []
    gained = max(c.point - c.uniform for c in behind)
    paid = min(-entropy(c.c[None]) for c in behind)
    return [
        "Where the Dirichlet q is behind the uniform level, its documents say little about the top level: a "
        f"point there gains {gained:,.0f} nats at most on the uniform one, less than the {paid:,.0f} by "
        "which the entropy of q lowers its bound.",
    ]


def picture(cases: list[Case]) -> Any:
    """Figure 2: f and f - g against b p for one small and one large topic; Figure 4: draws by iteration."""
    figure, axes = panels(1, 2, width=8, height=2.8)
    shown = cases[min(1, len(cases) - 1)]
    functions(axes[0, 0], shown)
    terms = shown.terms
    c, rng = np.ones(len(terms.s)), np.random.default_rng(3)
    checks = np.unique(np.geomspace(1, 200, 12).astype(int))
    curves: dict[str, list[float]] = {"under q'": [], "under q": []}
    for before, now in zip([0, *checks[:-1]], checks, strict=True):
        c = climb(terms, c, int(now - before), DRAWS, rng, first=int(before))
        log_p = log_draws(c, 500, rng)
        for name, marginal in (("under q'", True), ("under q", False)):
            curves[name].append(noisy(terms, c, log_p, marginal).variance / VARIANCE)
    for k, (name, values) in enumerate(curves.items()):
        axes[0, 1].plot(checks, values, "o-", ms=3, lw=1, color=COLOURS[k], label=name)
    axes[0, 1].set(xscale="log", yscale="log", xlabel="iteration", ylabel="draws needed")
    legend(axes[0, 1])
    return figure


def functions(ax: Any, case: Case) -> None:
    """f = -log Gamma(b p), and what the control variate of either piece leaves of it."""
    x = np.geomspace(1e-3, 12, 300)
    pieces = {"f - g, mean of b p at 0.2": 0.2, "f - g, mean of b p at 6": 6.0}
    terms = Terms(1.0, 20.0, 1, np.zeros(2))
    log_p = np.log(np.column_stack([x / terms.b, 1 - x / terms.b]))
    whole = remainder(terms, np.ones(2), log_p, controlled=False)[:, 0]
    ax.plot(x, whole, color="black", lw=1, label="f")
    for k, (name, mean) in enumerate(pieces.items()):
        c = np.array([mean / terms.b, 1 - mean / terms.b])
        ax.plot(x, remainder(terms, c, log_p)[:, 0], color=COLOURS[k], lw=1, label=name)
    ax.set(xscale="log", xlabel="b p", ylabel="nats", ylim=(-12, 8))
    legend(ax, loc="upper left")
