import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const part = "start: async () => {}, stop: async () => {}";

function declared(kind: string, create: string, config = "{}"): string {
  return `import { EventEmitter } from "node:events";
    import { definePlugin, RejectedRequest } from "deneb/sdk";
    export default definePlugin({ kind: "${kind}", type: "mine", summary: "Does.", stability: "beta", config: ${config},
      create: ${create} });`;
}

const first =
  "start: async () => { TEXT }, stop: async () => {}, persist: async () => ({ requestBytes: 0, responseBytes: 0 })";
const startCase = "start and stop leave no timer, socket or thread behind";
const sinkThat = (text: string) => declared("sink", `() => ({ ${first.replace("TEXT", text)} })`);

const wrong = [
  {
    says: "an async create",
    code: declared("sink", `async () => ({ ${part}, persist: async () => {} })`),
    named:
      /^not ok creating opens nothing.*: creating the sink: create returned a promise; create returns the component/m,
  },
  {
    says: "a create that returns another thing",
    code: declared("sink", `() => ({ ${part} })`),
    named: /^not ok creating opens nothing.*: creating the sink: create returned no object with start, persist, stop$/m,
  },
  {
    says: "a promise that nobody awaits",
    isStray: true,
    code: sinkThat('(async () => { throw new Error("lost"); })();'),
    named: new RegExp(
      `^not ok ${startCase}: nobody caught an error of the plugin: .*: lost\n {2}at .*main\\.js:\\d+`,
      "m",
    ),
  },
  {
    says: "a throw in a timer",
    isStray: true,
    code: sinkThat(
      'setTimeout(() => { throw new Error("late"); }, 1); await new Promise((resolve) => setTimeout(resolve, 20));',
    ),
    named: new RegExp(
      `^not ok ${startCase}: nobody caught an error of the plugin: .*: late\n {2}at .*main\\.js:\\d+`,
      "m",
    ),
  },
  {
    says: "an error that is its own cause",
    code: sinkThat('const error = new Error("round"); error.cause = error; throw error;'),
    named: new RegExp(`^not ok ${startCase}: round\n {2}at .*main\\.js:\\d+`, "m"),
  },
  {
    says: "an error event without listener, and a start that never ends",
    isStray: true,
    code: sinkThat(
      'setTimeout(() => new EventEmitter().emit("error", new Error("gone")), 1); await new Promise(() => {});',
    ),
    named: new RegExp(`^not ok ${startCase}: nobody caught an error of the plugin: .*: gone$`, "m"),
  },
  {
    says: "events without headers",
    code: declared("source", '(_, { emit }) => ({ start: () => emit([{ body: "a" }]), stop: async () => {} })'),
    named:
      /^not ok start and stop .*: emit needs events, \{ headers, body \}; it was given an object without headers$/m,
  },
  {
    says: "a sink that is named twice",
    code: declared("sink-processor", "() => ({ order: (sinks) => [...sinks, ...sinks], succeeded() {}, failed() {} })"),
    named:
      /^not ok only sinks of the group are named.*: order\(\["k1","k2","k3"\]\) returned .*: "k1" is named twice$/m,
  },
  {
    says: "an unknown sink",
    code: declared("sink-processor", '() => ({ order: () => ["k9"], succeeded() {}, failed() {} })'),
    named: /^not ok only sinks of the group are named.*: "k9" is not a sink of the group$/m,
  },
  {
    says: "a text instead of an event",
    code: declared("interceptor", '() => ({ intercept: () => "text" })'),
    named: /^not ok an event is never changed.*: intercept returns an event, .*; it returned a string$/m,
  },
  {
    says: "a list instead of an event",
    code: declared("interceptor", "() => ({ intercept: (event) => [event] })"),
    named: /^not ok an event is never changed.*: intercept returns an event, .*; it returned a list$/m,
  },
  {
    says: "a plain error for a request",
    code: declared("handler", '() => ({ decode() { throw new Error("cannot read it"); } })'),
    named:
      /^not ok a request without.*\(2 of 5\): decode must throw a RejectedRequest of deneb\/sdk with .*; it threw another error; sent was POST \/notify .* "\{": cannot read it$/m,
  },
  {
    says: "a request that is never refused",
    code: declared("handler", "() => ({ decode: () => ({ events: [] }) })"),
    named:
      /^not ok a request without.*\(1 of 5\): decode must throw a RejectedRequest .*; it threw nothing; sent was POST/m,
  },
  {
    says: "a refusal with status 500",
    code: declared("handler", '() => ({ decode() { throw new RejectedRequest(500, "no", {}, undefined, "no"); } })'),
    named: /^not ok a request without.*: decode must throw a RejectedRequest .*; its status is 500; sent was POST/m,
  },
] as const;
for (const { says, code, named, ...more } of wrong)
  test(`plugin test fails the case of a plugin with ${says}, goes on and counts`, async (context) => {
    const folder = await tempFolder(context);
    await writeFiles(folder, { "package.json": manifest, "main.js": code });

    // An error that nobody catches would end this process.
    const run = "isStray" in more ? runCli : runHere;
    const { code: exitCode, stdout, stderr } = await run(["plugin", "test", folder]);

    assert.equal(exitCode, 1, stdout);
    assert.match(stdout, named);
    assert.match(stdout, /^\S+ mine: \d+ passed, [1-9]\d* failed$/m);
    assert.doesNotMatch(stderr, /unhandled|uncaught/);
  });

const manifest =
  '{ "name": "deneb-plugin-mine", "type": "module", "keywords": ["deneb-plugin"], "exports": "./main.js" }';

test("an error that is thrown while no case runs fails the command", async (context) => {
  const folder = await tempFolder(context);
  const code = `${declared("interceptor", "() => ({ intercept: (event) => event })")} Promise.reject(new Error("early"));`;
  await writeFiles(folder, { "package.json": manifest, "main.js": code });

  const { code: exitCode, stdout } = await runCli(["plugin", "test", folder]);

  assert.equal(exitCode, 1);
  assert.match(stdout, /^not ok outside of a case: nobody caught an error of the plugin: .*: early$/m);
});

test("what a plugin changes of the process when it is loaded fails the command", async (context) => {
  const folder = await tempFolder(context);
  const code = `${declared("interceptor", "() => ({ intercept: (event) => event })")} process.env.DENEB_MINE = "1";`;
  await writeFiles(folder, { "package.json": manifest, "main.js": code });

  const { code: exitCode, stdout } = await runCli(["plugin", "test", folder]);

  assert.equal(exitCode, 1);
  assert.match(stdout, /^not ok when its modules are loaded: .* changed environment variable DENEB_MINE$/m);
  assert.match(stdout, /^interceptor mine: \d+ passed, 0 failed$/m);
});

test("a dependency of a plugin that listens to a signal when it is loaded is a warning of the command", async (context) => {
  const folder = await tempFolder(context);
  const code = `${declared("interceptor", "() => ({ intercept: (event) => event })")} process.on("SIGTERM", () => {});`;
  await writeFiles(folder, { "package.json": manifest, "main.js": code });

  const { code: exitCode, stdout } = await runCli(["plugin", "test", folder]);

  assert.equal(exitCode, 0, stdout);
  assert.match(stdout, /^warning: its modules, or a dependency, listen to SIGTERM once they are loaded; /m);
  assert.match(stdout, /^interceptor mine: \d+ passed, 0 failed$/m);
});

for (const [given, ends] of [
  [0, 1],
  [7, 7],
])
  test(`a plugin that ends the process with ${given} fails the command with ${ends}, and it says who did`, async (context) => {
    const folder = await tempFolder(context);
    const code = sinkThat(`process.exit(${given});`);
    await writeFiles(folder, { "package.json": manifest, "main.js": code });

    const { code: exitCode, stdout, stderr } = await runCli(["plugin", "test", folder]);

    assert.equal(exitCode, ends);
    assert.match(stdout, new RegExp(`run ${startCase}\n$`));
    assert.match(
      stderr,
      new RegExp(`^deneb: a plugin .* ended the process by process\\.exit\\(${given}\\), before`, "m"),
    );
  });

const untested = [
  {
    kind: "channel",
    create: `() => ({ ${part}, openPut() {}, openTake() {} })`,
    part: "what a channel does: its setup has no limits",
  },
  { kind: "source", create: `() => ({ ${part} })`, part: "what a source emits: its setup has no openInlet" },
  {
    kind: "sink",
    create: `() => ({ ${part}, persist: async () => {} })`,
    part: "what a sink stores: its setup has no openStore",
  },
] as const;
for (const { kind, create, part: sentence } of untested)
  test(`plugin test and its report say what of a ${kind} was not tested`, async (context) => {
    const folder = await tempFolder(context);
    const report = path.join(folder, "deneb-report.json");
    const files = { "package.json": manifest, "main.js": declared(kind, create) };
    await writeFiles(folder, { ...files, "conformance.js": "export const setup = {};" });

    const { stdout } = await runHere(["plugin", "test", folder, "--report", report]);
    const listed = await runHere(["plugins", "--plugins", folder]);

    assert.match(stdout, new RegExp(`^not tested: ${sentence}$`, "m"));
    assert.deepEqual(JSON.parse(await readFile(report, "utf8")).plugins[0].notTested, [sentence]);
    assert.match(listed.stdout, /^ {2}tested: \d+ passed, 0 failed, 1 not tested with Deneb/m);
  });

test("a value of a setup that no file could give fails with property, value and format, and no secret", async (context) => {
  const folder = await tempFolder(context);
  const config = `{ brokers: { doc: "Where.", format: "words", default: [] },
    token: { doc: "Secret.", format: "text", sensitive: true, default: "" } }`;
  await writeFiles(folder, {
    "package.json": manifest,
    "main.js": declared("interceptor", "() => ({ intercept: (event) => event })", config),
    "conformance.js": 'export const setup = { config: () => ({ brokers: "a:1", token: 4711 }) };',
  });

  const { code, stdout } = await runHere(["plugin", "test", folder]);

  assert.equal(code, 1);
  assert.match(
    stdout,
    /: testing the interceptor "mine": in the setup, brokers: "a:1" is not as the component gets it/,
  );
  assert.match(stdout, /which is a list of texts \(format "words"\); token: a number is not as/);
  assert.doesNotMatch(stdout, /4711/);
});

test("a failed case shows the last 20 lines that its component logged", async (context) => {
  const folder = await tempFolder(context);
  const create = `(_, { log }) => ({ stop: async () => {}, persist: async () => {}, start: async () => {
    for (let line = 1; line <= 30; line++) log.warn({ line }, "refused");
    throw new Error("no start");
  } })`;
  await writeFiles(folder, { "package.json": manifest, "main.js": declared("sink", create) });

  const { stdout } = await runHere(["plugin", "test", folder]);

  const shown = stdout.split("not ok ").find((text) => text.startsWith(startCase)) ?? "";
  const logged = shown.split("\n").filter((line) => line.startsWith("  logged: "));
  assert.equal(logged.length, 20);
  assert.equal(logged.at(-1), "  logged: warn refused { line: 30 }");
});
