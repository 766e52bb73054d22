"""models/papers/README.md from the records: no figure in it is typed by hand."""

from collections.abc import Iterator
from typing import Any

from frame.experiments import EXPERIMENTS, PAPERS
from frame.record import HERE, load, tables
from frame.result import Table

PATH = HERE / "README.md"

HEAD = """\
# The papers, reproduced

`python models/papers/run.py --readme` writes this page, with all its numbers, from `results/*.json`. One
experiment is one command:

    PPL_DATA=DIR python models/papers/run.py NAME

`DIR` holds the data, one folder for each data set. `--quick` runs a small version, `--all` runs every
experiment and `--list` prints their names. Install `pip install -e ".[papers]"` first. Nothing is downloaded:
an experiment without its data is skipped.

"The paper's loop" is Algorithm 1 of the ADVI paper alone: `start="random", average=False, refine=False,
upgrade=False, correct=False`. Rows named "default" also use the start, averaging and refinement of ppl.
Seconds are CPU seconds on a shared machine with two cores. Compare them within a table only.

The scripts use the public API (`compile_model`, `condition`, `variational` and `Fit`), with three
exceptions that need more than the result of a fit. `gaussian_gradients` (with a fixed scale) and
`pima_convergence` (with a count of gradients) need q after every step. `control_variates` defines its own
control variate and measures the variance of single gradients. These three combine family, estimator and step
rule from `ppl.methods` in a loop of their own.
"""


def text() -> str:
    """The whole page."""
    records = [record for e in EXPERIMENTS if (record := load(e.name))]
    return "\n".join([HEAD, *overview(records), *sections(records)])


def overview(records: list[dict[str, Any]]) -> Iterator[str]:
    rows = [
        (
            f"[{r['name']}](#{r['name']})",
            f"{r['paper']}, {r['place']}",
            kind_of(r["data"]),
            f"{sum(c['holds'] for c in r['claims'])} of {len(r['claims'])}",
            r["seconds"]["cpu"],
        )
        for r in records
    ]
    columns = ("experiment", "where", "data", "claims confirmed", "seconds")
    yield markdown(Table("", columns, rows, {"seconds": ".0f"}))


def kind_of(sentence: str) -> str:
    """The first words of what a result says of its data, up to the colon: "exact", "simulated" ..."""
    return sentence.partition(":")[0]


def sections(records: list[dict[str, Any]]) -> Iterator[str]:
    for paper, citation in PAPERS.items():
        of_paper = [r for r in records if r["paper"] == paper]
        if of_paper:
            yield f"## {citation}\n"
        for record in of_paper:
            yield from section(record)


def section(record: dict[str, Any]) -> Iterator[str]:
    yield f"### {record['name']}\n"
    script, figures = f"{record['paper']}/{record['name']}.py", f"results/{record['name']}.json"
    yield f"{record['title']}; {record['place']}. [Script]({script}), [figures]({figures}).\n"
    yield f"Data: {record['data']}\n"
    for table in tables(record):
        yield f"{table.caption}\n"
        yield markdown(table)
    for claim in record["claims"]:
        yield f"- {'**Holds.**' if claim['holds'] else '**Missed.**'} {claim['says']} {claim['found']}"
    if record["claims"]:
        yield ""
    for remark in record["remarks"]:
        yield f"{remark}\n"
    if record["picture"]:
        yield f"![{record['title']}](results/{record['picture']})\n"


def markdown(table: Table) -> str:
    head = ["|".join(["", *table.columns, ""]), "|".join(["", *("---" for _ in table.columns), ""])]
    return "\n".join([*head, *("|".join(["", *row, ""]) for row in table.words()), ""])
