// The extension with stand-ins for the editor and the protocol's client: what is started, and when it ends.
"use strict";

const assert = require("node:assert");
const Module = require("node:module");
const test = require("node:test");

const started = [];
let stopped = 0;
let changed;
const configuration = { command: "/opt/bin/cudalint", arguments: ["--target", "h100"] };

const vscode = {
  commands: { registerCommand: () => ({}) },
  window: { showErrorMessage: () => undefined },
  workspace: {
    getConfiguration: () => ({ get: (name) => configuration[name] }),
    createFileSystemWatcher: () => ({}),
    onDidChangeConfiguration: (listener) => {
      changed = listener;
      return {};
    },
  },
};

class LanguageClient {
  constructor(id, name, server, client) {
    started.push({ server, client });
  }
  async start() {}
  async stop() {
    stopped += 1;
  }
}

const load = Module._load;
Module._load = (name, ...rest) =>
  name === "vscode" ? vscode : name === "vscode-languageclient/node" ? { LanguageClient } : load(name, ...rest);
const extension = require("./extension.js");

test("the server is started with the user's arguments, again when these change, and ended", async () => {
  await extension.activate({ subscriptions: [] });
  assert.deepStrictEqual(started[0].server, { command: "/opt/bin/cudalint", args: ["lsp"] });
  assert.deepStrictEqual(started[0].client.initializationOptions, { arguments: ["--target", "h100"] });
  await changed({ affectsConfiguration: (name) => name === "cudalint" });
  assert.strictEqual(started.length, 2);
  await extension.deactivate();
  assert.strictEqual(stopped, 2);
});

test("where links lead is handed to the server in its environment", async () => {
  configuration.rulePages = "/opt/rules";
  await extension.activate({ subscriptions: [] });
  const { options } = started[started.length - 1].server;
  assert.strictEqual(options.env.CUDALINT_RULE_PAGES, "/opt/rules");
  assert.strictEqual(options.env.PATH, process.env.PATH);
  delete configuration.rulePages;
  await extension.deactivate();
});

test("the problem matcher reads a line of the format `concise`", () => {
  const { pattern } = require("./package.json").contributes.problemMatchers[0];
  const found = "src/a.cu:10:26: warning: CL201 32-way bank conflict on `t`".match(new RegExp(pattern.regexp));
  assert.deepStrictEqual(found.slice(1), ["src/a.cu", "10", "26", "warning", "CL201", "32-way bank conflict on `t`"]);
  const own = "/src/a.cu:10:26: info: ACME1001 blocks have 64 threads".match(new RegExp(pattern.regexp));
  assert.deepStrictEqual(own.slice(4), ["info", "ACME1001", "blocks have 64 threads"]);
});
