"""One test of many cases: a test costs pytest 4 ms under two workers, more than most cases take."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

Test = Callable[..., None]


def every(
    names: str, cases: Iterable[Any], record: Callable[[Any], str] = lambda case: "all"
) -> Callable[[Test], Test]:
    """Make one test of all cases of a record; it fails with every case that fails, each named in a note.

    `names` and `cases` are those of `pytest.mark.parametrize`, without marks.  Cases share their fixtures.
    One that is skipped fails: it would end the record, and leave the cases after it out.
    """
    arguments = [name.strip() for name in names.split(",")]
    groups: dict[str, list[Any]] = {}
    for case in cases:
        groups.setdefault(record(case), []).append(case)

    def decorated(test: Test) -> Test:
        @wraps(test)
        def of_record(cases: list[Any], **fixtures: Any) -> None:
            failures = []
            for case in cases:
                values = case if len(arguments) > 1 else (case,)
                try:
                    test(**dict(zip(arguments, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
                    failure = error if isinstance(error, Exception) else AssertionError(str(error))
                    failure.add_note(f"Case: {case}")
                    failures.append(failure)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(cases)} cases fail", failures)

        fixtures = [p for name, p in inspect.signature(test).parameters.items() if name not in arguments]
        of_cases = inspect.Parameter("cases", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        of_record.__signature__ = inspect.Signature([of_cases, *fixtures])  # type: ignore[attr-defined]
        return pytest.mark.parametrize("cases", [*groups.values()], ids=groups)(of_record)

    return decorated
