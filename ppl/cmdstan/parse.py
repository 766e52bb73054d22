"""CmdStan's command line: which word sets which value (CmdStan Guide, "Command-Line Interface")."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from ppl.cmdstan.help import node_help, tree_help
from ppl.errors import PPLError
from ppl.results.arguments.argument import Argument, Choice, Group, Value
from ppl.results.arguments.tree import METHOD, TREE

ArgumentWords = deque[str]
TRUTH = {"1": True, "true": True, "0": False, "false": False}


class Misuse(PPLError):
    """The words make no sense; the message has CmdStan's sentences, a line each."""


class HelpRequested(Exception):
    """`help` or `help-all` stood among the words; the message is the text to show, "" for the usage alone."""


def parse(words: Sequence[str], method: str = "") -> dict[str, Any]:
    """The values that `words` set, by path (see results.arguments).

    Groups come in any order, each at most once, with their parts right after them; the method's name may
    stand without `method=`. Where `method` is known beforehand its parts may stand among the groups too.

    Raises:
        Misuse: a word is mistyped, misplaced or has a value out of range, or no method is named.
        HelpRequested: the words ask for help.

    Example:
        >>> parse(["variational", "iter=500", "random", "seed=1"])
        {'method': 'variational', 'variational.iter': 500, 'random.seed': 1}
    """
    left, unused = deque(words), list(TREE)
    arguments: dict[str, Any] = {"method": method} if method else {}
    known = METHOD.option(method).parts if method else ()
    while left:
        if METHOD in unused and left[0] in {group.name for group in METHOD.options}:
            left[0] = f"method={left[0]}"
        if left[0] in ("help", "help-all"):
            raise HelpRequested(tree_help() if left[0] == "help-all" else "")
        argument = _named(left[0], unused)
        if argument is not None:
            unused.remove(argument)
            arguments |= _take(argument, left, "")
        elif (part := _named(left[0], known)) is not None:
            arguments |= _take(part, left, f"{method}.")
        else:
            raise Misuse("\n".join(_misplaced(left[0])))
    if "method" not in arguments:
        raise Misuse("A method must be specified!")
    return arguments


def _named(word: str, arguments: Sequence[Argument]) -> Argument | None:
    """The argument that a word speaks of: groups stand bare, values and choices have an `=`."""
    name, equals, _ = word.partition("=")
    for argument in arguments:
        if argument.name == name and isinstance(argument, Group) != bool(equals):
            return argument
    return None


def _take(argument: Argument, left: ArgumentWords, prefix: str) -> dict[str, Any]:
    """The values that the first word sets, and the words after it that belong to it."""
    name, _, value = left.popleft().partition("=")
    path = prefix + name
    match argument:
        case Value():
            return {path: _read(argument, value)}
        case Group():
            return _take_parts(argument, left, f"{path}.")
        case Choice():
            if value not in {group.name for group in argument.options}:
                raise _invalid(argument, value, ", ".join(group.name for group in argument.options))
            return {path: value} | _take_parts(argument.option(value), left, f"{prefix}{value}.")


def _take_parts(group: Group, left: ArgumentWords, prefix: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    while left:
        if left[0] in ("help", "help-all"):
            raise HelpRequested("\n".join(node_help(group, recurse=left[0] == "help-all")) + "\n")
        argument = _named(left[0], group.parts)
        if argument is None:
            break
        arguments |= _take(argument, left, prefix)
    return arguments


def _read(argument: Value, word: str) -> Any:
    """A word as a value of the default's type."""
    try:
        value = TRUTH[word] if isinstance(argument.default, bool) else type(argument.default)(word)
    except (KeyError, ValueError):
        raise _invalid(argument, word, argument.valid) from None
    if not argument.holds(value):
        raise _invalid(argument, word, argument.valid)
    return value


def _invalid(argument: Value | Choice, word: str, valid: str) -> Misuse:
    return Misuse(f'{word} is not a valid value for "{argument.name}"\n  Valid values: {valid}')


def _misplaced(word: str) -> Iterator[str]:
    yield f"{word} is either mistyped or misplaced."
    paths = list(_paths(word.partition("=")[0], TREE, ""))
    if paths:
        yield "Perhaps you meant one of the following valid configurations?"
        yield from (f"  {path}" for path in paths)


def _paths(name: str, tree: Sequence[Argument], prefix: str) -> Iterator[str]:
    """Where in the tree `name` could stand, in words to type."""
    for argument in tree:
        match argument:
            case Value():
                if argument.name == name:
                    yield f"{prefix}{name}=<{type(argument.default).__name__}>"
            case Group():
                if argument.name == name:
                    yield prefix + name
                yield from _paths(name, argument.parts, f"{prefix}{argument.name} ")
            case Choice():
                if argument.name == name:
                    yield f"{prefix}{name}=<list_element>"
                for option in argument.options:
                    here = f"{prefix}{argument.name}={option.name}"
                    if option.name == name:
                        yield here
                    yield from _paths(name, option.parts, f"{here} ")
