"""Fit programs again after changes that should change nothing, and compare.

    python -m tests.benchmarks.invariances FOLDER --program radon irt_2pl --out invariances.jsonl

The changes are made to the program's text and data: 1e5 is added to the target; the first parameter that is a
plain real is put into units a thousand times smaller; the data are repeated a hundred times where one size
counts their rows, in which case the fit must not fail and its verdict must not be worse.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ppl
from ppl.errors import PPLError
from ppl.results.fits.fit import Fit, variational

Data = dict[str, Any]
Program = tuple[str, Data]
LEVELS = ("good", "usable", "poor", "unknown")


def shifted(text: str, data: Data) -> Program:
    """1e5 more in the target."""
    place = re.search(r"^model\s*\{", text, re.MULTILINE)
    assert place, "a program without a model block"
    end = _end_of_block(text, place.end())
    return f"{text[:end]}\n  target += 1e5;\n{text[end:]}", data


def _end_of_block(text: str, begin: int) -> int:
    """Where the brace stands that closes the block whose inside begins there."""
    depth, place = 1, begin
    while depth:
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    return place - 1


def rescaled(text: str, data: Data, factor: float = 1e3) -> Program | None:
    """A plain `real name;` of the parameters in units `factor` smaller; None where there is no such."""
    block = re.search(r"^parameters\s*\{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    plain = block and re.search(r"^  real (\w+);", block.group(1), re.MULTILINE)
    if not (block and plain):
        return None
    name = plain.group(1)
    inside = block.group(1).replace(f"  real {name};", f"  real {name}_scaled;")
    rest = text[block.end() :]
    defined = f"  real {name} = {name}_scaled / {factor:g};\n"
    if "transformed parameters" in rest:
        rest = re.sub(r"(transformed parameters\s*\{\n)", lambda m: m.group(1) + defined, rest, count=1)
    else:
        rest = f"\ntransformed parameters {{\n{defined}}}" + rest
    return f"{text[: block.start()]}parameters {{{inside}}}{rest}", data


def repeated(text: str, data: Data, times: int = 100) -> Program | None:
    """The rows `times` over; None unless exactly one integer counts the rows of all arrays in the data."""
    counts = {name: value for name, value in data.items() if isinstance(value, int)}
    arrays = {name: value for name, value in data.items() if isinstance(value, list)}
    sizes = [name for name, n in counts.items() if arrays and all(len(a) == n for a in arrays.values())]
    if len(sizes) != 1:
        return None
    (size,) = sizes
    if list(counts.values()).count(counts[size]) > 1 or re.search(rf"\[\s*{size}\s*\]", _parameters(text)):
        return None
    return text, {
        name: value * times if name == size or name in arrays else value for name, value in data.items()
    }


def _parameters(text: str) -> str:
    block = re.search(r"^parameters\s*\{(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    return block.group(1) if block else ""


CHANGES = {"shifted": shifted, "rescaled": rescaled, "repeated": repeated}


def fitted(program: Program, seed: int) -> Fit:
    text, data = program
    return variational(ppl.compile_model(text).condition(data), seed=seed)


def compare(plain: Fit, changed: Fit) -> dict[str, Any]:
    """How far the means of the variables of both are apart, in sds of the plain fit, and the verdicts."""
    shared = [name for name in plain.posterior.param_names() if name in changed.column_names]
    one, two = (fit.draws()[:, [fit.column_names.index(name) for name in shared]] for fit in (plain, changed))
    apart = np.abs(one.mean(axis=0) - two.mean(axis=0)) / one.std(axis=0)
    levels = [fit.verdict.level.value for fit in (plain, changed)]
    return {
        "apart": float(apart.max(initial=0.0)),
        "verdicts": levels,
        "worse": LEVELS.index(levels[1]) > LEVELS.index(levels[0]),
        "elbo": [plain.elbo, changed.elbo],
    }


def records(folder: Path, name: str, seed: int) -> Iterator[dict[str, Any]]:
    """One for each change that can be made to the program."""
    program = (folder / f"{name}.stan").read_text(), json.loads((folder / f"{name}.data.json").read_text())
    plain = fitted(program, seed)
    for change, make in CHANGES.items():
        made = make(*program)
        if made is None:
            continue
        record = {"program": name, "change": change, "seed": seed}
        try:
            yield record | compare(plain, fitted(made, seed))
        except PPLError as error:
            yield record | {"error": str(error)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--program", nargs="+", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("invariances.jsonl"))
    args = parser.parse_args()
    with args.out.open("a") as out:
        for name in args.program:
            for record in records(args.folder, name, args.seed):
                out.write(json.dumps(record) + "\n")
                out.flush()
                print(record, flush=True)


if __name__ == "__main__":
    main()
