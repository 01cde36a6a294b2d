import assert from "node:assert/strict";
import { test } from "node:test";
import { brokerStandIn } from "../support/broker.js";
import { type ManagementCall, runningManagement } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { subscriptions } from "./subscriptions/payloads.js";

const REQUESTS = 1000;

/** Numbers from 0 to 1 that are the same in each run. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "TRACE", "PROPFIND"];
const paths = [
  "/",
  "/v1/version",
  "/v1/version/",
  "/v1/stats",
  "/v1/subscriptions",
  "/v1/subscriptions/../stats",
  "/v1/admin/metrics",
  "/admin/metrics",
  "/metrics",
  "/v1/admin/log/appenders",
  "/v1/admin/log/loggers",
  "/v1/namemappings",
  "/admin/log",
  "/v1/admin/configuration/agent/etc/passwd",
  "/v1/admin/configuration/agent/..%2f..%2fetc/agent_x",
  "/v1/groupingrules",
  "/v1/admin/deadletters",
  "/v1/admin/deadletters/replay",
  "/v1/admin/deadletters/a%2f..",
  "/openapi.json",
  "/v1/%00",
  "/v1/%E0%A4%A",
  "//v1//stats",
  "/v1/subscriptions;a=b",
  `/${"a".repeat(4000)}`,
  "/__proto__",
  "/v1/subscriptions%2f..%2f",
  "*",
  "http://elsewhere/v1/version",
];
const names = [
  "ngsi_version",
  "subscription_id",
  "reset",
  "transient",
  "limit",
  "sink",
  "name",
  "level",
  "param",
  "value",
  "__proto__",
  "constructor",
  "a[b][c]",
  "",
  "%00",
];
const values = [
  "1",
  "2",
  "ld",
  "",
  "true",
  "false",
  "null",
  "../..",
  "%0d%0aX:%20y",
  "%E0%A4%A",
  "a".repeat(3000),
  "'",
  "[]",
];
const headerNames = [
  "Fiware-Service",
  "Fiware-Correlator",
  "Content-Type",
  "Link",
  "Authorization",
  "Expect",
  "Accept",
];
const headerValues = [
  "",
  "a",
  "\u00e9\u00ff",
  "application/json; charset=nonsense",
  "x".repeat(1000),
  "<b>",
  "100-continue",
];
const encodings = ["gzip", "nonsense", "identity"];

function hostileBody(pick: <T>(all: readonly T[]) => T, endpoint: object): string | Uint8Array | undefined {
  const version = pick(["1", "2", "ld"] as const);
  const text = JSON.stringify({ subscription: subscriptions[version], endpoint });
  return pick([
    undefined,
    "",
    "{bad",
    "null",
    "[]",
    "{}",
    "1e999",
    '"text"',
    "[".repeat(5000),
    '{"__proto__":{"endpoint":1}}',
    Uint8Array.of(0xff, 0xfe, 0),
    text,
    text.slice(0, 100),
    text.replace("http", "\u0000"),
    JSON.stringify(endpoint),
    JSON.stringify({ ...endpoint, host: "a b" }),
    JSON.stringify({ ...endpoint, port: "1" }),
    JSON.stringify({ subscription: [], endpoint: [] }),
    "x".repeat(5000),
  ]);
}

test(`${REQUESTS} hostile requests get only documented statuses and a valid envelope, and the agent goes on`, async (context) => {
  const random = mulberry32(20_260_115);
  const pick = <T>(all: readonly T[]): T => {
    const chosen = all[Math.floor(random() * all.length)];
    if (chosen === undefined) return pick(all);
    return chosen;
  };
  const { endpoint } = await brokerStandIn(context, () =>
    pick([
      { status: 200, body: [] },
      { status: 404 },
      { status: 500, body: "oops" },
      { status: 201, headers: { Location: "/" } },
    ]),
  );
  const sink = new ScriptedSink();
  const { agent, call, lines } = await runningManagement(context, { sink, access: { bodyLimit: 4096 } });
  const seen = new Map<number, number>();

  for (let count = 0; count < REQUESTS; count += 1) {
    const method = pick(methods);
    const query =
      random() < 0.8
        ? `?${pick(names)}=${pick(values)}&${pick(names)}=${pick(values)}`
        : pick(["?ngsi_version=2&subscription_id=x", "?ngsi_version=1"]);
    const path = `${random() < 0.5 ? "/v1/subscriptions" : pick(paths)}${query}`;
    const body = hostileBody((all) => all[Math.floor(random() * all.length)] ?? pick(all), endpoint);
    const headers: ManagementCall["headers"] = {
      [pick(headerNames)]: pick(headerValues),
      ...(random() < 0.1 ? { "Content-Encoding": pick(encodings) } : {}),
    };
    const told = `${method} ${path.slice(0, 200)} ${JSON.stringify(headers).slice(0, 200)} ${String(body).slice(0, 200)}`;

    const answer = await call(method, path, { headers, ...(body === undefined ? {} : { body }) });

    seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
    assert.ok(isAllowed(answer.status), `${answer.status} for ${told}`);
    if (method !== "HEAD") assertEnvelope(answer, path, told);
    if (count % 100 === 0) await agent.assembly.sources[0]?.processor.emit([{ headers: {}, body: count }]);
  }

  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));
  assert.equal(sink.stored.length, REQUESTS / 100);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error"),
    [],
  );
  for (const status of [200, 400, 404, 501, 502]) assert.ok(seen.has(status), `${status} was never answered`);
});

function isAllowed(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500) || [501, 502, 504].includes(status);
}

interface Answered {
  readonly status: number;
  readonly body: { readonly success?: unknown } | undefined;
}

const plain = /^\/(?:v1\/)?(?:admin\/metrics|admin\/log|metrics|openapi\.json)\/?(?:\?|$)/;

function assertEnvelope({ status, body }: Answered, path: string, told: string): void {
  if (status < 300 && plain.test(path)) return;
  assert.equal(typeof body, "object", told);
  assert.equal(body?.success, status < 300 ? "true" : "false", told);
}
