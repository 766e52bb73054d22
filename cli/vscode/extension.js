// Starts `ppl lsp` for programs, and again on demand; everything else is the server's.
const { commands, window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function made() {
  const [command, ...args] = workspace.getConfiguration("ppl").get("command");
  const server = { command, args };
  return new LanguageClient("ppl", "ppl", server, { documentSelector: [{ language: "ppl" }] });
}

async function start() {
  client = made();
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `The language server did not start (${error.message}). ` +
        'Install ppl and pygls (pip install "pygls>=2"), or give the path of ppl as the setting ppl.command.'
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  if (running !== undefined && running.needsStop()) {
    await running.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("ppl.restart", restart),
    workspace.onDidChangeConfiguration((change) => change.affectsConfiguration("ppl.command") && restart())
  );
  await start();
}

module.exports = { activate, deactivate: stop };
