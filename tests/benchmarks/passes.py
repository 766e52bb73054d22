"""What each optional pass of the compiler pays: programs that it changes, and gradients without it.

    python -m tests.benchmarks.passes run tests/conformance/programs models FOLDER --out passes.jsonl
    python -m tests.benchmarks.passes table passes.jsonl | python -m tests.benchmarks.measured passes

`run` compiles every program with data in the folders with each pass left out in turn. Where that changes
the program of a gradient, at a point or at many, or of values at many, both are timed in turn (CPU time,
medians), once gradients are compiled from traces. Programs that the file has are skipped.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from ppl.compilation.phases import Compilation
from ppl.density.tapes import CALLS_BEFORE
from ppl.errors import PPLError
from ppl.kernel.emit.load import Code
from ppl.kernel.ir.nodes import Program
from ppl.model import Model
from ppl.optimise.draw_by_draw import DrawByDraw
from ppl.optimise.forms import GRADIENT, POINTS_GRADIENT, Form
from ppl.optimise.passes.table import PASSES, Pass
from ppl.records import dataclass, field, replace
from ppl.source import SourceText
from tests.benchmarks.clock import alternate, head, row
from tests.lines import code_lines

ROOT = Path(__file__).parents[2]
OPTIONAL = tuple(each.name for each in PASSES.values() if not each.required)
WAYS = {"a gradient": GRADIENT, "128 gradients": POINTS_GRADIENT, "128 values": POINTS_GRADIENT}
"""What is timed, with the form that it runs."""
POINTS = 128
AT_LEAST = 0.015  # seconds a measurement lasts
LONG = 0.25  # seconds of a call that is measured once


@dataclass(frozen=True, repr=False)
class Variant(Compilation):
    """A program without some passes, from nothing in the user's cache; equal programs are one object.

    `results` has what a pass makes of an object, and its CPU seconds; `texts` has the code of an object.
    """

    results: dict[tuple[str, int], tuple[Program, Program, float]] = field(
        default_factory=dict, compare=False
    )
    texts: dict[tuple[str, int], Code] = field(default_factory=dict, compare=False)
    stored = None

    def program(self, form: Form = GRADIENT) -> Program:
        if form.name not in self.programs:
            program = self.program(form.base) if form.base else self.lowered
            for each in form.passes:
                if each.name not in self.without:
                    program = self.result(each, program)
            self.programs[form.name] = program
        return self.programs[form.name]

    def result(self, each: Pass, program: Program) -> Program:
        key = each.name, id(program)
        if key not in self.results:
            began = time.process_time()
            new = each.run(program)
            spent = time.process_time() - began
            known = (program, *(r[1] for (name, _), r in self.results.items() if name == each.name))
            self.results[key] = program, next((one for one in known if one == new), new), spent
        return self.results[key][1]

    def code(self, form: Form = GRADIENT) -> Code:
        key = form.name, id(self.program(form))
        if key not in self.texts:
            self.texts[key] = super().code(form)
        return self.texts[key]

    def identity(self, form: Form) -> int | None:
        """The same for equal programs; None without the form."""
        try:
            return id(self.program(form))
        except DrawByDraw:
            return None


def measured(file: Path, rounds: int, timed: Collection[str]) -> dict[str, Any]:
    """The passes that change the program, and CPU seconds of each way without them; "" is with all."""
    whole = Variant(SourceText(file.read_text("utf-8"), str(file)))
    whole = replace(whole, part=whole.lowered) if whole.discrete is None else whole
    variants = {name: replace(whole, without=frozenset({name})) for name in OPTIONAL}
    changed = {
        way: [n for n, c in variants.items() if c.identity(form) != whole.identity(form)]
        for way, form in WAYS.items()
    }
    spent = {n: sum(r[2] for (name, _), r in whole.results.items() if name == n) for n in OPTIONAL}
    posteriors = {
        name: Model(c).condition(file.with_suffix(".data.json"))
        for name, c in {"": whole, **variants}.items()
        if not name or (name in timed and any(name in names for names in changed.values()))
    }
    us = np.random.default_rng(0).normal(0.0, 0.1, (POINTS, posteriors[""].param_unc_num()))
    seconds = {}
    for way, names in changed.items():
        tasks = {name: task(p, way, us) for name, p in posteriors.items() if not name or name in names}
        long = max(clocked(each) for each in tasks.values()) > LONG
        seconds[way] = alternate(1 if long else rounds, {n: partial(seconds_of, t) for n, t in tasks.items()})
    return {"program": file.stem, "changed": changed, "passes": spent, "seconds": seconds}


def task(posterior: ppl.Posterior, way: str, us: Any) -> Callable[[], Any]:
    """What is timed, called often enough that it is compiled from a trace."""
    one, many = posterior.log_density_gradient, posterior.log_density_gradients
    call: Callable[[], Any] = {
        "a gradient": partial(one, us[0]),
        "128 gradients": partial(many, us),
        "128 values": partial(posterior.log_densities, us),
    }[way]
    for _ in range(CALLS_BEFORE + 2):
        if clocked(call) > LONG:
            break
    return call


def clocked(call: Callable[[], Any]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def seconds_of(call: Callable[[], Any]) -> float:
    """CPU seconds of a call, from as many as fill AT_LEAST."""
    calls, began = 0, time.process_time()
    while (spent := time.process_time() - began) < AT_LEAST:
        call()
        calls += 1
    return spent / calls


def run(folders: Sequence[Path], out: Path, rounds: int, timed: Collection[str]) -> None:
    done = {json.loads(line)["program"] for line in out.read_text().splitlines()} if out.exists() else set()
    for file in sorted(file for folder in folders for file in folder.rglob("*")):
        program = file.suffix in (".stan", ".model") and file.with_suffix(".data.json").exists()
        if program and file.stem not in done:
            try:
                found = measured(file, rounds, timed)
            except PPLError as error:
                found = {"program": file.stem, "refused": str(error).splitlines()[0]}
            with out.open("a") as lines:
                lines.write(json.dumps(found) + "\n")


def table(lines: Sequence[str]) -> Iterator[str]:
    """A row for each pass: its lines, the programs that it changes, ratios of times without and with it."""
    programs = [p for p in map(json.loads, lines) if "changed" in p]
    yield f"{len(programs)} programs."
    yield ""
    yield from head("pass", "lines", "programs", *WAYS, "largest", "compiling, ms")
    for name in OPTIONAL:
        changed = sum(any(name in names for names in p["changed"].values()) for p in programs)
        ratios = {
            way: {p["program"]: p["seconds"][way][name] / p["seconds"][way][""] for p in programs
                  if name in p.get("seconds", {}).get(way, ())}
            for way in WAYS
        }  # fmt: skip
        medians = [f"{statistics.median(r.values()):.2f} ({len(r)})" if r else "" for r in ratios.values()]
        largest = max(((x, f"{x:.2f}, {n}") for r in ratios.values() for n, x in r.items()), default=("", ""))
        ms = 1e3 * statistics.mean(p["passes"][name] for p in programs)
        yield row(name, lines_of(name), changed, *medians, largest[1], round(ms, 2))


def lines_of(name: str) -> int:
    """Lines of code of the module of a pass."""
    module = PASSES[name].function.__module__
    return code_lines((ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    of_run, of_table = commands.add_parser("run"), commands.add_parser("table")
    of_run.add_argument("folders", nargs="+", type=Path)
    of_run.add_argument("--out", type=Path, default=Path("passes.jsonl"))
    of_run.add_argument("--rounds", type=int, default=5)
    of_run.add_argument("--timed", nargs="*", default=OPTIONAL, help="the passes that are timed")
    of_table.add_argument("lines", type=Path)
    args = parser.parse_args()
    if args.command == "run":
        run(args.folders, args.out, args.rounds, args.timed)
    else:
        for line in table(args.lines.read_text().splitlines()):
            print(line)


if __name__ == "__main__":
    main()
