import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { writeFiles } from "../support/written-files.js";
import { notification, post } from "./notification.js";

/** Stores ids in a file; before that it does what the test wants with the events that have the id. */
const sink = (wild: string) => `
  import { appendFileSync } from "node:fs";
  import { definePlugin } from "deneb/sdk";
  export default definePlugin({
    kind: "sink", type: "wild", summary: "For tests.", stability: "beta",
    config: { file: { doc: "A file.", format: "text" } },
    create: ({ file }, context) => ({
      start: async () => {},
      stop: async () => {},
      persist: async ({ events }) => {
        const ids = events.map(({ body }) => body.id);
        if (ids.includes("urn:e:wild")) { ${wild} }
        appendFileSync(file, ids.map((id) => id + "\\n").join(""));
        return { requestBytes: 0, responseBytes: 0 };
      },
    }),
  });`;

const properties = (file: string, lines: readonly string[] = []) =>
  httpAgent({
    channel: "file",
    sink: "wild",
    lines: [`a.sinks.k.file = ${file}`, "a.sinks.k.batch_ttl = 2", "a.sinks.k.batch_retry_intervals = 100", ...lines],
  });

const strays = [
  { says: "throws in a timer", wild: 'setTimeout(() => { throw new Error("in a timer"); }, 1);', reason: /in a timer/ },
  { says: "rejects where nothing waits", wild: 'Promise.reject(new Error("alone"));', reason: /alone/ },
  {
    says: "has an event error without a listener",
    wild: 'const { EventEmitter } = await import("node:events"); setImmediate(() => new EventEmitter().emit("error", new Error("unheard")));',
    reason: /unheard/,
  },
  {
    says: "gives the kernel a wrong name in a timer",
    wild: 'setTimeout(() => context.metrics.counter("Not A Name", "x"), 1);',
    reason: /making the metric/,
  },
] as const;

const strangers = [
  {
    thrown: "an error whose stack names no plugin",
    wild: 'const { connect } = await import("node:net"); connect(1, "127.0.0.1");',
    error: /ECONNREFUSED/,
    remedy: /plugins of others are wild: a client or socket of a plugin needs a listener/,
  },
  {
    thrown: "null that is thrown in a timer",
    wild: "setTimeout(() => { throw null; });",
    error: /uncaught exception: null/,
    remedy: /plugins of others are wild: what was thrown is no Error and has no stack; throw an Error/,
  },
] as const;

for (const { thrown, wild, error, remedy } of strangers)
  test(`${thrown} ends the agent, and the last line names the plugins of others`, async (context) => {
    const folder = await tempFolder(context);
    const plugins = path.join(folder, "plugins");
    await writeFiles(plugins, { "package.json": '{ "type": "module" }', "wild/index.js": sink(wild) });
    const file = path.join(folder, "stored.txt");
    const agent = await startAgent(context, { properties: properties(file), folder, flags: ["--plugins", plugins] });
    const ended = once(agent.process, "close");

    await post(agent.notifyUrl, notification("urn:e:wild", 1));
    const [code] = await ended;

    assert.equal(code, 1);
    assert.match(agent.errors.join(""), error);
    assert.match(agent.errors.join(""), remedy);
  });

for (const { says, wild, reason } of strays)
  test(`a plugin that ${says} does not end the agent: it is logged, counted, and its component degraded`, async (context) => {
    const folder = await tempFolder(context);
    const file = path.join(folder, "stored.txt");
    const plugins = path.join(folder, "plugins");
    await writeFiles(plugins, { "package.json": '{ "type": "module" }', "wild/index.js": sink(wild) });
    const agent = await startAgent(context, { properties: properties(file), folder, flags: ["--plugins", plugins] });
    const metrics = async () => (await fetch(`${agent.managementUrl}/metrics`)).text();

    await post(agent.notifyUrl, notification("urn:e:wild", 1));
    const counted = await until(metrics, (text) => /^deneb_stray_errors_total\{/m.test(text));
    await post(agent.notifyUrl, notification("urn:e:2", 1));
    const stored = await until(
      async () => (existsSync(file) ? readFileSync(file, "utf8") : ""),
      (text) => text.includes("urn:e:2"),
    );
    const ready = await fetch(`${agent.managementUrl}/ready`);
    const warnings = JSON.stringify(await ready.json());

    assert.match(counted, /^deneb_stray_errors_total\{plugin="wild",component="k"\} [1-9]/m);
    assert.match(stored, /urn:e:2/);
    assert.equal(ready.status, 200);
    assert.match(warnings, /"component":"k","reason":"k: its plugin did not catch an error: /);
    assert.match(warnings, reason);
    assert.equal(agent.process.exitCode, null);
  });

test("a plugin that ends the process with 0 after an error that nobody caught fails the agent, and the last line says who did", async (context) => {
  const folder = await tempFolder(context);
  const plugins = path.join(folder, "plugins");
  const wild = 'setTimeout(() => { throw new Error("first"); }, 1); setTimeout(() => process.exit(0), 100);';
  await writeFiles(plugins, { "package.json": '{ "type": "module" }', "wild/index.js": sink(wild) });
  const file = path.join(folder, "stored.txt");
  const agent = await startAgent(context, { properties: properties(file), folder, flags: ["--plugins", plugins] });
  const ended = once(agent.process, "close");

  await post(agent.notifyUrl, notification("urn:e:wild", 1));
  const [code] = await ended;

  assert.equal(code, 1);
  assert.match(agent.errors.join(""), /ended the process by process\.exit\(0\), before the command did/);
});

test("an event whose sink throws outside of its call, and never returns, becomes a dead letter, and the others are stored", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "stored.txt");
  const plugins = path.join(folder, "plugins");
  const wild = 'process.nextTick(() => { throw new Error("outside"); }); await new Promise(() => {});';
  await writeFiles(plugins, { "package.json": '{ "type": "module" }', "wild/index.js": sink(wild) });
  const agent = await startAgent(context, { properties: properties(file), folder, flags: ["--plugins", plugins] });

  await post(agent.notifyUrl, notification("urn:e:wild", 1));
  await post(agent.notifyUrl, notification("urn:e:2", 1));
  const stored = await until(
    async () => (existsSync(file) ? readFileSync(file, "utf8") : ""),
    (text) => text.includes("urn:e:2"),
  );

  assert.equal(stored.trim(), "urn:e:2");
  const letters = readFileSync(path.join(folder, "data", "dead-letters", "k.ndjson"), "utf8");
  assert.match(letters, /STRAY_ERROR/);
});

test("a sink that adds a member to all objects gets an error for it, and the agent and its metrics go on", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "stored.txt");
  const plugins = path.join(folder, "plugins");
  const wild = 'Object.prototype.extra = "x";';
  await writeFiles(plugins, { "package.json": '{ "type": "module" }', "wild/index.js": sink(wild) });
  const agent = await startAgent(context, { properties: properties(file), folder, flags: ["--plugins", plugins] });

  await post(agent.notifyUrl, notification("urn:e:wild", 1));
  await post(agent.notifyUrl, notification("urn:e:2", 1));
  const letters = path.join(folder, "data", "dead-letters", "k.ndjson");
  const kept = await until(
    async () => (existsSync(letters) ? readFileSync(letters, "utf8") : ""),
    (text) => text.includes("urn:e:wild"),
  );
  await until(
    async () => (existsSync(file) ? readFileSync(file, "utf8") : ""),
    (text) => text.includes("urn:e:2"),
  );
  const metrics = await fetch(`${agent.managementUrl}/metrics`);

  assert.match(kept, /Cannot add property extra, object is not extensible/);
  assert.equal(metrics.status, 200);
  assert.equal(agent.process.exitCode, null);
});
