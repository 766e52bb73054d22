import json
from pathlib import Path

import pytest

from ppl.errors import MissingPackage
from ppl.system import distribution
from ppl.system.distribution import EXTRAS, requirements


def installed_from(monkeypatch, **noted):
    monkeypatch.setattr(distribution, "_origin", lambda: (noted["url"], noted))


def test_a_checkout_is_named_by_its_folder(tmp_path, monkeypatch):
    folder = tmp_path / "my checkout"
    folder.mkdir()
    installed_from(monkeypatch, url=folder.as_uri(), dir_info={"editable": True})
    assert requirements("sample") == ("-e", f"{folder}[sample]")
    monkeypatch.chdir(folder)
    assert str(MissingPackage("sample", "nutpie", *requirements("sample"))).endswith(
        'pip install -e ".[sample]".'
    )
    installed_from(monkeypatch, url=folder.as_uri(), dir_info={})
    assert requirements("sample") == (".[sample]",)


def test_a_wheel_is_named_by_its_file(tmp_path, monkeypatch):
    wheel = tmp_path / "ppl_vi-0.1.0-py3-none-any.whl"
    installed_from(monkeypatch, url=wheel.as_uri(), archive_info={})
    assert requirements("plot") == EXTRAS["plot"]  # the file is gone
    wheel.touch()
    assert requirements("plot") == (f"{wheel}[plot]",)


@pytest.mark.parametrize("revision", [{"requested_revision": "v0.1"}, {}])
def test_a_repository_is_named_by_its_address(monkeypatch, revision):
    vcs = {"vcs": "git", "commit_id": "abc", **revision}
    installed_from(monkeypatch, url="https://host/ppl.git", vcs_info=vcs)
    ending = revision.get("requested_revision", "abc")
    assert requirements("jax") == (f"ppl-vi[jax] @ git+https://host/ppl.git@{ending}",)


def test_from_an_index_the_packages_themselves_are_named(monkeypatch):
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [])
    assert requirements("lsp") == EXTRAS["lsp"] == ("pygls>=2",)


def test_what_pip_noted_is_read(monkeypatch):
    class Found:
        def __init__(self, text):
            self.text = text

        def read_text(self, name):
            return self.text if name == "direct_url.json" else None

    noted = json.dumps({"url": Path.cwd().as_uri(), "dir_info": {"editable": True}})
    monkeypatch.setattr("importlib.metadata.distributions", lambda name: [Found(None), Found(noted)])
    assert requirements("lsp") == ("-e", ".[lsp]")
