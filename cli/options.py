"""Kinds of options; each refuses a value out of range as wrong usage, before anything runs."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ppl.cli.signatures import Option
from ppl.files import STDOUT, exists, is_file
from ppl.results.arguments.of_settings import radius_or_path

STDIN = Path("-")
"""The name of standard input."""
OUTPUTS, TEXTS = "ppl.outputs", "ppl.texts"
"""Where a command's context has the options that write files, and those whose text names files to read."""
CSV = (".csv",)
TABLES = (*CSV, ".npz", ".parquet")
DRAWS = (*CSV, ".npz", ".nc", ".parquet")
"""The suffixes of draws (results.files.formats), which say the format."""


def checking(good: Callable[[Any], bool], complaint: str) -> Callable[[Any], Any]:
    """The callback of an option whose value, where there is one, must be good."""

    def check(value: Any) -> Any:
        if value is not None and not good(value):
            raise click.BadParameter(complaint.format(value))
        return value

    return check


def whole(least: int, text: str, *names: str, **more: Any) -> Any:
    """An option that takes an integer of at least `least`."""
    check = checking(lambda n: n >= least, f"{{}} is too small; expected an integer of at least {least}.")
    return Option(*names, metavar="N", callback=check, help=text, **more)


def positive(text: str, *names: str, **more: Any) -> Any:
    """An option that takes a finite number above 0."""
    complaint = "{:g} is out of range; expected a finite number above 0."
    check = checking(lambda x: 0 < x < float("inf"), complaint)
    return Option(*names, metavar="X", callback=check, help=text, **more)


def probability(text: str, *names: str, **more: Any) -> Any:
    """An option that takes a number between 0 and 1, neither of them."""
    check = checking(lambda p: 0 < p < 1, "{:g} is out of range; expected a number above 0 and below 1.")
    return Option(*names, metavar="P", callback=check, help=text, **more)


def address(text: str) -> Any:
    """An option that takes HOST:PORT."""
    complaint = "'{}' is not HOST:PORT, such as node1:9000."
    check = checking(lambda word: word.rpartition(":")[2].isdecimal(), complaint)
    return Option(metavar="HOST:PORT", callback=check, help=text, hidden=True)


def seconds(text: str) -> Any:
    """An option for experts that takes a duration, 0 included."""
    check = checking(lambda s: s >= 0, "{:g} is out of range; expected a number of at least 0.")
    return Option(metavar="S", callback=check, help=text, hidden=True)


def say(output: Path, text: str) -> None:
    """Tells of a file on standard output, or beside it where the file is standard output itself."""
    click.echo(text, err=output == STDOUT)


Files = Callable[[Any, Mapping[str, Any]], Iterable[Path]]
"""The files that are written for the value of an option, given the values of all parameters."""


def itself(path: Path | None, _: Mapping[str, Any]) -> list[Path]:
    """The file that an option names."""
    return [path] if path else []


def output_file(
    text: str, *names: str, suffixes: Collection[str] = (), files: Files = itself, **more: Any
) -> Any:
    """An option that takes a file to write, refused before the run, not after it; `-` is standard output.

    Where `suffixes` are given the name ends in one of them, or has none and is written as the first. `files`
    are those that are written for it: the command is refused where one of them is an input, see `outputs`.
    """

    def check(context: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
        context.meta.setdefault(OUTPUTS, {})[param.name] = files
        if path == Path("-"):
            return STDOUT
        if path and path.is_dir():
            raise click.BadParameter(f"'{path}' is a folder; expected the name of a file.")
        if path and not path.parent.is_dir():
            raise click.BadParameter(f"there is no folder '{path.parent}' to write '{path.name}' in.")
        if path and suffixes and path.suffix and path.suffix not in suffixes:
            known = ", ".join(suffixes)
            raise click.BadParameter(f"'{path}' should end in {known}; {path.suffix} is unsupported.")
        if path and suffixes:
            from ppl.results.files.formats import require_packages

            require_packages(path)
        return path

    return Option(*names, metavar="FILE", callback=check, help=text, **more)


def main_output(text: str, **more: Any) -> Any:
    """The option -o, for the file that a command is for."""
    return output_file(text, "--output", "-o", **more)


def outputs(context: Any) -> Iterator[Path]:
    """The files that a command will write."""
    for name, files in context.meta.get(OUTPUTS, {}).items():
        yield from files(context.params[name], context.params)


def inputs(context: Any) -> Iterator[Path]:
    """The files that a command reads: all paths among its arguments but its outputs, and those in texts."""
    for name, value in context.params.items():
        values = value if isinstance(value, list | tuple) else [value]
        if name in context.meta.get(TEXTS, ()):
            yield from (Path(file_of(text)) for text in values)
        elif name not in context.meta.get(OUTPUTS, ()):
            yield from (path for path in values if isinstance(path, Path))


def file_to_read(text: str, *names: str, metavar: str = "FILE", **more: Any) -> Any:
    """An option that takes a file, or several, that must be there."""
    return Option(*names, metavar=metavar, exists=True, dir_okay=False, readable=True, help=text, **more)


def data_files(text: str, *names: str) -> Any:
    """An option that takes FILE or NAME=FILE, any number of times; see `whole_files` and `as_names`."""

    def check(context: click.Context, param: click.Parameter, words: list[str]) -> list[str]:
        from ppl.data.locations import SCHEME

        context.meta.setdefault(TEXTS, []).append(param.name)
        for one in words:
            name, file = _named(one)
            path = Path(file.partition(":")[0])
            if name and not (SCHEME.match(file) or exists(path)):
                whole = f" The file of that whole name is ./{one}" if exists(Path(one)) else ""
                raise click.BadParameter(f"there is no file '{path}' for `{name}`.{whole}")
            if not (name or Path(one) == STDIN or exists(Path(one))):
                raise click.BadParameter(f"'{one}' is not NAME=FILE, such as x=rows.npy, nor a file.")
        if len(as_names(words)) + len(whole_files(words)) < len(words):
            raise click.BadParameter("a variable is given twice.")
        return words

    return Option(*names, metavar="[NAME=]FILE", callback=check, help=text, show_default=False)


def _named(one: str) -> tuple[str, str]:
    """Variable and file of NAME=FILE; "" and "" for the name of a file alone."""
    name, _, file = one.partition("=")
    return (name, file) if file and name.isidentifier() else ("", "")


def file_of(word: str) -> str:
    """The file in FILE, NAME=FILE and NAME=FILE:COLUMNS."""
    return _named(word)[1].partition(":")[0] or word


def as_names(words: Iterable[str]) -> dict[str, str]:
    """Of NAME=FILE the files by the name of the variable that each holds."""
    return dict(_named(one) for one in words if any(_named(one)))


def whole_files(words: Iterable[str]) -> list[Path]:
    """Those that are a FILE, with variables of any name."""
    return [Path(one) for one in words if not any(_named(one))]


def folder(text: str, **more: Any) -> Any:
    """An option that takes a folder."""
    return Option(metavar="DIR", file_okay=False, help=text, **more)


def variable_names(text: str) -> Any:
    """An option that takes names with commas between them; `split_names` gives them."""
    return Option("--variables", metavar="A,B,...", help=text, show_default=False)


def outcomes(text: str) -> Any:
    """An option that takes an outcome, or several with commas between them."""
    return Option("--outcome", metavar="NAME", help=text, show_default=False)


def split_names(text: str) -> list[str]:
    """The names in a list with commas, those inside of brackets apart; none where it is empty."""
    return [name.strip() for name in re.split(r",(?![^\[]*\])", text) if name.strip()]


def one_of(text: str, *names: str, **more: Any) -> Any:
    """An option that takes a word."""
    return Option(*names, metavar="NAME", help=text, **more)


def unknown(what: str, word: str, known: Iterable[str], lister: str, **hint: Any) -> click.BadParameter:
    """The refusal of a word, "there is no message PPL1", with the nearest of the known or what lists them."""
    from ppl.spelling import nearest

    near = nearest(word, known)
    ending = f"; did you mean {near}?" if near else f"; `{lister}` lists all."
    return click.BadParameter(f"there is no {what} {word}{ending}", **hint)


def radius_or_file(text: str, *names: str) -> Any:
    """An option that takes a radius of at least 0 or a JSON file; `radius_or_path` gives its value."""

    def check(context: click.Context, param: click.Parameter, word: str) -> str:
        context.meta.setdefault(TEXTS, []).append(param.name)
        value = radius_or_path(word)
        if not (0 <= value < float("inf") if isinstance(value, float) else is_file(Path(value))):
            raise click.BadParameter(f"'{word}' is neither a radius of at least 0 nor a JSON file.")
        return word

    return Option(*names, metavar="X", callback=check, help=text)


def switch(name: str, text: str, **more: Any) -> Any:
    """An option that is on unless `--no-` stands before it."""
    return Option(f"{name}/--no-{name.removeprefix('--')}", help=text, **more)


def quietly() -> Any:
    """The option that leaves out all but errors."""
    return Option("--quiet", "-q", help="Print errors only.")


def flag(name: str, text: str, **more: Any) -> Any:
    """An option that is off unless it is named."""
    return Option(name, help=text, **more)
