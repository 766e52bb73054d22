"""Runs experiments of the papers, prints their tables, and keeps them as JSON and pictures.

Examples:
    python models/papers/run.py --list
    PPL_DATA=DIR python models/papers/run.py gamma_transforms --quick
    PPL_DATA=DIR python models/papers/run.py --all
    python models/papers/run.py --readme
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

try:
    from frame import readme
    from frame.experiments import BY_NAME, EXPERIMENTS, Experiment
    from frame.record import RESULTS, run_and_record
    from frame.text import as_text
except ImportError as missing:
    sys.exit(f'The papers need {missing.name}: pip install -e ".[papers]"')


def main() -> int:
    args = arguments()
    if args.list:
        print("\n".join(f"{e.name:26} {e.paper}, {e.place}: {e.title}" for e in EXPERIMENTS))
    elif args.readme:
        return write_readme(args.check)
    elif args.quick and not args.out:
        with tempfile.TemporaryDirectory() as folder:
            run_each(args, Path(folder))
    else:
        run_each(args, args.out or RESULTS)
    return 0


def arguments() -> argparse.Namespace:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    parser.add_argument("names", nargs="*", metavar="NAME", help="experiments to run")
    parser.add_argument("--all", action="store_true", help="run every experiment")
    parser.add_argument("--quick", action="store_true", help="small sizes; keeps nothing without --out")
    parser.add_argument("--list", action="store_true", help="name the experiments")
    parser.add_argument("--readme", action="store_true", help="write README.md from the results")
    parser.add_argument("--check", action="store_true", help="with --readme: say whether it is up to date")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"where results go (default: {RESULTS})")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in BY_NAME]
    if unknown:
        parser.error(f"no experiment is called {', '.join(unknown)}; --list names them all")
    if not (args.names or args.all or args.list or args.readme):
        parser.error("name an experiment, or say --all, --list or --readme")
    return args


def run_each(args: argparse.Namespace, folder: Path) -> None:
    data = Path(os.environ["PPL_DATA"]) if "PPL_DATA" in os.environ else None
    for experiment in EXPERIMENTS if args.all else [BY_NAME[name] for name in args.names]:
        print(run_one(experiment, args.quick, data, folder), flush=True)


def run_one(experiment: Experiment, quick: bool, data: Path | None, folder: Path) -> str:
    missing = experiment.missing(data)
    if missing:
        where = f"in {data}" if data else "because PPL_DATA names no folder"
        return f"{experiment.name} is skipped: {', '.join(missing)} not found {where}.\n"
    return as_text(run_and_record(experiment, quick, data, folder))


def write_readme(check: bool) -> int:
    text = readme.text()
    if not check:
        readme.PATH.write_text(text, "utf-8")
    elif not readme.PATH.exists() or readme.PATH.read_text("utf-8") != text:
        print(f"{readme.PATH} is not what the results say; run python models/papers/run.py --readme")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
