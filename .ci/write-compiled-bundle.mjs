// Writes dist/bundle/compiled: what V8 compiled of the bundle while an agent ran from it, so that agents on this Node start without
// compiling it (decision 0192). Another Node does not use them. Without the files agents start more slowly, so a
// failure is a warning.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const AGENT = "--agent";
/** Milliseconds for all that the agent does. */
const LIMIT = 60_000;
/** Of each notification. */
const EACH = 20;

const notifications = [
  {
    type: "application/ld+json",
    body: (value) => ({
      id: `urn:ngsi-ld:Notification:${value}`,
      type: "Notification",
      subscriptionId: "urn:ngsi-ld:Subscription:1",
      notifiedAt: "2026-01-01T00:00:00.000Z",
      data: [
        {
          id: "urn:ngsi-ld:Room:1",
          type: "Room",
          temperature: { type: "Property", value, unitCode: "CEL", observedAt: "2026-01-01T00:00:00.000Z" },
          location: { type: "GeoProperty", value: { type: "Point", coordinates: [1.5, 2.5] } },
          owner: { type: "Relationship", object: "urn:ngsi-ld:Person:1" },
        },
      ],
    }),
  },
  {
    type: "application/json",
    body: (value) => ({
      subscriptionId: "1",
      data: [
        {
          id: "Room2",
          type: "Room",
          temperature: {
            type: "Number",
            value,
            metadata: { at: { type: "DateTime", value: "2026-01-01T00:00:00.000Z" } },
          },
          name: { type: "Text", value: "two", metadata: {} },
        },
      ],
    }),
  },
];

const root = realpathSync(fileURLToPath(new URL("../", import.meta.url)));
const bundle = path.join(root, "dist", "bundle");

if (process.argv[2] === AGENT) await runAgent();
else await writeCompiled();

/** An agent in this process; when it ends, it leaves the files. */
async function runAgent() {
  const { settleHeap } = await import("../dist/core/entry/heap.js");
  const { codeToKeep, COMPILED_FOLDER, loadBundle } = await import("../dist/core/entry/load-bundle.js");
  const folder = path.join(bundle, COMPILED_FOLDER);
  process.argv.splice(1, 2, path.join(root, "dist", "core", "main.js"));
  // As in an agent that starts: V8 takes what was compiled with the same flags.
  settleHeap();
  const scripts = new Map();
  loadBundle(bundle, (name, loaded) => scripts.set(name, loaded));
  process.on("exit", (code) => {
    if (code !== 0) return;
    mkdirSync(folder, { recursive: true });
    for (const [name, loaded] of scripts) writeFileSync(path.join(folder, name), codeToKeep(loaded));
    writeFileSync(path.join(folder, "node-version"), process.version);
  });
}

async function writeCompiled() {
  rmSync(path.join(bundle, "compiled"), { recursive: true, force: true });
  const folder = mkdtempSync(path.join(tmpdir(), "deneb-compiled-"));
  try {
    await runAndPost(folder);
  } catch (error) {
    process.stderr.write(`warning: agents will start more slowly, without compiled code: ${error.message}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Stores some notifications on the embedded database: an agent that only started has compiled little. */
async function runAndPost(folder) {
  const config = path.join(folder, "agent.properties");
  writeFileSync(config, properties(folder));
  const options = ["--config", config, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const args = [fileURLToPath(import.meta.url), AGENT, "run", ...options];
  // Options of Node and settings of an agent would change what is compiled.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:DENEB|NODE)_/.test(name)));
  const signal = AbortSignal.timeout(LIMIT);
  const agent = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env, signal });
  const ended = once(agent, "close");
  const lines = [];
  try {
    const ports = await Promise.race([portsOf(agent.stdout, lines), ended.then(() => undefined)]);
    if (ports === undefined) throw new Error("it ended");
    for (const { type, body } of notifications)
      for (let again = 0; again < EACH; again += 1) await post(ports.source, type, JSON.stringify(body(again)), signal);
    await until(async () => {
      const { stats } = await (await fetch(`http://127.0.0.1:${ports.management}/v1/stats`, { signal })).json();
      return stats.ledger.channels.some(({ stored }) => stored === notifications.length * EACH);
    }, signal);
    agent.kill("SIGTERM");
    const [code] = await ended;
    if (code !== 0) throw new Error(`its exit code is ${code}`);
  } catch (error) {
    agent.kill("SIGKILL");
    throw new Error(`the agent that runs from the new bundle failed: ${error.message}\n${lines.join("\n")}`);
  }
}

/** Of its source and its management interface, once it is ready. */
function portsOf(output, lines) {
  return new Promise((resolve) => {
    const ports = {};
    createInterface({ input: output }).on("line", (line) => {
      lines.push(line);
      const { component, port, msg } = JSON.parse(line);
      if (component === "s" && msg === "listening") ports.source = port;
      if (component === "management" && port !== undefined) ports.management = port;
      if (msg === "ready") resolve(ports);
    });
  });
}

async function post(port, type, body, signal) {
  const headers = { "content-type": type, "fiware-service": "s", "fiware-servicepath": "/p" };
  const response = await fetch(`http://127.0.0.1:${port}/notify`, { method: "POST", headers, body, signal });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`a notification was answered ${response.status}: ${text}`);
}

async function until(condition, signal) {
  while (!(await condition())) {
    signal.throwIfAborted();
    await setTimeout(20);
  }
}

function properties(folder) {
  return `
a.sources = s
a.channels = m f
a.sinks = embedded server
a.sources.s.type = http
a.sources.s.bind = 127.0.0.1
a.sources.s.port = 0
a.sources.s.channels = m f
a.sources.s.handler = ngsi
a.sources.s.handler.ngsi_version = auto
a.channels.m.type = memory
a.channels.f.type = file
a.sinks.embedded.type = rdb
a.sinks.embedded.channel = m
a.sinks.embedded.rdb_dialect = sqlite
a.sinks.embedded.rdb_database = ${path.join(folder, "deneb.db")}
a.sinks.server.type = rdb
a.sinks.server.channel = f
a.sinks.server.rdb_dialect = postgresql
a.sinks.server.rdb_host = 127.0.0.1
a.sinks.server.rdb_port = 1
`;
}
