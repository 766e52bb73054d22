"""Fit programs of which the truth is known by default, and compare it with the verdict.

    python -m tests.benchmarks.verdicts run references models made-to-fail --seeds 1-20 --jobs 2
    python -m tests.benchmarks.verdicts run simulated --seeds 1-200 --only logistic gp_small
    python -m tests.benchmarks.verdicts table verdicts.jsonl
    python -m tests.benchmarks.verdicts constants verdicts.jsonl --cut annealed.drift=0.02

Every fit is a line of the output; a run begun again does what is not there yet.
"""

import argparse
import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from tests.benchmarks.verdicts.constants import constants
from tests.benchmarks.verdicts.groups import GROUPS
from tests.benchmarks.verdicts.lines import Key, Record, key, mend, read
from tests.benchmarks.verdicts.record import record
from tests.benchmarks.verdicts.tables import tables
from tests.benchmarks.verdicts.wrong import is_wrong

ROOT = Path(__file__).parents[3]
MOST_SECONDS = 900.0


def run(args: argparse.Namespace) -> None:
    """Fit what is asked for and not in the file, seed by seed."""
    commit = version()
    mend(args.out)
    todo = list(tasks(args))
    with ProcessPoolExecutor(args.jobs) as pool, args.out.open("a") as out:
        futures = [pool.submit(record, *task, commit, args.most) for task in todo]
        try:
            for number, future in enumerate(as_completed(futures), 1):
                found = future.result()
                out.write(json.dumps(found) + "\n")
                out.flush()
                print(f"{number}/{len(todo)} {line(found)}", flush=True)
        finally:
            pool.shutdown(cancel_futures=True)  # after Ctrl-C, or a worker that died


def tasks(args: argparse.Namespace) -> Iterator[Key]:
    """What is to be run and not in the output yet."""
    done = set(map(key, read(args.out)))
    known = {name for group in args.groups for name in GROUPS[group].names}
    if unknown := set(args.only or ()) - known:
        raise SystemExit(
            f"No such program: {', '.join(sorted(unknown))}. There are: {', '.join(sorted(known))}."
        )
    for seed in args.seeds:
        for group in args.groups:
            for name in GROUPS[group].names:
                if (not args.only or name in args.only) and (group, name, seed) not in done:
                    yield group, name, seed


def version() -> str:
    """The commit, and `-dirty` where the tree differs from it."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=10"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def line(found: Record) -> str:
    wrong = is_wrong(found)
    judged = "" if wrong is None else "wrong" if wrong else "right"
    errors = ", ".join(
        f"{check} {error:+.2f} {name}" for check, (error, name) in found.get("errors", {}).items()
    )
    message = found.get("message") or errors
    what = f"{found['group']:12} {found['name']:28} {found['seed']:3} {found['seconds']:6.1f} s"
    return f"{what}  {found['level']:8} {judged:6} {message}"


def seeds(text: str) -> range:
    """`7` or `1-20`."""
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def cut(text: str) -> tuple[str, float]:
    """`annealed.drift=0.02`."""
    name, _, value = text.partition("=")
    return name, float(value)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.verdicts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("run", help="fit and judge")
    fit.add_argument("groups", nargs="+", choices=GROUPS, metavar=f"GROUP ({', '.join(GROUPS)})")
    fit.add_argument(
        "--seeds", type=seeds, default=seeds("1-5"), help="such as 1-5; of data too where simulated"
    )
    fit.add_argument("--only", nargs="+", metavar="NAME", help="programs; all by default")
    fit.add_argument("--jobs", type=int, default=1)
    fit.add_argument("--most", type=float, default=MOST_SECONDS, help="seconds of CPU a fit may take")
    fit.add_argument("--out", type=Path, default=Path("verdicts.jsonl"))
    show = commands.add_parser("table", help="how often each level is wrong, and where")
    show.add_argument("files", nargs="+", type=Path)
    tell = commands.add_parser("constants", help="what separates wrong fits from right ones")
    tell.add_argument("files", nargs="+", type=Path)
    tell.add_argument("--cut", nargs="+", type=cut, default=[], metavar="FIELD=VALUE")
    return parser.parse_args()


def main() -> None:
    args = parsed()
    if args.command == "run":
        run(args)
        return
    found = [one for file in args.files for one in read(file)]
    output = tables(found) if args.command == "table" else constants(found, args.cut)
    for text in output:
        print(text)


if __name__ == "__main__":
    main()
