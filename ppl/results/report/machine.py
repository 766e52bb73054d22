"""Reports for programs: one JSON object, in which the verdict stands first.

`cli/site/files.md` documents the members; `SCHEMA` changes where one of them changes its meaning or goes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ppl.methods.correct.evidence import Evidence
from ppl.methods.diagnose.level import Level
from ppl.results.report.compare import Comparison, ComparisonByOutcome, EvidenceComparison
from ppl.results.report.loo import Loo, LooByOutcome
from ppl.run.checksum import plain

if TYPE_CHECKING:
    from ppl.results.doctor.doctor import Examination
    from ppl.results.doctor.finding import Finding

SCHEMA = "ppl-report/1"


def document(kind: str, level: Level, judgement: str, content: Mapping[str, Any]) -> str:
    """The report `kind` as a line of JSON, the verdict first; numbers that are not finite are null.

    Example:
        >>> document("loo", Level.POOR, "Verdict: poor", {"elpd": float("nan")})
        '{"schema": "ppl-report/1", "report": "loo", "verdict": {"level": "poor", ...}, "elpd": null}'
    """
    head = {"schema": SCHEMA, "report": kind, "verdict": {"level": level.value, "judgement": judgement}}
    return json.dumps(plain({**head, **content}, lambda _: None), ensure_ascii=False, allow_nan=False)


def of_rows(names: Sequence[str], rows: Iterable[tuple[str, Sequence[float]]]) -> dict[str, Any]:
    """A table: a row each, its figures by heading."""
    return {"rows": [{"name": name, **dict(zip(names, row, strict=True))} for name, row in rows]}


def of_evidence(evidence: Evidence | None) -> dict[str, float] | None:
    return None if evidence is None else {"value": evidence.value, "se": evidence.se}


def of_loo(loo: Loo | LooByOutcome) -> dict[str, Any]:
    """The members of one outcome; of several, a list of them."""
    if isinstance(loo, LooByOutcome):
        return {"outcomes": [of_loo(own) for own in loo.values()], "reading": loo.reading}
    each = zip(loo.names, loo.elpds.tolist(), loo.khats.tolist(), strict=True)
    return {
        "outcome": loo.outcome,
        **{name: getattr(loo, name) for name in ("elpd", "se", "p_loo", "p_loo_se")},
        "k_hat_threshold": loo.threshold,
        "reading": loo.reading,
        **of_rows(("elpd", "k_hat"), ((name, (elpd, khat)) for name, elpd, khat in each)),
    }


def of_comparison(
    comparison: Comparison | ComparisonByOutcome | EvidenceComparison, levels: Mapping[str, Level]
) -> dict[str, Any]:
    """The models, the best first, each with the level of the verdict on its draws; by outcome if several."""
    if isinstance(comparison, ComparisonByOutcome):
        each = [{"outcome": name, **of_comparison(own, levels)} for name, own in comparison.items()]
        return {"by": "loo", "reading": comparison.reading, "outcomes": each}
    models = [{**asdict(model), "level": levels[model.name].value} for model in comparison]
    by = "loo" if isinstance(comparison, Comparison) else "evidence"
    return {"by": by, "reading": comparison.reading, "models": models}


def of_examination(examination: "Examination") -> dict[str, Any]:
    own = {name: getattr(examination, name) for name in ("outcomes", "checks", "notes")}
    return {**own, "findings": [of_finding(f) for f in examination.findings]}


def of_finding(f: "Finding") -> dict[str, Any]:
    place = {"file": f.span.source.name, "line": f.span.line, "column": f.span.column}
    about = {name: getattr(f, name) for name in ("message", "hint", "p")}
    ends = ("line", "column", "end_line", "end_column")
    fixes = [{**{end: getattr(fix.span, end) for end in ends}, "text": fix.text} for fix in f.fixes]
    return {"code": f.code, **place, **about, "fixes": fixes}
