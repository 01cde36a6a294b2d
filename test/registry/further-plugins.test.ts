import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { discover } from "../../core/registry/discover.js";
import { API_VERSION, definePlugin } from "../../core/sdk/index.js";
import { httpAgent } from "../support/http-agent.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const imports = `
import { AgentError, definePlugin } from "deneb/sdk";
import { columnName } from "deneb/ngsi";
import { channelConformance } from "deneb/sdk/testing";
`;

function plugin(type: string, more = ""): string {
  const members = `kind: "sink", type: "${type}", summary: "Does.", stability: "stable", config: {}, create() {}, ${more}`;
  return `${imports} export default definePlugin({ ${members} });`;
}

function manifest(name: string, entry: object): string {
  return JSON.stringify({ name, type: "module", ...entry });
}

test("a plugin in a folder without node_modules imports the contract of this agent, its own copy", async (context) => {
  const folder = await tempFolder(context);
  const text = imports.concat("export default definePlugin({ ...globalThis.shown(definePlugin), create() {} });");
  await writeFiles(folder, { "mine/index.mjs": text });
  const seen: unknown[] = [];
  const shown = (own: unknown) => {
    seen.push(own);
    return { kind: "sink", type: "mine", summary: "Does.", stability: "stable", config: {} };
  };
  Reflect.set(globalThis, "shown", shown);
  context.after(() => Reflect.deleteProperty(globalThis, "shown"));

  const { problems } = await discover([folder]);

  assert.deepEqual(problems, []);
  assert.deepEqual(seen.length, 1);
  assert.equal(seen[0], definePlugin);
});

test("packages are found by name, from the first folder that has them and the folders above it", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "node_modules/far/package.json": manifest("far", { exports: { ".": { import: "./lib/far.js" } } }),
    "node_modules/far/lib/far.js": plugin("far"),
    "near/node_modules/@some/near/package.json": manifest("@some/near", { main: "main.js" }),
    "near/node_modules/@some/near/main.js": plugin("near"),
    "other/node_modules/@some/near/package.json": manifest("@some/near", { main: "main.js" }),
    "other/node_modules/@some/near/main.js": plugin("other"),
  });
  const from = [path.join(folder, "near", "deep"), path.join(folder, "other")];

  const { catalogue, problems } = await discover([], { packages: ["far", "@some/near"], from });

  assert.deepEqual(problems, []);
  const listed = catalogue.list().map(({ definition, origin }) => [definition.type, origin]);
  assert.deepEqual(listed, [
    ["far", "far"],
    ["near", "@some/near"],
  ]);
});

const refusals = [
  { name: "./lib/x.js", cause: /is not the name of an npm package/ },
  { name: "../up", cause: /is not the name of an npm package/ },
  { name: "file:x", cause: /is not the name of an npm package/ },
  { name: "not-there", cause: /is not installed: it is in no node_modules folder, searched from/ },
];
for (const { name, cause } of refusals)
  test(`the package "${name}" is a problem`, async (context) => {
    const folder = await tempFolder(context);

    const { problems } = await discover([], { packages: [name], from: [folder] });

    assert.equal(problems.length, 1);
    assert.match(problems[0]?.cause ?? "", cause);
  });

const absent = [
  { name: "mine", installed: "deneb-plugin-mine", remedy: "name the package deneb-plugin-mine, which is installed" },
  {
    name: "mine",
    installed: "another",
    remedy: "install its package there, which is called deneb-plugin-mine by convention, and name that",
  },
  { name: "deneb-plugin-mine", installed: "mine", remedy: "run npm install deneb-plugin-mine there" },
  { name: "@some/mine", installed: "mine", remedy: "run npm install @some/mine there" },
] as const;
for (const { name, installed, remedy } of absent)
  test(`of "${name}" where "${installed}" is installed the remedy names no package of somebody else`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, { [`node_modules/${installed}/package.json`]: "{}" });

    const { problems } = await discover([], { packages: [name], from: [folder] });

    assert.equal(problems[0]?.remedy, remedy);
  });

const modulesForRequire = [
  {
    code: 'module.exports = require("deneb/sdk").definePlugin({});',
    cause: /^could not be loaded: .*Cannot find module 'deneb\/sdk'/,
  },
  {
    code: 'Object.defineProperty(exports, "__esModule", { value: true }); exports.default = { kind: "sink" };',
    cause: /^was compiled to a CommonJS module$/,
    remedy: /^let the compiler make ES modules, and write "type": "module" into its package.json$/,
  },
  { code: 'import "deneb/sdk";', cause: /^could not be loaded: .*import statement outside a module/ },
  { code: "export default {};", cause: /^could not be loaded: .*Unexpected token 'export'/ },
] as const;

for (const { code, cause, ...other } of modulesForRequire)
  test(`of the CommonJS module ${code} the remedy is an ES module`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, {
      "mine/package.json": '{ "type": "commonjs", "keywords": ["deneb-plugin"], "main": "main.js" }',
      "mine/main.js": code,
    });

    const { problems } = await discover([folder]);

    assert.equal(problems.length, 1);
    assert.match(problems[0]?.cause ?? "", cause);
    const remedy =
      "remedy" in other ? other.remedy : /ES module: write "type": "module" into \/.*\/mine\/package\.json, /;
    assert.match(problems[0]?.remedy ?? "", remedy);
  });

test("of a module without a package the remedy names the package.json above, by which Node takes it for CommonJS", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "package.json": '{ "type": "commonjs" }',
    "plugins/mine/index.js": "export default {};",
  });

  const { problems } = await discover([path.join(folder, "plugins")]);

  const manifest = path.join(folder, "package.json");
  const remedy = `a plugin must be an ES module: write "type": "module" into ${manifest}, and import instead of require`;
  assert.deepEqual(
    problems.map((problem) => problem.remedy),
    [remedy],
  );
});

test("a folder that is a package with the keyword deneb-plugin is one plugin, and so is one below a folder", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "mine/package.json": manifest("mine", { keywords: ["deneb-plugin"], exports: "./dist/main.js" }),
    "mine/dist/main.js": plugin("mine"),
    "mine/dist/index.js": "throw new Error('must not be loaded');",
    "app/package.json": manifest("app", { main: "./app.js" }),
    "app/app.js": "throw new Error('must not be loaded');",
  });

  for (const given of [folder, path.join(folder, "mine")]) {
    const { catalogue, problems } = await discover([given]);

    assert.deepEqual(problems, []);
    const listed = catalogue.list().map(({ origin }) => origin);
    assert.deepEqual(listed, [path.join(folder, "mine", "dist", "main.js")]);
  }
});

const bad = {
  "a-broken/index.js": "export default {",
  "b-first/index.js": plugin("same", 'aliases: ["other"]'),
  "c-duplicate/index.js": plugin("same", 'aliases: ["other"]'),
  "d-version/index.js": plugin("late", `apiVersion: ${API_VERSION + 1}`),
  "e-hanging/index.js": "await new Promise(() => setInterval(() => {}, 1000));",
  "f-good/index.js": plugin("good", `apiVersion: ${API_VERSION}`),
  "package.json": '{ "type": "module" }',
} as const;

test("the plugins of the program are loaded however long the machine takes", async () => {
  const own = fileURLToPath(new URL("../../plugins", import.meta.url));

  const { catalogue, problems } = await discover([own], { limitMillis: 0 });

  assert.deepEqual(problems, []);
  assert.ok(catalogue.list().some(({ definition }) => definition.type === "rdb"));
});

test("a plugin of others that takes long because it works is waited for", async (context) => {
  const folder = await tempFolder(context);
  const working = `
    import { setImmediate as nextTurn } from "node:timers/promises";
    const begun = performance.now();
    while (performance.now() < begun + 600) await nextTurn();
    ${plugin("working")}`;
  await writeFiles(folder, { "working/index.js": working, "package.json": '{ "type": "module" }' });

  const { catalogue, problems } = await discover([folder], { limitMillis: 400 });

  assert.deepEqual(problems, []);
  assert.deepEqual(
    catalogue.list().map(({ definition }) => definition.type),
    ["working"],
  );
});

test("a broken, a duplicate, a wrong-version and a hanging plugin give one problem each, and the others are loaded", async (context) => {
  const folder = await tempFolder(context);
  // This process would wait for the interval of a plugin that hangs.
  await writeFiles(folder, { ...bad, "e-hanging/index.js": "await new Promise(() => {});" });

  const { catalogue, problems } = await discover([folder], { limitMillis: 3000 });

  const file = (name: string) => path.join(folder, name, "index.js");
  assert.deepEqual(problems.map(({ origin }) => origin).sort(), [
    file("a-broken"),
    file("c-duplicate"),
    file("d-version"),
    file("e-hanging"),
  ]);
  const causeOf = (name: string) => problems.find(({ origin }) => origin === file(name))?.cause ?? "";
  assert.match(causeOf("a-broken"), /^could not be loaded: /);
  assert.match(causeOf("c-duplicate"), /declares the sink "same", which .*b-first.* declares too/);
  assert.equal(
    causeOf("d-version"),
    `declares the plugin "late", made for version ${API_VERSION + 1} of deneb/sdk; it needs a newer Deneb: this agent has version ${API_VERSION}`,
  );
  assert.match(causeOf("e-hanging"), /^was not loaded within \d+ ms$/);
  assert.deepEqual(
    catalogue.list().map(({ definition }) => definition.type),
    ["good", "same"],
  );
});

test("the program prints one line for each of them and ends although one keeps a timer", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, bad);

  const { code, stdout, stderr } = await runCli(["plugins", "--plugins", folder]);

  const lines = stderr.trim().split("\n");
  assert.deepEqual([lines.length, code], [4, 0], stderr);
  for (const line of lines) assert.match(line, /^plugin "[^"]+index\.js": .+; .+/);
  assert.match(stdout, /sink +good/);
  assert.match(stdout, /sink +logger/);
});

test("packages can be named by the command line or the environment, in every command that loads plugins", async (context) => {
  const folder = await tempFolder(context);
  await writeFiles(folder, {
    "node_modules/deneb-sink-mine/package.json": manifest("deneb-sink-mine", { exports: "./index.js" }),
    "node_modules/deneb-sink-mine/index.js": plugin("mine"),
    "config/a.properties": httpAgent({ channel: "memory", sink: "mine" }),
  });
  const config = path.join(folder, "config", "a.properties");

  const without = await runCli(["check", "--config", config]);
  const byOption = await runCli(["check", "--config", config, "--plugin-packages", "deneb-sink-mine"]);
  const byVariable = await runCli(["check", "--config", config], { DENEB_PLUGIN_PACKAGES: "deneb-sink-mine" });

  assert.deepEqual([without.code, byOption.code, byVariable.code], [2, 0, 0], byOption.stderr + byVariable.stderr);
  assert.match(without.stderr, /mine/);
});
