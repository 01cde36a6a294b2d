import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { isRecord } from "../../core/sdk/event.js";
import { writeKeptFiles } from "../formats/kept-files.js";
import { laterFiles } from "../formats/later-files.js";
import { startAgent } from "../support/agent-process.js";
import { freePort } from "../support/free-port.js";
import { runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

interface Settings {
  readonly port?: number;
  readonly sink?: Readonly<Record<string, string | number>>;
}

function properties({ port = 0, sink = { type: "rdb", rdb_dialect: "sqlite" } }: Settings = {}): string {
  return [
    "a.sources = http-source",
    "a.channels = c",
    "a.sinks = s",
    "a.sources.http-source.type = http",
    `a.sources.http-source.port = ${port}`,
    "a.sources.http-source.bind = 127.0.0.1",
    "a.sources.http-source.channels = c",
    "a.sources.http-source.handler = ngsi",
    "a.channels.c.type = file",
    "a.sinks.s.channel = c",
    ...Object.entries(sink).map(([name, value]) => `a.sinks.s.${name} = ${value}`),
  ].join("\n");
}

async function scene(context: TestContext, text: string) {
  const folder = await tempFolder(context);
  const config = path.join(folder, "agent.properties");
  await writeFile(config, text);
  const flags = ["--config", config, "--data-dir", path.join(folder, "data"), "--connect"];
  const check = async (more: readonly string[] = ["--management-port", "0"], env = {}) =>
    await runHere(["check", ...flags, ...more], env);
  return { folder, config, check };
}

/** A server that accepts connections and never answers, and how many came. */
async function silentServer(context: TestContext) {
  let connections = 0;
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return { port: typeof address === "object" ? (address?.port ?? 0) : 0, connections: () => connections };
}

test("where everything can be used the check passes, makes nothing, and its JSON has a stable shape", async (context) => {
  const { folder, config, check } = await scene(context, properties());

  const { code, stdout, stderr } = await check(["--management-port", "0", "--json"]);

  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(await readdir(folder), ["agent.properties"]);
  const result: unknown = JSON.parse(stdout);
  assert.ok(isRecord(result) && Array.isArray(result["findings"]));
  assert.deepEqual(Object.keys(result), ["config", "agent", "ok", "faults", "findings"]);
  assert.deepEqual([result["config"], result["agent"], result["ok"], result["faults"]], [config, "a", true, []]);
  for (const finding of result["findings"]) {
    const { reason, remedy, ...always } = finding;
    assert.deepEqual(Object.keys(always), ["component", "kind", "type", "tried", "outcome", "milliseconds"]);
    assert.equal(always.outcome, "ok", JSON.stringify(finding));
    assert.ok([reason, remedy].every((text) => text === undefined || typeof text === "string"));
  }
});

test("what an agent that runs with this file holds is no failure; another file is refused with its pid", async (context) => {
  const port = await freePort("127.0.0.1");
  const { folder, check } = await scene(context, properties({ port }));
  const agent = await startAgent(context, { properties: properties({ port }), folder });
  const management = new URL(agent.managementUrl).port;

  const own = await check(["--management-port", management]);
  const other = path.join(folder, "other.properties");
  await writeFile(other, properties({ port }));
  const strange = await check(["--management-port", management, "--config", other]);
  await agent.end("SIGTERM");
  const free = await check(["--management-port", management]);

  const holds = `the agent that runs with this file holds it (pid ${agent.process.pid})`;
  assert.equal(own.code, 0, own.stdout);
  assert.equal(own.stdout.split(holds).length - 1, 5, own.stdout);
  assert.equal(strange.code, 6);
  assert.ok(strange.stdout.includes(`another process holds it (pid ${agent.process.pid} on host `), strange.stdout);
  assert.ok(strange.stdout.includes("another program listens there"), strange.stdout);
  assert.equal(free.code, 0, free.stdout);
  assert.ok(!free.stdout.includes("holds it"));
});

const hanging = [
  {
    what: "a database",
    sink: (port: number) => ({ type: "rdb", rdb_host: "127.0.0.1", rdb_port: port, rdb_password: "sesame-1" }),
  },
  {
    what: "a MySQL",
    sink: (port: number) => ({
      type: "rdb",
      rdb_dialect: "mysql",
      rdb_host: "127.0.0.1",
      rdb_port: port,
      rdb_password: "sesame-1",
    }),
  },
  {
    what: "an HTTPS server",
    sink: (port: number) => ({ type: "http", url: `https://127.0.0.1:${port}/x`, bearer_token: "sesame-1" }),
  },
  {
    what: "an HTTP server",
    sink: (port: number) => ({ type: "http", url: `http://127.0.0.1:${port}/x`, bearer_token: "sesame-1" }),
  },
] as const;

for (const { what, sink } of hanging)
  test(`${what} that accepts and never answers is a failure at the time limit, and no secret is printed`, async (context) => {
    const { port } = await silentServer(context);
    const { check } = await scene(context, properties({ sink: sink(port) }));

    const { code, stdout, stderr } = await check(["--management-port", "0", "--probe-timeout", "1"]);

    assert.equal(code, 6, stdout + stderr);
    assert.match(
      stdout,
      /failed {2}sink "s": .*: no result within 1 s; see whether it hangs, or raise --probe-timeout/,
    );
    assert.match(stderr, /agent "a" could not work: [1-9]\d* probes? failed/);
    assert.doesNotMatch(stdout + stderr, /sesame/);
  });

test("without --connect nothing is connected to", async (context) => {
  const { port, connections } = await silentServer(context);
  const { config } = await scene(context, properties({ sink: { type: "rdb", rdb_host: "127.0.0.1", rdb_port: port } }));

  const { code } = await runHere(["check", "--config", config]);

  assert.equal(code, 0);
  assert.equal(connections(), 0);
});

test("a secret whose variable is not set is an error for --connect, as for run, and nothing is tried", async (context) => {
  const { port, connections } = await silentServer(context);
  const sink = { type: "rdb", rdb_host: "127.0.0.1", rdb_port: port, rdb_password: "${SECRET_OF_NOBODY}" };
  const { check } = await scene(context, properties({ sink }));

  const { code, stderr } = await check();

  assert.equal(code, 2, stderr);
  assert.match(stderr, /SECRET_OF_NOBODY/);
  assert.equal(connections(), 0);
});

test("files of a later version are found before a start", async (context) => {
  const { folder, check } = await scene(
    context,
    properties().replaceAll(" c\n", " away\n").replaceAll("channels.c.", "channels.away."),
  );
  const dataDir = path.join(folder, "data");
  for (const { file, version = 2, later } of laterFiles.filter(
    ({ name }) => name === "the ledger" || name === "a segment of a channel",
  )) {
    await writeKeptFiles(dataDir);
    await writeFile(path.join(dataDir, file), later(await readFile(path.join(dataDir, file))));

    const { code, stdout } = await check();

    assert.equal(code, 6, stdout);
    const versions = new RegExp(
      `failed .*it has version ${version} of its format, and this agent reads version ${version - 1}; start `,
    );
    assert.match(stdout, versions);
  }
});

const plugin = `
const base = { kind: "sink", apiVersion: 1, summary: "A sink.", stability: "beta" };
const life = { start: async () => {}, stop: async () => {}, persist: async () => ({ requestBytes: 0, responseBytes: 0 }) };
export default [
  { ...base, type: "probing", config: { key: { doc: "A key.", format: "text", default: "", sensitive: true } },
    create: ({ key }) => ({ ...life, probes: () => [
      { tries: "open the gate", run: async () => ({ outcome: "warning", reason: "it creaks at " + key, remedy: "oil it" }) },
    ] }) },
  { ...base, type: "known", config: { url: { doc: "Where to.", format: "text", resource: "url" } }, create: () => life },
  { ...base, type: "broken", config: {}, create: () => ({ ...life, probes: () => { throw new Error("broken by design"); } }) },
];
`;

const strangers = [
  {
    sink: { type: "probing", key: "sesame-1" },
    code: 0,
    says: /warning sink "s": open the gate: it creaks at \*\*\*; oil it/,
  },
  {
    sink: { type: "known", url: "http://127.0.0.1:1/" },
    code: 6,
    says: /failed {2}sink "s": connect to 127\.0\.0\.1:1: .*ECONNREFUSED/,
  },
  { sink: { type: "broken" }, code: 6, says: /failed {2}sink "s": create the component: broken by design/ },
] as const;

for (const { sink, code, says } of strangers)
  test(`a plugin of others of type ${sink.type} is tried`, async (context) => {
    const { folder, check } = await scene(context, properties({ sink }));
    const at = path.join(folder, "plugins", "strange");
    await mkdir(at, { recursive: true });
    await writeFile(path.join(at, "package.json"), '{"type":"module"}');
    await writeFile(path.join(at, "index.js"), plugin);

    const result = await check(["--management-port", "0", "--plugins", path.join(folder, "plugins")]);

    assert.equal(result.code, code, result.stdout + result.stderr);
    assert.match(result.stdout, says);
  });

test("a time limit that is none is an error with its bounds", async (context) => {
  const { check } = await scene(context, properties());

  const { code, stderr } = await check(["--probe-timeout", "soon"]);

  assert.equal(code, 2);
  assert.match(stderr, /--probe-timeout = "soon": must be a whole number of seconds, 1 to 3600/);
});

for (const command of ["check", "run", "migrate", "explain"])
  test(`a binary file is one sentence for deneb ${command}`, async (context) => {
    const folder = await tempFolder(context);
    const notification = path.join(folder, "notification.json");
    await writeFile(notification, "{}");
    const words = command === "explain" ? [command, notification] : [command];

    const { code, stdout, stderr } = await runCli([...words, "--config", process.execPath]);

    assert.equal(code, 2);
    assert.equal(stdout, "");
    const lines = stderr.split("\n").filter((line) => line.includes("not a text file"));
    assert.equal(lines.length, 1, stderr);
    assert.match(lines[0] ?? "", /it is not a text file: byte \d+ is 0x00; give a properties file, saved as UTF-8$/);
    assert.ok(stderr.length < 500, stderr);
  });
