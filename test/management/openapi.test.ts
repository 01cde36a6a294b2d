import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Express } from "express";
import type { Agent } from "../../core/agent/agent.js";
import { DEAD_LETTERS } from "../../core/agent/container.js";
import { editedFile } from "../../core/files/edited-text.js";
import { AgentFiles } from "../../core/management/configuration/agent-files.js";
import type { Paths } from "../../core/management/openapi.js";
import type { DeadLetter } from "../../core/pipeline/dead-letters/dead-letter.js";
import type { DeadLetters } from "../../core/pipeline/dead-letters/dead-letters.js";
import { catalogueOf } from "../../core/registry/discover.js";
import { AgentError } from "../../core/sdk/index.js";
import { type BrokerReply, brokerStandIn, type SeenCall } from "../support/broker.js";
import { runningManagement } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { type Ask, askDashboard, dashboard } from "./asked-dashboard.js";
import { v2 } from "./subscriptions/payloads.js";

test("every route of the interface is documented, and every documented operation has a route", async (context) => {
  const configuration = await configurationOf(context);
  const { app, call } = await runningManagement(context, { configuration, ...dashboard });

  const { status, body } = await call("GET", "/openapi.json");

  assert.equal(status, 200);
  assert.equal(body.openapi, "3.1.0");
  assert.deepEqual(operationsOf(body.paths), routesOf(app));
});

test("every reference of the document names a schema of it", async (context) => {
  const { call } = await runningManagement(context);

  const { text, body } = await call("GET", "/openapi.json");

  const names = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  assert.ok(names.length > 0);
  assert.deepEqual(
    names.filter((name) => !Object.hasOwn(body.components.schemas, name)),
    [],
  );
});

test("every documented status is answered, and no other", async (context) => {
  const folder = await tempFolder(context);
  const mappingsFile = join(folder, "mappings.json");
  const configuration = await configurationOf(context);
  const sink = new ScriptedSink(() => new AgentError("AWAY", "storing to a store that is away", { retryable: true }));
  const { agent, call, container, dataDir, port } = await runningManagement(context, {
    sink,
    batchTtl: -1,
    access: { tokens: { read: [], admin: ["t"] }, bodyLimit: 2000 },
    brokerTimeoutMillis: 1000,
    nameMappings: editedFile(mappingsFile),
    configuration,
    ...dashboard,
  });
  const seen = new Set<string>();
  const ask: Ask = async (method, path, body = "", headers = authorized) => {
    const { status } = await call(method.toUpperCase(), path, { headers, body });
    seen.add(`${method.toLowerCase()} ${documentedPath(path)} ${status}`);
  };

  const documented: Paths = (await call("GET", "/openapi.json", { headers: authorized })).body.paths;
  await askEverything(documented, ask);
  await askBrokers(context, ask);
  await askFiles(ask);
  await askConfiguration(configuration.folder, ask);
  for (const file of [mappingsFile, join(dataDir, "logging.json")]) await writeFile(file, "{bad");
  await askFiles(ask);
  await askDeadLetters(container.resolve(DEAD_LETTERS), agent, ask);
  await ask("POST", "/v1/admin/erasures", '{"entity":"e","dry_run":true}');
  await askDashboard(context, { port, headers: authorized, ask });
  await agent.stop(0);
  await ask("GET", "/ready");

  assert.deepEqual([...seen].sort(), answersOf(documented));
});

const authorized = { Authorization: "Bearer t" };

async function askEverything(documented: Paths, ask: Ask): Promise<void> {
  for (const [method = "", path = ""] of operationsOf(documented).map((operation) => operation.split(" "))) {
    await ask(method, path, "", { ...authorized, "Sec-Fetch-Site": "cross-site" });
    await ask(method, path, "", {});
    await ask(method, path, "", { ...authorized, Host: "elsewhere.example" });
    await ask(method, path, "x".repeat(2001));
    // A stream would not end by itself.
    await ask(method, path === "/v1/stream" ? `${path}?once=true` : path);
  }
  for (const path of ["/admin/metrics", "/v1/admin/metrics"]) await ask("GET", `${path}?reset=x`);
  for (const path of ["/admin/log", "/v1/admin/log"]) await ask("PUT", `${path}?level=INFO`);
}

async function askBrokers(context: TestContext, ask: Ask): Promise<void> {
  const { endpoint: known } = await brokerStandIn(context, answering);
  const { endpoint: silent } = await brokerStandIn(context, () => undefined);
  // At the same time, since each call of the silent broker takes as long as the time-out.
  await Promise.all(
    [known, { ...known, port: "1" }, silent].flatMap((endpoint) => [
      ...["known", "unknown"].flatMap((id) =>
        ["GET", "DELETE"].map((method) =>
          ask(method, `/v1/subscriptions?ngsi_version=2&subscription_id=${id}`, JSON.stringify(endpoint)),
        ),
      ),
      ...["known", "unknown"].map((id) =>
        ask("POST", `/v1/subscriptions/list?ngsi_version=2&subscription_id=${id}`, JSON.stringify(endpoint)),
      ),
      ask("POST", "/v1/subscriptions?ngsi_version=2", JSON.stringify({ subscription: v2, endpoint })),
    ]),
  );
  // More than may be created at the same time.
  const creation = JSON.stringify({ subscription: v2, endpoint: silent });
  await Promise.all(Array.from({ length: 60 }, () => ask("POST", "/v1/subscriptions?ngsi_version=2", creation)));
  await ask("GET", "/v1/subscriptions?ngsi_version=1");
  await ask("POST", "/v1/subscriptions/list?ngsi_version=1");
}

/** A broker that knows one subscription. */
function answering({ method, url }: SeenCall): BrokerReply {
  if (url.endsWith("/unknown")) return { status: 404 };
  if (method === "POST") return { status: 201, headers: { Location: "/v2/subscriptions/known" } };
  return method === "DELETE" ? { status: 204 } : { status: 200, body: { id: "known" } };
}

async function askFiles(ask: Ask): Promise<void> {
  for (const method of ["POST", "PUT", "GET", "DELETE"]) {
    for (const [path, body] of logInputs) await ask(method, `${path}?transient=false`, body);
    await ask(method, "/v1/namemappings", '{"serviceMapping":[{"originalService":"a"}]}');
  }
  for (const [path] of logInputs) for (const method of ["GET", "DELETE"]) await ask(method, `${path}?transient=x`);
}

const admins = ["/v1/admin/configuration/agent", "/admin/configuration/agent"];

async function configurationOf(context: TestContext) {
  const folder = await tempFolder(context);
  await writeFile(join(folder, "agent_a.conf"), "a.b.c = 1\n");
  await writeFile(join(folder, "agent_bad.conf"), "a.b.c = 1\na.b.d = \\uXYZ\n");
  const { catalogue } = catalogueOf([]);
  return { files: new AgentFiles(folder, join(folder, "agent_a.conf")), catalogue, folder };
}

async function askConfiguration(folder: string, ask: Ask): Promise<void> {
  for (const root of admins)
    for (const method of ["PUT", "DELETE", "POST", "GET"])
      for (const file of ["agent_a.conf", "agent_bad.conf"])
        for (const name of ["a.b.c", "a.b.e"]) await ask(method, `${root}${folder}/${file}?param=${name}&value=1`);
}

const logInputs = [
  ["/v1/admin/log/loggers", '{"logger":{"name":"n1","level":"INFO"}}'],
  [
    "/v1/admin/log/appenders",
    '{"appender":{"name":"n1","class":"console"},"pattern":{"layout":"pattern","ConversionPattern":"%m%n"}}',
  ],
] as const;

/** Replays to a sink that the agent does not have, to one whose channel has room, and to one whose channel is full. */
async function askDeadLetters(letters: DeadLetters, { assembly }: Agent, ask: Ask): Promise<void> {
  const root = "/v1/admin/deadletters";
  await letters.keep([deadLetter("a", "gone")]);
  for (const path of [`${root}/replay`, `${root}/a/replay`]) await ask("POST", path);
  await letters.keep(["b", "c", "d"].map((id) => deadLetter(id, "k1")));
  for (const path of [`${root}/b/replay`, `${root}/replay?sink=k1`]) await ask("POST", path);
  await letters.keep([deadLetter("e", "k1")]);
  while (assembly.channels[0]?.channel.size !== 10)
    await assembly.sources[0]?.processor.emit([{ headers: {}, body: 1 }]);
  for (const path of [`${root}/e/replay`, `${root}/replay?sink=k1`]) await ask("POST", path);
  for (const method of ["GET", "DELETE"]) for (const path of [`${root}/e`, `${root}?sink=k1`]) await ask(method, path);
  await ask("GET", `${root}?limit=x`);
  for (const query of ["since=x", "sink=nobody"]) {
    for (const listed of [root, `${root}/search`]) await ask("GET", `${listed}?${query}`);
    await ask("DELETE", `${root}?${query}`);
    await ask("POST", `${root}/replay?${query}`);
  }
}

function deadLetter(id: string, sink: string): DeadLetter {
  const event = { headers: {}, body: id };
  return { id, time: "2026-01-15T10:20:30.123Z", sink, reason: "permanent", message: "no", attempts: 1, event };
}

/** The path as the document has it: without the query, the id as a parameter. */
function documentedPath(path: string): string {
  return path
    .replace(/\?.*/, "")
    .replace(/(?<=deadletters\/)(?!replay|search)[^/]+/, "{id}")
    .replace(/(?<=configuration\/agent\/).*/, "{path}");
}

function answersOf(paths: Paths): readonly string[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.keys(responses).map((status) => `${method} ${path} ${status}`),
      ),
    )
    .sort();
}

function operationsOf(paths: object): readonly string[] {
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
    .sort();
}

/** What express has mounted, read from its routers. */
function routesOf(app: Express): readonly string[] {
  return [...new Set(routesIn(app.router))].sort();
}

function routesIn(router: unknown): readonly string[] {
  return list(member(router, "stack")).flatMap((layer) => {
    const route = member(layer, "route");
    const paths = [member(route, "path")].flat().filter((path) => typeof path === "string");
    const named = paths.map((path) => path.replaceAll(/[:*](\w+)/g, "{$1}"));
    const methods = list(member(route, "stack")).map((handler) => member(handler, "method"));
    const own = named.flatMap((path) => [...new Set(methods)].map((method) => `${method} ${path}`));
    return [...own, ...routesIn(member(layer, "handle"))];
  });
}

function member(value: unknown, name: string): unknown {
  const holds = (typeof value === "object" && value !== null) || typeof value === "function";
  return holds ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
