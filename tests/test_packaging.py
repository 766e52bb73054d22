"""What is in the tree is in the wheel."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


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
