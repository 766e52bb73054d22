"""The user's cache: what verifies is read, anything else is as if it were not there."""

import os
import stat

import pytest

from ppl import cache
from ppl.cache import LARGEST_ENTRY, StoredParts


@pytest.fixture
def parts(monkeypatch, tmp_path):
    monkeypatch.setenv("PPL_CACHE", str(tmp_path / "cache"))
    return StoredParts("digest", "a\nprogram")


def anew(parts):
    """As another process sees them."""
    return StoredParts(parts.digest, parts.title)


def files(folder):
    return [file for file in folder.iterdir() if file.name != "key"]


def test_texts_are_read_back_by_part_and_digest(parts):
    parts.write("one", "x\ny ∑")
    parts.write("two", "")
    again = anew(parts)
    assert (again.read("one"), again.read("two"), again.read("three")) == ("x\ny ∑", "", None)
    assert StoredParts("another", "a program").read("one") is None
    assert [entry.title for entry in cache.entries()] == ["a program"] * 2
    cache.clear()
    assert anew(parts).read("one") is None and files(parts.folder) == []


def test_only_the_user_can_read_the_folder_and_the_key(parts):
    parts.write("one", "text")
    for path in (parts.folder, parts.folder / "key"):
        assert not os.lstat(path).st_mode & 0o077


def truncated(held):
    return held[:-1]


def flipped(held):
    return held[:-1] + b"!"


def titled(held):
    return held.replace(b"a program", b"b program")


@pytest.mark.parametrize("change", [truncated, flipped, titled, lambda held: b"", lambda held: held + b"\n"])
def test_an_entry_that_changed_is_none(change, parts):
    parts.write("one", "text")
    (file,) = files(parts.folder)
    file.write_bytes(change(file.read_bytes()))
    assert anew(parts).read("one") is None
    anew(parts).write("one", "text")
    assert anew(parts).read("one") == "text"


def test_entries_that_are_swapped_or_signed_by_another_key_are_none(parts):
    parts.write("one", "1")
    parts.write("two", "2")
    one, two = files(parts.folder)
    held = one.read_bytes(), two.read_bytes()
    one.write_bytes(held[1]), two.write_bytes(held[0])
    assert anew(parts).read("one") is None and anew(parts).read("two") is None
    one.write_bytes(held[0]), two.write_bytes(held[1])
    assert anew(parts).read("one") == "1"
    (parts.folder / "key").write_bytes(b"another")
    assert anew(parts).read("one") is None


@pytest.mark.skipif(os.name == "nt", reason="rights are by lists of access")
def test_what_others_may_write_is_not_used(parts, monkeypatch):
    parts.write("one", "text")
    (parts.folder / "key").chmod(0o640)
    assert anew(parts).read("one") is None and anew(parts).secret is not None  # a new key
    parts.folder.chmod(0o770)
    assert anew(parts).folder is None and anew(parts).read("one") is None
    parts.folder.chmod(0o700)
    anew(parts).write("one", "text")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert anew(parts).folder is None


@pytest.mark.skipif(os.name == "nt", reason="has no pipes among files")
def test_links_pipes_and_folders_are_no_entries(parts, tmp_path):
    parts.write("one", "text")
    (file,) = files(parts.folder)
    (tmp_path / "elsewhere").write_bytes(file.read_bytes())
    for make in (lambda: file.symlink_to(tmp_path / "elsewhere"), lambda: os.mkfifo(file)):
        file.unlink()
        make()
        assert anew(parts).read("one") is None
        anew(parts).write("one", "text")
        assert anew(parts).read("one") == "text"
    file.unlink()
    file.mkdir()
    anew(parts).write("one", "text")
    assert anew(parts).read("one") is None and sorted(os.listdir(parts.folder)) == [file.name, "key"]


def test_a_folder_that_cannot_be_written_is_read(parts, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    parts.write("one", "text")
    with monkeypatch.context() as patch:
        patch.setattr("ppl.cache.put", refused)
        patch.setattr(os, "utime", refused)
        anew(parts).write("two", "text")
        assert anew(parts).read("one") == "text"
    assert anew(parts).read("two") is None


@pytest.mark.parametrize("root", ["", "/dev/null", "/proc/no/such"])
def test_without_a_folder_nothing_is_stored(root, monkeypatch):
    monkeypatch.setenv("PPL_CACHE", root)
    parts = StoredParts("digest", "title")
    parts.write("one", "text")
    assert parts.read("one") is None and not list(cache.entries())


def test_the_least_recently_read_go_first(parts):
    for k in range(6):
        parts.write(str(k), "x" * 1000)
    size = files(parts.folder)[0].stat().st_size
    for k, part in enumerate("123450"):  # 0 is read last
        os.utime(parts._path(part), (k, k))
    cache.trim(parts.folder, 5 * size)
    assert [anew(parts).read(str(k)) is not None for k in range(6)] == [True, False, False, False, True, True]
    parts.write("large", "x" * LARGEST_ENTRY)
    assert anew(parts).read("large") is None


def test_a_link_in_place_of_the_folder_is_not_followed(parts, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "other").mkdir(mode=0o700)
    (tmp_path / "cache" / "compiled").symlink_to(tmp_path / "other")
    parts.write("one", "text")
    assert list((tmp_path / "other").iterdir()) == []
    assert stat.S_ISLNK(os.lstat(tmp_path / "cache" / "compiled").st_mode)
