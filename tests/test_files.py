import os
from errno import EROFS
from pathlib import Path

import pytest

from ppl.files import write_whole


def broken_off(lines):
    yield from lines
    raise OSError(28, "No space left on device")


def test_writes_the_lines(tmp_path):
    path = tmp_path / "out.csv"
    write_whole(path, ["a,b\n", "1,2\n"])
    assert path.read_text() == "a,b\n1,2\n"


def test_a_failure_keeps_the_old_file_and_leaves_no_other(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(OSError, match="No space"):
        write_whole(path, broken_off(["new\n"] * 100_000))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


def test_an_interrupt_keeps_the_old_file_too(tmp_path):
    def interrupted():
        yield "new\n"
        raise KeyboardInterrupt

    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, interrupted())
    assert os.listdir(tmp_path) == ["out.csv"] and path.read_text() == "old"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_whole(tmp_path / "link.csv", ["new\n"])
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "new\n"


def test_permissions_remain(tmp_path):
    path = tmp_path / "private.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_whole(path, ["new\n"])
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_device_is_written_not_replaced():
    write_whole("/dev/null", ["gone\n"])
    assert not os.path.isfile("/dev/null")


def test_a_disk_that_is_only_read_is_named_by_the_file_to_write(tmp_path, monkeypatch):
    def refused(path, *arguments, **named):
        raise OSError(EROFS, os.strerror(EROFS), str(path))

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(OSError, match="Read-only") as caught:
        write_whole(tmp_path / "draws.csv", ["a\n"])
    assert caught.value.filename == str(tmp_path / "draws.csv")


def test_a_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_whole(tmp_path / "nowhere" / "out.csv", ["x\n"])
