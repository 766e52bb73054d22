"""Values by name, as they were given, and where each is from."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ppl.data.values import described
from ppl.errors import MOST_NAMES, DataError, first_few
from ppl.kernel.density.expected import ExpectedData
from ppl.printable import printable
from ppl.records import dataclass, field, replace
from ppl.spelling import ROUGHLY_LIKE, letters, nearest


@dataclass(frozen=True)
class RowCount:
    """How many rows a column has, and at which lines of its file, where it is from one."""

    count: int
    lines: Sequence[int] = field(default=(), repr=False)


@dataclass(frozen=True)
class Inputs:
    """Values by name as they were given, unchecked; `label` says where from: the file, or "data".

    `files` are the variables that have a file of their own, by name; `columns` those that are a column of a
    table. `levels` are those that an earlier fit has given codes, by variable; None of a first fit. `notes`
    say what became of columns and rows. Columns have been `matched` with these declared names.
    """

    values: Mapping[str, Any]
    label: str
    files: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, RowCount] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] | None = None
    notes: tuple[str, ...] = ()
    matched: frozenset[str] = frozenset()

    def label_of(self, name: str) -> str:
        """Where a variable is from."""
        return self.files.get(name, self.label)

    def place_of(self, name: str, index: int | None) -> str:
        """Where the element at an index of a variable is from: the file, and of a column the line too."""
        rows = self.columns.get(name)
        if rows is None or index is None or not len(rows.lines):
            return self.label_of(name)
        return f"{self.label_of(name)}:{rows.lines[index]}"


def renamed(inputs: Inputs, declared: Collection[str]) -> dict[str, str]:
    """The declared variable that a column is, where the names differ in case, accents and signs alone.

    A name that begins with a digit may have an x before it, as in R. Where two columns or two variables
    have such a name, none is taken.
    """
    columns, absent = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for name in declared:
        if name not in inputs.values:
            absent[letters(name)].append(name)
    for name in inputs.columns if absent else ():
        if name not in declared:
            columns[letters(f"x{name}" if name[:1].isdigit() else name)].append(name)
    both = ((columns[key], absent[key]) for key in absent if key in columns)
    return {those[0]: names[0] for those, names in both if len(those) == len(names) == 1}


def with_declared_names(inputs: Inputs, declared: Collection[str]) -> Inputs:
    """The inputs with the columns of `renamed` under the names that are declared: the same if they were
    matched with these before, as a table may have a million columns.
    """
    names = frozenset(declared)
    if names <= inputs.matched:
        return inputs
    new, inputs = renamed(inputs, declared), replace(inputs, matched=names)
    if not new:
        return inputs
    values = {new.get(name, name): value for name, value in inputs.values.items()}
    columns = {new.get(name, name): rows for name, rows in inputs.columns.items()}
    files = {new.get(name, name): file for name, file in inputs.files.items()}
    each = ", ".join(f"`{printable(column)}` is read as `{name}`" for column, name in new.items())
    note = f"{inputs.label_of(next(iter(new)))}: the column {each}."
    return replace(inputs, values=values, columns=columns, files=files, notes=(*inputs.notes, note))


def unknown_names(inputs: Inputs, known: Collection[str]) -> list[str]:
    """Names in the data that the program does not declare; they are allowed, and ignored."""
    return [printable(name) for name in inputs.values if name not in known]


def merged(parts: Sequence[Inputs]) -> Inputs:
    """Several inputs as one.

    Raises:
        DataError: a variable is in two of them; names both.
    """
    if len(parts) == 1:
        return parts[0]
    files: dict[str, str] = {}
    for part in parts:
        for name in part.values:
            if name in files:
                here, first = part.label_of(name), files[name]
                sentence = f"{here}: `{name}` is in {first} too; give it once"
                if name in part.columns:
                    sentence += (
                        f". If {here} has a row for each `{name}`, sort its rows by it, then remove it"
                    )
                raise DataError(sentence, name, "PPL905")
            files[name] = part.label_of(name)
    values = {name: value for part in parts for name, value in part.values.items()}
    columns = {name: rows for part in parts for name, rows in part.columns.items()}
    label = " and ".join(part.label for part in parts) or "data"
    return Inputs(values, label, files, columns, notes=tuple(note for part in parts for note in part.notes))


ALIKE = 0.75
"""The ratio of difflib from which two names, both in use, are taken for one: `y1` and `y` have less."""


def find(inputs: Inputs, expected: ExpectedData, known: Iterable[str] = ()) -> Any:
    """The raw value of `y`, or of an item `t.2.1` of a tuple.

    Raises:
        DataError: there is none; the message lists every name of `known` that is missing, each with the
            name in the data that is most like it.
    """
    if expected.name in inputs.values:
        return inputs.values[expected.name]
    name, *items = expected.name.split(".")
    if name not in inputs.values:
        sentence = missing(inputs, expected, name, [k.split(".")[0] for k in known])
        raise DataError(sentence, name, "PPL901")
    value = inputs.values[name]
    for item in items:
        value = tuple_item(inputs, expected, value, name, int(item))
        name = f"{name}.{item}"
    return value


def tuple_item(inputs: Inputs, expected: ExpectedData, value: Any, name: str, item: int) -> Any:
    """Item `item`, from 1, of a tuple; of an array of tuples the array of the items."""
    match value:
        case list():
            return [tuple_item(inputs, expected, v, f"{name}[{k}]", item) for k, v in enumerate(value, 1)]
        case Mapping() if str(item) in value:
            return value[str(item)]
        case tuple() if len(value) >= item:
            return value[item - 1]
        case Mapping() | tuple():
            what = f"has no item {item}"
        case _:
            what = f"is {described(value)}"
    where, needs = f"{inputs.label_of(name)}: {name}", '{"1": ..., "2": ...}'
    raise DataError(f"{where} {what}, but {expected.declaration} needs {needs}", expected.name, "PPL902")


def missing(inputs: Inputs, expected: ExpectedData, name: str, known: Iterable[str]) -> str:
    """One line for the variable, one for each other that is missing too."""
    names = list(dict.fromkeys([name, *known]))
    absent = [n for n in names if n not in inputs.values]
    spare = unknown_names(inputs, names)
    first = f"{inputs.label}: `{name}` is missing: {expected.declaration} declares it"
    others = [f"`{n}` is missing too{suggestion(n, spare)}" for n in absent if n != name]
    if not inputs.values:
        others.append("There are no data; a file of data follows the program.")
    elif inputs.columns and others:
        first += f"; the columns of the table are {first_few([*map(printable, inputs.columns)], MOST_NAMES)}"
    elif inputs.columns and not expected.shape:
        first += f"; give a single number beside the table: condition(table, {name}=...), or in its own file"
    elif inputs.columns and len(expected.shape) == 2:
        first += f'; a matrix of columns is {{"{name}": frame[["a", "b"]], "y": frame["y"], ...}}'
    return "\n".join([first + suggestion(name, spare), *others])


def misspelt(inputs: Inputs, known: Collection[str]) -> dict[str, str]:
    """The names in the data that go unused and are spelt nearly as a declared one is, each with that."""
    near = {name: nearest(name, known, ALIKE) for name in unknown_names(inputs, known)}
    return {name: meant for name, meant in near.items() if meant}


def unread(inputs: Inputs, parameters: Iterable[str]) -> Iterator[str]:
    """A sentence for each variable that goes unused as it is a parameter."""
    for name in parameters:
        if name in inputs.values:
            message = f"{inputs.label_of(name)}: `{name}` is not used; the program declares it in parameters."
            yield f"{message} Declare it in data if it is known."


def suggestion(name: str, spare: list[str]) -> str:
    near = nearest(name, spare, ROUGHLY_LIKE)
    return f"; the data have `{near}`: did you mean that?" if near else ""
