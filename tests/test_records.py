"""Data classes of the house beside those of the standard library."""

import dataclasses
import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ppl import records


def classes(decorator: Any) -> tuple[type, type]:
    @decorator
    class Base:
        """Fields of all kinds."""

        x: int
        y: float = 2.0
        z: list[int] = dataclasses.field(default_factory=list, compare=False)
        w: int = dataclasses.field(default=3, repr=False)
        v: dict[str, int] = dataclasses.field(init=False, default_factory=dict, compare=False)

    @decorator
    class Derived(Base):
        """One field more, and a check."""

        q: int = 7

        def __post_init__(self) -> None:
            if self.q < 0:
                raise ValueError("q")

    return Base, Derived


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    "options",
    [{}, {"frozen": True}, {"eq": False}, {"frozen": True, "kw_only": True}, {"frozen": True, "repr": False}],
    ids=str,
)
def test_a_record_is_as_the_standard_library_makes_it(options):
    standard, house = (classes(module.dataclass(**options)) for module in (dataclasses, records))
    for theirs, ours in zip(standard, house, strict=True):
        of_class = (
            lambda c: str(inspect.signature(c)),
            lambda c: c.__init__.__annotations__,
            lambda c: c.__match_args__,
            lambda c: vars(c(x=1)),
            lambda c: c(x=1) == c(x=1, z=[5]),
            lambda c: c(x=1) != c(x=2),
            lambda c: c(x=1) == 1,
            lambda c: vars(c(x=1, q=-1)),
            lambda c: vars(c()),
            lambda c: vars(c(1, 2)),
            lambda c: setattr(c(x=1), "x", 5),
            lambda c: setattr(c(x=1), "other", 5),
            lambda c: delattr(c(x=1), "x"),
            lambda c: vars(dataclasses.replace(c(x=1, y=4.0), x=9)),
            lambda c: dataclasses.asdict(c(x=1)),
            lambda c: repr(c(x=1)) if options.get("repr", True) else None,
            lambda c: hash(c(x=1)) if options.get("eq", True) else None,
        )
        of_instances = of_class[3:]  # before `__init__` is compiled, by the first look, and after
        for look in (*of_instances, *of_class, *of_instances):
            assert outcome(lambda: look(theirs)) == outcome(lambda: look(ours))  # noqa: B023


@records.dataclass(frozen=True)
class Point:
    """At the top of a module, so that it can be pickled."""

    x: int
    y: tuple["Point", ...] = ()


def test_records_nest_are_pickled_and_make_no_text_before_some_instances():
    point = Point(1, (Point(2),))
    assert not inspect.isfunction(vars(Point)["__init__"])
    assert [Point(k) for k in range(records.INSTANCES_BEFORE)][-1] == Point(records.INSTANCES_BEFORE - 1)
    assert inspect.isfunction(vars(Point)["__init__"])
    assert pickle.loads(pickle.dumps(point)) == point
    assert repr(point) == "Point(x=1, y=(Point(x=2, y=()),))"


def test_all_data_classes_are_records_but_those_with_slots():
    paths = [path for name in ("ppl", "cli") for path in (Path(__file__).parents[1] / name).rglob("*.py")]
    texts = {path: path.read_text("utf-8") for path in paths}
    slow = {
        path.name
        for path, text in texts.items()
        if re.search(r"(?m)^from dataclasses import .*\bdataclass\b", text)
    }
    assert slow == {path.name for path, text in texts.items() if "slots=True" in text}
