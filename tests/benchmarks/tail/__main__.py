"""Default fits of textbook programs that no structure serves, beside stanli's NUTS: CPU seconds and errors.

    python -m tests.benchmarks.tail data FOLDER --only irt_3pl polls
    python -m tests.benchmarks.tail run --only irt_3pl polls --seeds 1-3
    python -m tests.benchmarks.tail table tail.jsonl
    python -m tests.benchmarks.tail ratios tail.jsonl

`run` appends a line of JSON a process to its output and skips those that are there. NUTS runs if stanli is
installed.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.tail.measure import Record, fit, nuts
from tests.benchmarks.tail.problems import ALL, PROBLEMS, write
from tests.benchmarks.tail.table import ratios, table
from tests.benchmarks.verdicts.__main__ import seeds, version
from tests.benchmarks.verdicts.lines import mend, read

ENGINES = {"fit": fit, "nuts": nuts}
MOST_SECONDS = 300


def run(args: argparse.Namespace) -> None:
    """What is asked for and not in the file, the fit and NUTS of a program in turn."""
    commit = version()
    mend(args.out)
    done = {(found["engine"], found["name"], found["seed"]) for found in read(args.out)}
    with tempfile.TemporaryDirectory() as place, args.out.open("a") as out:
        folder = Path(place)
        for seed in args.seeds:
            for name in args.only or PROBLEMS:
                program, data = write(name, folder)
                for engine in args.engines:
                    if (engine, name, seed) in done:
                        continue
                    found = ENGINES[engine](name, program, data, folder, seed, args.most)
                    found = {"engine": engine, "name": name, "seed": seed, "commit": commit, **found}
                    out.write(json.dumps(found) + "\n")
                    out.flush()
                    print(line(found), flush=True)


def line(found: Record) -> str:
    errors = ", ".join(
        f"{check} {found[check][0]:+.2f}" for check in ("mean", "q05", "q95") if check in found
    )
    head = f"{found['name']:24} {found['engine']:5} {found['seed']:3} {found['cpu']:7.1f} s"
    return f"{head}  {found['level']:12} {found.get('path', ''):10} {errors}"


def engines() -> Iterator[str]:
    yield "fit"
    if find_spec("stanli"):
        yield "nuts"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.tail",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    some = argparse.ArgumentParser(add_help=False)
    some.add_argument(
        "--only", nargs="+", choices=ALL, metavar="NAME", help="programs; those here by default"
    )
    files = commands.add_parser("data", parents=[some], help="write the data, NAME.data.json")
    files.add_argument("folder", type=Path)
    fits = commands.add_parser("run", parents=[some], help="fit, sample and measure")
    fits.add_argument("--seeds", type=seeds, default=seeds("1"), help="such as 1-5, of fits and chains")
    fits.add_argument("--engines", nargs="+", choices=ENGINES, default=list(engines()))
    fits.add_argument("--most", type=int, default=MOST_SECONDS, help="seconds of CPU a process may take")
    fits.add_argument("--out", type=Path, default=Path("tail.jsonl"))
    show = commands.add_parser("table", help="a row a program; the worst seed where there are several")
    show.add_argument("files", nargs="+", type=Path)
    beside = commands.add_parser("ratios", help="CPU of fits over that of NUTS, in all and by program")
    beside.add_argument("files", nargs="+", type=Path)
    return parser.parse_args()


def main() -> None:
    args = parsed()
    match args.command:
        case "data":
            args.folder.mkdir(parents=True, exist_ok=True)
            for name in args.only or PROBLEMS:
                print(*write(name, args.folder))
        case "run":
            run(args)
        case _:
            show = {"table": table, "ratios": ratios}[args.command]
            for text in show([found for file in args.files for found in read(file)]):
                print(text)


if __name__ == "__main__":
    main()
