// Starts `cudalint lsp` for CUDA files, and hands it the arguments that the user has set.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["cuda-cpp", "cuda"];
let client;

function settings() {
  const own = vscode.workspace.getConfiguration("cudalint");
  return { command: own.get("command"), arguments: own.get("arguments"), rulePages: own.get("rulePages") };
}

async function start() {
  const { command, arguments: given, rulePages } = settings();
  const environment = rulePages ? { options: { env: { ...process.env, CUDALINT_RULE_PAGES: rulePages } } } : {};
  client = new LanguageClient(
    "cudalint",
    "cudalint",
    { command, args: ["lsp"], ...environment },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      initializationOptions: { arguments: given },
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{cudalint.toml,pyproject.toml,cudalint-launches.json,*.cuh,*.h}") },
    },
  );
  await client.start();
}

async function restart() {
  await deactivate();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("cudalint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("cudalint")) {
        return restart();
      }
    }),
  );
  try {
    await start();
  } catch (error) {
    vscode.window.showErrorMessage(`cudalint does not start: ${error.message}. pip install 'cudalint[lsp]'`);
  }
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running !== undefined) {
    await running.stop();
  }
}

module.exports = { activate, deactivate };
