"""Random programs, and the pack, beside the real Stan, compiled or interpreted.

    python tests/generator/against_stan.py --stan-env ENV --count 500 --models --pack --extremes
    python tests/generator/against_stan.py --oracle --count 5000 --models --pack

ENV is a virtual environment with httpstan 4.13.0, which brings stanc and Stan's headers; g++ is needed too.
Log density with the Jacobian and all constants, its gradient, parameters and transformed parameters are
compared at a few points; what is refused must be refused on both sides.  What differs goes into the table
against_stan.md with the reason, and a difference without one ends the run with status 1.

With --oracle, the interpreter of the extra `oracle` answers instead: log densities up to a constant, and
gradients.  A gradient that is not that of its own value, by central differences of both, is its fault.
"""

import argparse
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

from ppl.records import dataclass, field, replace

for _threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")
sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np  # noqa: E402
from generator import extremes  # noqa: E402
from generator.interpreted_stan import INSTALLED, InterpretedStan  # noqa: E402
from generator.known import Known, reason_for  # noqa: E402
from generator.program import generated  # noqa: E402
from generator.real_stan import Answer, Point, Question, RealStan  # noqa: E402

import ppl  # noqa: E402
from ppl.stages import show_stage  # noqa: E402

ROOT = Path(__file__).parents[2]
TABLE = Path(__file__).with_suffix(".md")
SCALES = (0.3, 1.0, 1.0, 3.0)
"""Of the normal draws that are the points of a program."""
VALUE, GRADIENT = (1e-8, 1e-8), (1e-6, 1e-7)
"""Tolerances, relative and absolute, as in the conformance pack."""
MOST = 2000
"""Random programs looked at, of one seed."""
PERTURBATION = 1e-15
"""How far, relatively, a point is moved to see how a number depends on its rounding."""
NEWER = "not in Stan 2.35"
APPROXIMATE = "Stan's gradient is an approximation: central differences of the value give ppl's"
INCONSISTENT = "the interpreter's gradient is not that of its value: central differences of both"
STEP, CONSISTENT = 1e-5, 1e-4
"""Of central differences, and how far they may be from a gradient."""
NOISE = 1e2
"""A number may be off by so many times what it moves then."""

Floats = np.ndarray


@dataclass(frozen=True)
class Case:
    """`tolerance` replaces the default where it is known that Stan is not accurate."""

    question: Question
    tolerance: dict[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.question.name


@dataclass(frozen=True)
class Difference:
    """A quantity at a point in Stan's words and in ppl's; `off` is relative, inf where one side refuses."""

    quantity: str
    point: Point
    stan: str
    ppl: str
    off: float = np.inf
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """ "agrees", "both refuse", "only Stan refuses ...", "differs" and the like."""

    case: Case
    verdict: str
    differences: Sequence[Difference] = ()
    known: tuple[Known, ...] = ()


# --- The programs --------------------------------------------------------------------------------


def points_of(name: str, dim: int) -> list[Point]:
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return [[round(float(x), 6) for x in rng.normal(0.0, scale, dim)] for scale in SCALES]


def case_of(name: str, program: str, data: Any, tolerance: dict[str, float] | None = None) -> Case:
    plain = {k: np.asarray(v).tolist() if isinstance(v, np.ndarray) else v for k, v in data.items()}
    return Case(Question(name, program, plain, partial(points_of, name)), tolerance or {})


def random_programs(seed: int, first: int, longest: int) -> Iterator[Case]:
    for number in range(first, first + MOST):
        made = generated(seed, number)
        if len(made.text.partition("generated quantities {")[0]) <= longest:
            yield case_of(f"{seed}/{number}", made.text, made.data)


def models() -> Iterator[Case]:
    yield from folder(*sorted((ROOT / "models").glob("*/*.model")))


def pack() -> Iterator[Case]:
    """The whole programs of the conformance pack, and its cases."""
    here = ROOT / "tests" / "conformance"
    for file in sorted((here / "programs").glob("*.stan")):
        golden = json.loads(file.with_suffix(".golden.json").read_text())
        data = json.loads(file.with_suffix(".data.json").read_text())
        yield case_of(file.stem, file.read_text(), data, golden.get("tol"))
    for group in ("distributions", "functions", "transforms", "edges"):
        for line in (here / "cases" / f"{group}.jsonl").read_text().splitlines():
            case = json.loads(line)
            yield case_of(case["id"], case["program"], case["data"], case.get("tol"))


def folder(*files: Path) -> Iterator[Case]:
    for file in files:
        data = file.with_suffix(".data.json")
        yield case_of(file.stem, for_stan(file), json.loads(data.read_text()) if data.exists() else {})


def for_stan(file: Path) -> str:
    """The program; of one with discrete parameters, which Stan refuses, the printed one with their sums."""
    discrete = ppl.compile_model(file).discrete
    return show_stage(file, "program") if discrete else file.read_text()


def tails(programs: Iterable[extremes.Task]) -> Iterator[Case]:
    for name, program, data, points in programs:
        yield Case(Question(name, program, data, lambda dim, points=points: points()))


# --- The comparison ------------------------------------------------------------------------------


@cache
def compiled(program: str) -> ppl.Model:
    return ppl.compile_model(program)


def outcome(case: Case, answer: Answer, stan: RealStan | InterpretedStan) -> Outcome:
    verdict, found = verdict_of(case, answer, stan)
    return Outcome(case, verdict, found, stan.known)


def verdict_of(
    case: Case, answer: Answer, stan: RealStan | InterpretedStan
) -> tuple[str, Sequence[Difference]]:
    q = case.question
    if answer.refused in ("interpreter", "crash"):
        return "not interpreted", [Difference("program", (), answer.words, "")]
    try:
        posterior = compiled(q.program).condition(dict(q.data))
    except ppl.PPLError as error:
        words = str(error).strip()
        if answer.refused:
            return "both refuse", ()
        if answer.at and all("error" in found for found in answer.at):
            return "both refuse", ()
        return "differs", [Difference("program", (), "accepted", words)]
    if answer.refused in ("stanc", "compiler"):
        reason = reason_for(stan.known, q.name, q.program, "program", answer.words, "")
        verdict = NEWER if reason.startswith("newer") else "differs"
        return verdict, [Difference("program", (), answer.words, "accepted")]
    if answer.refused:  # the data: here it may be the first evaluation that says so
        points = q.points(posterior.param_unc_num())
        refused = all(refuses(posterior, np.array(u)) for u in points)
        return (
            ("both refuse", ())
            if refused
            else (
                "differs",
                [Difference("data", (), answer.words, "accepted")],
            )
        )
    if not answer.constants:
        answer = with_constant(posterior, answer)
    found = [
        replace(d, note=d.note or by_differences(stan, q, posterior, d))
        for point, at in zip(answer.points, answer.at, strict=True)
        for d in compared(case, posterior, point, at, propto=not answer.constants)
    ]
    names = posterior.param_names(include_tp=True)
    if answer.constants and list(names) != list(answer.names):
        found.append(Difference("names", (), str(answer.names), str(names)))
    if found:
        return "differs", found
    if not answer.at:
        return "not answered in time", ()
    return "agrees" if any("lp" in at for at in answer.at) else "both refuse", ()


def with_constant(p: ppl.Posterior, answer: Answer) -> Answer:
    """The answer with the constant of ppl's log density, by the first point at which both are finite."""
    for point, at in zip(answer.points, answer.at, strict=True):
        value = tried(partial(p.log_density, np.array(point), propto=True))
        if not isinstance(value, str) and np.isfinite(value - at.get("lp", np.nan)):
            constant = float(value) - at["lp"]
            return replace(
                answer, at=[{**x, "lp": x["lp"] + constant} if "lp" in x else x for x in answer.at]
            )
    return answer


def outcomes(stan: RealStan | InterpretedStan, cases: Iterable[Case], most: int) -> Iterator[Outcome]:
    """Those of all cases, or until `most` programs were no news to Stan 2.35."""
    asked: dict[str, Case] = {}

    def questions() -> Iterator[Question]:
        for case in cases:
            asked[case.name] = case
            yield case.question

    for q, answer in stan.ask(questions()):
        if most <= 0:
            return
        found = outcome(asked.pop(q.name), answer, stan)
        most -= found.verdict != NEWER
        if found.verdict == "differs":
            print(report(found), flush=True)
        yield found


def refuses(posterior: ppl.Posterior, u: Floats) -> bool:
    value = tried(lambda: posterior.log_density(u))
    return isinstance(value, str) or not np.isfinite(value)


def tried(f: Any) -> Any:
    """The number, or the error in words."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(f(), dtype=float)
    except ppl.PPLError as error:
        return str(error).strip()


def compared(
    case: Case, p: ppl.Posterior, point: Point, stan: Any, propto: bool = False
) -> Iterator[Difference]:
    u = np.array(point)
    if len(u) != p.param_unc_num():
        yield Difference("dimension", point, str(len(u)), str(p.param_unc_num()))
        return
    if "again" in stan:
        yield Difference(
            "value", point, f"again {stan['again']}", str(tried(lambda: p.log_density(u, propto)))
        )
        return
    propto = propto and "error" not in stan  # what is dropped may be what is refused
    lp = stan.get("lp", np.nan)
    value = (case.tolerance.get("lp", VALUE[0]), case.tolerance.get("lp", VALUE[1]))
    slope = case.tolerance.get("grad")
    gradient = (slope or GRADIENT[0], slope or GRADIENT[1])
    forms = {
        "value": lambda v: p.log_density(v, propto),
        "value with the gradient": lambda v: p.log_density_gradient(v, propto)[0],
    }
    for name, f in forms.items():
        yield from differs(name, u, lp, f, value, stan.get("error", ""))
    if np.isfinite(lp):
        slopes = lambda v: p.log_density_gradient(v, propto)[1]  # noqa: E731
        for d in differs("gradient", u, stan["grad"], slopes, gradient):
            yield replace(d, note=judged(p, u, np.array(stan["grad"])))
    if "values_error" not in stan and "values" in stan and "error" not in stan:
        yield from differs(
            "values", u, stan["values"], lambda v: p.param_constrain(v, include_tp=True), VALUE
        )


def differs(
    quantity: str, u: Floats, stan: Any, f: Any, tolerance: tuple[float, float], words: str = ""
) -> Iterator[Difference]:
    """What f(u) of ppl is, where that is not the number of Stan's, to rounding; nan is a refusal."""
    want, got = np.asarray(stan, dtype=float), tried(lambda: f(u))
    row = (quantity, tuple(u), words or as_text(want), got if isinstance(got, str) else as_text(got))
    if isinstance(got, str):
        if want.ndim or np.isfinite(want):
            yield Difference(*row)
        return
    if want.shape != got.shape:
        yield Difference(*row)
        return
    if want.ndim == 0 and not np.isfinite(want):
        if np.isfinite(got) or (np.isinf(want) and want > 0 and want != got):
            yield Difference(*row)
        return
    sure = np.isfinite(want)
    if not np.array_equal(want[~sure], got[~sure], equal_nan=True) or not np.all(np.isfinite(got[sure])):
        yield Difference(*row)
        return
    relative, absolute = tolerance
    largest = np.max(np.abs(want[sure]), initial=0.0)
    off = np.abs(got - want)[sure]
    allowed = absolute + relative * np.abs(want[sure]) + 1e-12 * largest
    if np.all(off <= allowed):
        return
    if np.all(off <= allowed + noise(f, u, got)[sure]):
        return
    yield Difference(*row, off=float(np.max(off) / max(largest, 1e-300)))


def judged(p: ppl.Posterior, u: Floats, stan: Floats) -> str:
    """What central differences of the value say, where they settle it."""
    slope = tried(lambda: p.log_density_gradient(u)[1])
    if isinstance(slope, str):
        return ""
    found = np.array([central(p, u, i) for i in range(len(u))])
    scale = np.maximum(np.abs(found), 1e-6 * np.max(np.abs(found), initial=0.0) + 1e-300)
    off = np.abs(np.array([slope, stan]) - found) / scale
    close = np.max(off[0], initial=0.0) < 1e-3
    nearer = np.max(off[0], initial=0.0) < np.max(off[1], initial=0.0)
    return APPROXIMATE if close and nearer else ""


def central(p: ppl.Posterior, u: Floats, i: int) -> float:
    """d log density / d u_i by Richardson's rule over two steps, of which the better one counts."""
    step = np.zeros(len(u))
    rates = []
    for h in (1e-3, 5e-4):
        step[i] = h * max(abs(u[i]), 1e-8)
        ahead, behind = (tried(lambda v=v: p.log_density(v)) for v in (u + step, u - step))
        if isinstance(ahead, str) or isinstance(behind, str):
            return np.nan
        rates.append((ahead - behind) / (2 * step[i]))
    return float((4 * rates[1] - rates[0]) / 3)


def by_differences(stan: RealStan | InterpretedStan, q: Question, p: ppl.Posterior, d: Difference) -> str:
    """What central differences of both values say, where they settle it against the interpreter."""
    if isinstance(stan, RealStan) or not d.point or d.quantity == "dimension":
        return ""
    u = np.array(d.point)
    step = STEP * np.maximum(np.abs(u), 1.0)
    around = [u, *(u + sign * move for move in np.diag(step) for sign in (1, -1))]
    theirs = stan.at(q, [list(map(float, v)) for v in around])
    ours = [tried(lambda v=v: p.log_density(v)) for v in around]
    slope = tried(lambda: p.log_density_gradient(u)[1])
    answered = len(theirs) == len(around) and all("lp" in x for x in theirs)
    if isinstance(slope, str) or any(isinstance(x, str) for x in ours) or not answered:
        return ""
    off_theirs = off_differences([x["lp"] for x in theirs], theirs[0]["grad"], step)
    off_ours = off_differences(ours, slope, step)
    return INCONSISTENT if off_ours < CONSISTENT < 10 * CONSISTENT < off_theirs else ""


def off_differences(values: Sequence[float], slope: Sequence[float], step: Floats) -> float:
    """How far a gradient is from the central differences of values, the first of which is at the point."""
    rates = (np.array(values[1::2]) - np.array(values[2::2])) / (2.0 * step)
    return float(np.max(np.abs(rates - slope) / (1.0 + np.abs(rates)), initial=0.0))


def noise(f: Any, u: Floats, at: Floats) -> Floats:
    """How far each number may be off because the point is rounded."""
    rng, change = np.random.default_rng(0), np.zeros(at.shape)
    for _ in range(6):
        near = tried(lambda: f(u * (1 + PERTURBATION * rng.choice([-1, 1], len(u)))))
        if not isinstance(near, str) and near.shape == at.shape:
            change = np.maximum(change, np.nan_to_num(np.abs(near - at)))
    return NOISE * change


def as_text(x: Floats) -> str:
    known = "" if np.ndim(x) == 0 or np.all(np.isfinite(x)) else " with nan or inf"
    return np.array2string(np.asarray(x), precision=10, threshold=8).replace("\n", "") + known


# --- The table -----------------------------------------------------------------------------------


def table(stan: RealStan | InterpretedStan, groups: dict[str, list[Outcome]]) -> Iterator[str]:
    yield "# Beside the real Stan"
    yield ""
    yield f"Written by `python tests/generator/against_stan.py` on {date.today()}; Stan {stan.version}."
    yield ""
    verdicts = sorted({o.verdict for found in groups.values() for o in found})
    yield f"| programs | all | {' | '.join(verdicts)} |"
    yield "|---" * (len(verdicts) + 2) + "|"
    for name, found in groups.items():
        counts = Counter(o.verdict for o in found)
        yield f"| {name} | {len(found)} | {' | '.join(str(counts[v]) for v in verdicts)} |"
    yield ""
    rows = [(explained(o, d), o.case.name, d) for found in groups.values() for o in found for d in worst(o)]
    reasons = Counter(reason for reason, _, _ in rows)
    yield "| reason | programs | for example | largest relative difference |"
    yield "|---|---|---|---|"
    for reason, count in reasons.most_common():
        mine = [(name, d) for r, name, d in rows if r == reason]
        names = ", ".join(f"`{name}` ({d.quantity})" for name, d in mine[:4])
        largest = max((d.off for _, d in mine if np.isfinite(d.off)), default=np.nan)
        yield f"| {reason} | {count} | {names} | {'' if np.isnan(largest) else f'{largest:.1e}'} |"


def worst(o: Outcome) -> list[Difference]:
    """One that is unexplained, if there is one, and otherwise the largest; none without an answer."""
    if o.verdict == "not interpreted":
        return []
    return sorted(o.differences, key=lambda d: (explained(o, d) != "unexplained", -d.off))[:1]


def explained(o: Outcome, d: Difference) -> str:
    known = reason_for(o.known, o.case.name, o.case.question.program, d.quantity, d.stan, d.ppl)
    return known or d.note or "unexplained"


def unexplained(o: Outcome) -> bool:
    return any(explained(o, d) == "unexplained" for d in worst(o))


def report(o: Outcome) -> str:
    lines = [f"{o.case.name}: {o.verdict}"]
    for d in o.differences[:6]:
        lines.append(
            f"  {d.quantity} [{explained(o, d)}] Stan {d.stan[:400]} ppl {d.ppl[:400]} off {d.off:.2g}"
        )
    return "\n".join(lines)


def real_stan(given: argparse.Namespace) -> RealStan:
    folder = given.folder or Path(given.stan_env) / "against-stan"
    return RealStan(Path(given.stan_env), folder, given.together, given.kept)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stan-env", type=Path, default=os.environ.get("STAN_ENV"))
    parser.add_argument("--oracle", action="store_true", help="ask the interpreter of the extra `oracle`")
    parser.add_argument("--count", type=int, default=0, help="random programs of each seed")
    parser.add_argument("--seed", type=int, nargs="+", default=[1])
    parser.add_argument("--first", type=int, default=0, help="the number of the first random program")
    parser.add_argument(
        "--longest", type=int, default=sys.maxsize, help="characters of a random program: g++ is slow"
    )
    parser.add_argument("--models", action="store_true", help="those of models/")
    parser.add_argument("--pack", action="store_true", help="the conformance pack")
    parser.add_argument(
        "--extremes", action="store_true", help="densities and functions at extreme arguments"
    )
    parser.add_argument("--programs", type=Path, nargs="*", default=[], help="NAME.stan, with NAME.data.json")
    parser.add_argument("--only", default="", help="programs whose names contain this")
    parser.add_argument("--kept", action="store_true", help="only programs answered before; compile nothing")
    parser.add_argument("--together", type=int, default=10, help="programs compiled at a time")
    parser.add_argument("--folder", type=Path, help="what is built and answered; ENV/against-stan by default")
    parser.add_argument("--table", type=Path, help=f"write the table, {TABLE.name} for instance")
    given = parser.parse_args()
    if given.oracle and not INSTALLED:
        print('No interpreter: pip install -e ".[oracle]". Nothing was compared.')
        return 0
    if not given.oracle and not list(Path(given.stan_env or "/").glob("lib/python3*/site-packages/httpstan")):
        print("No Stan: --stan-env names no virtual environment with httpstan 4.13.0. Nothing was compared.")
        return 0
    stan = InterpretedStan() if given.oracle else real_stan(given)
    seeds = given.seed if given.count else ()
    sources: dict[str, Iterable[Case]] = {
        **{f"random programs, seed {s}": random_programs(s, given.first, given.longest) for s in seeds},
        "models/": models() if given.models else (),
        "conformance pack": pack() if given.pack else (),
        "densities": tails(extremes.densities()) if given.extremes else (),
        "functions": tails(extremes.functions()) if given.extremes else (),
        "files": folder(*given.programs),
    }
    groups: dict[str, list[Outcome]] = {}
    for name, cases in sources.items():
        most = given.count if name.startswith("random programs") else sys.maxsize
        chosen = (c for c in cases if given.only in c.name)
        groups[name] = list(outcomes(stan, chosen, most))
    lines = list(table(stan, groups))
    print("\n".join(lines))
    if given.table:
        given.table.write_text("\n".join(lines) + "\n")
    open_ones = any(unexplained(o) for found in groups.values() for o in found)
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
