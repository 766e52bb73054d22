"""What is in the tree is in the wheel, under a name that is ours."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import ppl
from ppl.system.distribution import EXTRAS, NAME, VERSION

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]
SETTINGS = PYPROJECT["tool"]["setuptools"]
TEXTS = [
    path
    for folder, ends in (("ppl", "py"), ("cli", "py"), ("cli", "md"), ("cli", "js"), (".", "md"))
    for path in (ROOT.glob(f"*.{ends}") if folder == "." else (ROOT / folder).rglob(f"*.{ends}"))
    if "node_modules" not in path.parts
]


def test_every_package_is_listed():
    inside = {".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.glob("ppl/**/__init__.py")}
    mapped = set(SETTINGS["package-dir"])
    assert inside | mapped == set(SETTINGS["packages"])


def test_mapped_packages_are_where_they_are_said_to_be():
    for folder in SETTINGS["package-dir"].values():
        assert (ROOT / folder / "__init__.py").is_file()


def test_readme_holds_two_commands_that_name_files_that_exist():
    lines = (ROOT / "README.md").read_text().splitlines()
    commands = [lines[k + 1] for k, line in enumerate(lines) if line == "```sh run"]
    assert len(commands) == 2
    for word in commands[0].split():
        if word.startswith("models/"):
            assert (ROOT / word).is_file()


def test_hints_name_what_pip_finds():
    """Our own distribution, which is on no index, by the folder of its checkout alone."""
    assert PROJECT["name"] == NAME and ppl.__version__ == VERSION
    hints = [hint for text in TEXTS for hint in re.findall("pip install .*", text.read_text("utf-8"))]
    assert len(hints) > 10
    for hint in hints:
        assert not re.match(r"pip install (-\S+ )*[\"']?ppl(-vi)?\b(?!_)", hint), hint
        for extras in re.findall(r"\.\[([\w,]+)\]", hint):
            assert {*extras.split(",")} <= {*PROJECT["optional-dependencies"]}, hint


def test_a_release_has_one_version_and_one_date():
    """As `ppl --version` says it, in the citation, in the changelog and in the extension of the editor."""
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    (version,) = re.findall(r"^version: (.+)$", citation, re.MULTILINE)
    (date,) = re.findall(r'^date-released: "(.+)"$', citation, re.MULTILINE)
    newest = re.search(r"^## \[(\d.*?)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest and newest.groups() == (VERSION, date) and version == VERSION
    assert f"ppl-{VERSION}.vsix" in (ROOT / "cli/site/editors.md").read_text("utf-8")


def test_extras_that_messages_name_are_those_of_the_project():
    extras = PROJECT["optional-dependencies"]
    assert {name: tuple(extras[name]) for name in EXTRAS} == EXTRAS


@pytest.mark.rotate
def test_what_is_uploaded_is_in_order(tmp_path):
    """Source distribution, wheel from it, and PyPI's own check of both."""
    if not all(importlib.util.find_spec(name) for name in ("build", "twine")):
        pytest.skip("needs build and twine: pip install build twine")
    tree = tmp_path / "tree"
    shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns(".*", "tests", "build"))
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", tree, "-o", tmp_path],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    (sdist,), (wheel,) = tmp_path.glob("*.tar.gz"), tmp_path.glob("*.whl")
    assert (sdist.name, wheel.name.split("-")[:2]) == (f"ppl_vi-{VERSION}.tar.gz", ["ppl_vi", VERSION])
    checked = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", sdist, wheel], capture_output=True
    )
    assert checked.returncode == 0, checked.stdout
    with zipfile.ZipFile(wheel) as inside, tarfile.open(sdist) as source:
        names, sources = inside.namelist(), source.getnames()
    for file in ("ppl/cli/main.py", "ppl/grammar/model.lark", "ppl/models/eight_schools/eight_schools.model"):
        assert file in names
    assert not [name for name in names if name.split("/")[0] not in ("ppl", f"ppl_vi-{VERSION}.dist-info")]
    assert f"ppl_vi-{VERSION}/grammar/model.lark" in sources
