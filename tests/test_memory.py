"""What would not fit in memory is refused before it is asked for."""

import numpy as np
import pytest

from ppl import memory
from ppl.memory import (
    NoRoom,
    available,
    group_folders,
    in_bytes,
    of_group,
    of_machine,
    of_process,
    require_room,
)


def test_what_can_be_had_is_positive_and_less_than_an_exabyte():
    assert 1 << 20 < available() < 1 << 60


def test_what_fits_is_let_through(monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([3 << 30, 1 << 30]))
    require_room((1 << 27,), "a vector")
    with pytest.raises(
        NoRoom, match=r"^a vector of 134217729 numbers needs 1.0 GiB of memory, and 1.0 GiB are"
    ):
        require_room(((1 << 27) + 1,), "a vector")


def test_sizes_beyond_64_bits_do_not_wrap():
    with pytest.raises(NoRoom, match="EiB"):
        require_room((2**31 - 1, 2**31 - 1, 8), "an array")
    require_room((0, 2**62), "an empty array")


def test_where_nothing_says_how_much_there_is_anything_is_tried(monkeypatch):
    monkeypatch.setattr(memory, "limits", lambda: iter([]))
    require_room((10**12,), "a vector")


def test_limits_are_read_as_the_system_writes_them():
    assert of_machine(["MemTotal:  24000000 kB", "MemAvailable:   1024 kB"]) == 1 << 20
    assert of_process(["Limit  Soft", "Max address space         4096                 8192   bytes"]) == 4096
    with pytest.raises(ValueError):
        of_process(["Max address space         unlimited            unlimited            bytes"])


def test_limits_of_a_control_group_count_without_files_that_can_be_dropped(tmp_path):
    own = tmp_path / "user.slice" / "run-1.scope"
    own.mkdir(parents=True)
    (own / "memory.max").write_text("1000\n")
    (own / "memory.current").write_text("900\n")
    (own / "memory.stat").write_text("anon 500\ninactive_file 300\n")
    assert of_group(own, "memory.max", "memory.current", "inactive_file") == 400
    groups = tmp_path / "groups"
    groups.write_text("0::/user.slice/run-1.scope\n")
    assert {*group_folders(tmp_path, groups)} == {tmp_path, own.parent, own}
    assert [*group_folders(tmp_path, tmp_path / "none")] == [tmp_path]
    (own / "memory.max").write_text("max\n")
    with pytest.raises(ValueError):
        of_group(own, "memory.max", "memory.current", "inactive_file")


def test_bytes_in_words():
    assert [in_bytes(n) for n in (0, 1023, 1024, 8 * 10**9)] == [
        "0 bytes",
        "1023 bytes",
        "1.0 KiB",
        "7.5 GiB",
    ]
    assert in_bytes(np.iinfo(np.int64).max * 4) == "32.0 EiB"
