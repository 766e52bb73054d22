"""What `doctor` finds in data that are simulated with a misfit, and in their well-specified twins.

    OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.doctor run --seeds 1-2 --twins 1-20
    python -m tests.benchmarks.doctor table doctor.jsonl

Every fit is a line of the output; a run begun again does what is not there yet. *Found*: there is a finding.
*Kind*: the first finding names the misfit. *False alarm*: a twin has a finding.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import ppl
from ppl.errors import PPLError
from tests.benchmarks.clock import head, row
from tests.benchmarks.doctor.programs import HELD_OUT, KINDS, PROGRAMS, TWIN
from tests.benchmarks.verdicts.__main__ import seeds
from tests.benchmarks.verdicts.lines import Key, Record, key, mend, read


def examined(misfit: str, name: str, seed: int) -> Record:
    """A default fit examined: the codes of the findings with their p-values, CPU seconds, the verdict."""
    program, record = PROGRAMS[name], {"group": misfit, "name": name, "seed": seed}
    posterior = ppl.compile_model(program.text(misfit)).condition(program.data(misfit, seed))
    try:
        fit = posterior.variational(seed=seed)
        began = process_time()
        found = fit.doctor(seed=seed)
    except PPLError as error:
        return {**record, "findings": [], "failed": str(error)}
    pairs = [[f.code, f.p] for f in found.findings]
    seconds = round(process_time() - began, 2)
    return {**record, "findings": pairs, "level": fit.level.value, "notes": found.notes, "seconds": seconds}


def tasks(args: argparse.Namespace) -> Iterator[Key]:
    """What is to be run and not in the output yet."""
    done = set(map(key, read(args.out)))
    for name, program in PROGRAMS.items():
        if not args.only or name in args.only:
            cases = [(m, seed) for seed in args.seeds for m in program.misfits]
            for misfit, seed in [*cases, *((TWIN, seed) for seed in args.twins)]:
                if (misfit, name, seed) not in done:
                    yield misfit, name, seed


def run(args: argparse.Namespace) -> None:
    mend(args.out)
    todo = list(tasks(args))
    with args.out.open("a") as out:
        for number, task in enumerate(todo, 1):
            found = examined(*task)
            out.write(json.dumps(found) + "\n")
            out.flush()
            print(f"{number}/{len(todo)} {task} {[code for code, _ in found['findings']]}", flush=True)


def share(hits: int, of: int) -> str:
    return f"{hits} of {of} ({hits / of:.0%})" if of else "-"


def table(records: list[Record]) -> Iterator[str]:
    """By misfit, of the programs for tuning and of those held out."""
    yield from head("misfit", "found", "kind", "found, held out", "kind, held out")
    for misfit in (*KINDS, "all"):
        cells = []
        for held in (False, True):
            some = [
                r
                for r in records
                if r["group"] != TWIN and misfit in (r["group"], "all") and (r["name"] in HELD_OUT) is held
            ]
            named = sum(r["findings"][0][0] in KINDS[r["group"]] for r in some if r["findings"])
            cells += [share(sum(bool(r["findings"]) for r in some), len(some)), share(named, len(some))]
        yield row(misfit, *cells)
    yield ""
    yield from head("well-specified", "false alarms", "codes", "CPU seconds, median and most")
    for held in (False, True):
        twins = [r for r in records if r["group"] == TWIN and (r["name"] in HELD_OUT) is held]
        codes = sorted({code for r in twins for code, _ in r["findings"]})
        times = sorted(r["seconds"] for r in twins if "seconds" in r)
        spent = f"{times[len(times) // 2]:.1f}, {times[-1]:.1f}" if times else "-"
        alarms = share(sum(bool(r["findings"]) for r in twins), len(twins))
        yield row("held out" if held else "for tuning", alarms, ", ".join(codes) or "none", spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    ran = commands.add_parser("run")
    ran.add_argument("--seeds", type=seeds, default=[1])
    ran.add_argument("--twins", type=seeds, default=[1])
    ran.add_argument("--only", nargs="*")
    ran.add_argument("--out", type=Path, default=Path("doctor.jsonl"))
    ran.set_defaults(do=run)
    table_parser = commands.add_parser("table")
    table_parser.add_argument("file", type=Path)
    table_parser.set_defaults(do=lambda args: print("\n".join(table(list(read(args.file))))))
    args = parser.parse_args()
    args.do(args)


if __name__ == "__main__":
    main()
