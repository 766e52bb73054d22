"""The extension for VS Code: its names are those of the tree, it starts the server, and it can be packed."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from ppl.cli.group import NAMES
from ppl.system.distribution import EXTRAS, VERSION

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "cli" / "vscode"
GRAMMAR = ROOT / "grammar" / "ppl.tmLanguage.json"
PACKAGE = json.loads((FOLDER / "package.json").read_text("utf-8"))
STUB = """
const Module = require("module"), load = Module._load, said = [];
class LanguageClient {
  constructor(id, name, server, options) { said.push(["made", server, options.documentSelector]); }
  async start() { said.push(["start"]); }
  needsStop() { return true; }
  async stop() { said.push(["stop"]); }
}
const registered = {};
const vscode = {
  commands: { registerCommand: (name, f) => { registered[name] = f; } },
  window: { showErrorMessage: (text) => said.push(["error", text]) },
  workspace: {
    getConfiguration: (section) => ({ get: (key) => DEFAULTS[`${section}.${key}`].default }),
    onDidChangeConfiguration: () => {},
  },
};
const DEFAULTS = require(process.argv[1] + "/package.json").contributes.configuration.properties;
const stubs = { "vscode": vscode, "vscode-languageclient/node": { LanguageClient } };
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const { activate, deactivate } = require(process.argv[1] + "/extension.js");
(async () => {
  await activate({ subscriptions: [] });
  await registered["ppl.restart"]();
  await deactivate();
  console.log(JSON.stringify(said));
})();
"""


def test_its_names_are_those_of_the_tree():
    (language,) = PACKAGE["contributes"]["languages"]
    (grammar,) = PACKAGE["contributes"]["grammars"]
    assert grammar["language"] == language["id"]
    assert grammar["scopeName"] == json.loads(GRAMMAR.read_text("utf-8"))["scopeName"]
    assert Path(grammar["path"]).name == GRAMMAR.name
    types = json.loads(GRAMMAR.read_text("utf-8"))["fileTypes"]
    assert sorted(language["extensions"]) == sorted(f".{suffix}" for suffix in types)
    command = PACKAGE["contributes"]["configuration"]["properties"]["ppl.command"]["default"]
    assert command[0] == "ppl" and command[1] in {*NAMES}
    assert PACKAGE["version"] == VERSION
    for name in (PACKAGE["main"], language["configuration"], "README.md"):
        assert (FOLDER / name).is_file()
    assert EXTRAS["lsp"][0] in (FOLDER / "extension.js").read_text("utf-8")


def test_commands_and_settings_are_those_it_declares():
    code = (FOLDER / "extension.js").read_text("utf-8")
    declared = {c["command"] for c in PACKAGE["contributes"]["commands"]}
    assert set(re.findall(r'registerCommand\("([^"]+)"', code)) == declared
    assert 'getConfiguration("ppl").get("command")' in code


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_it_starts_the_server_and_starts_it_again():
    words = ["node", "-e", STUB, str(FOLDER)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    made = ["made", {"command": "ppl", "args": ["lsp"]}, [{"language": "ppl"}]]
    assert json.loads(done.stdout) == [made, ["start"], ["stop"], made, ["start"], ["stop"]]


@pytest.mark.rotate
@pytest.mark.long
def test_it_is_packed(tmp_path):
    """By vsce, in a copy of its folder beside the grammar."""
    if not shutil.which("npm"):
        pytest.skip("needs npm")
    if npm("ping", folder=tmp_path, patience=20) is None:
        pytest.skip("the registry of npm does not answer")
    folder = tmp_path / "cli" / "vscode"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("node_modules", "*.vsix", GRAMMAR.name))
    (tmp_path / "grammar").mkdir()
    shutil.copy(GRAMMAR, tmp_path / "grammar")
    installed = npm("ci", "--no-audit", "--no-fund", folder=folder, patience=120)
    packed = installed and npm("run", "package", folder=folder, patience=300)
    if packed is None:
        pytest.skip("npm did not end in time")
    assert packed.returncode == 0, packed.stdout + packed.stderr
    with zipfile.ZipFile(folder / f"ppl-{VERSION}.vsix") as archive:
        names = set(archive.namelist())
        assert archive.read(f"extension/{GRAMMAR.name}") == GRAMMAR.read_bytes()
    assert {"extension/extension.js", "extension/language-configuration.json"} <= names
    assert any(name.startswith("extension/node_modules/vscode-languageclient/") for name in names)


def npm(*words, folder, patience):
    """What a command of npm ended with; None where it failed for want of time or network."""
    try:
        done = subprocess.run(["npm", *words], cwd=folder, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode and words[0] in ("ping", "ci") else done
