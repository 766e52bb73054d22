"""Records read from files: a field of another type than declared is refused."""

from typing import NamedTuple

import pytest

from ppl.run.checksum import require_types


class Record(NamedTuple):
    count: int = 3
    number: float = 0.5
    flag: bool = True


def test_a_record_as_declared_passes():
    require_types(Record())
    require_types(Record(count=0, number=2, flag=False))


@pytest.mark.parametrize(
    ("name", "value"), [("count", True), ("count", -1), ("count", 1.0), ("number", False), ("flag", 1)]
)
def test_another_type_is_refused_by_its_field(name, value):
    with pytest.raises(ValueError, match=rf"^Record\.{name} = {value}$"):
        require_types(Record(**{name: value}))
