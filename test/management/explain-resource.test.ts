import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { runCli } from "../support/run-cli.js";
import { room } from "../support/storing-agent.js";
import { tempFolder } from "../support/temp-folder.js";

const properties = `
a1.sources = http-source other
a1.channels = c
a1.sinks = one two
a1.sources.http-source.type = http
a1.sources.http-source.channels = c
a1.sources.http-source.bind = 127.0.0.1
a1.sources.http-source.port = 0
a1.sources.http-source.token = source-secret
a1.sources.http-source.handler = ngsi
a1.sources.http-source.handler.default_service = svc
a1.sources.other.type = http
a1.sources.other.channels = c
a1.sources.other.bind = 127.0.0.1
a1.sources.other.port = 0
a1.sources.other.handler = ngsi
a1.sources.other.handler.notification_target = /elsewhere
a1.channels.c.type = memory
a1.sinks.one.type = rdb
a1.sinks.one.channel = c
a1.sinks.one.instance = sqlite
a1.sinks.one.rdb_password = sink-secret
a1.sinks.two.type = logger
a1.sinks.two.channel = c
`;

const notification = (entities: readonly object[]) =>
  JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data: entities });

async function explaining(context: TestContext) {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties, folder });
  const call = async (body: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${agent.managementUrl}/v1/admin/explain`, { method: "POST", body: text });
    const answered = await response.text();
    return { status: response.status, text: answered, body: JSON.parse(answered) };
  };
  const stats = async () => JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text()).stats;
  return { folder, call, stats };
}

test("a pasted notification is explained as deneb explain does it, and nothing of it is stored or counted", async (context) => {
  const { folder, call, stats } = await explaining(context);
  const body = notification([room(1), room(2)]);
  const file = path.join(folder, "notification.json");
  await writeFile(file, body);

  const answered = await call({ body, headers: { "Fiware-Service": "openiot" } });
  const printed = await runCli(
    [
      "explain",
      file,
      "--config",
      path.join(folder, "agent.properties"),
      "--json",
      "--header",
      "Fiware-Service: openiot",
    ],
    {},
  );
  const { sources, channels } = await stats();

  assert.equal(answered.status, 200);
  assert.deepEqual([answered.body.complete, answered.body.refused, answered.body.events.length], [true, [], 4]);
  assert.deepEqual(withoutIds(answered.body.events), withoutIds(JSON.parse(printed.stdout)));
  assert.doesNotMatch(answered.text, /source-secret|sink-secret/);
  assert.deepEqual([sources[0].num_received_events, channels[0].num_puts_ok], [0, 0]);
});

test("a source that would refuse the notification says how, and the others explain it", async (context) => {
  const { call } = await explaining(context);

  const { body } = await call({ body: { id: "n", type: "Notification", data: [room(1)] }, path: "/elsewhere" });
  const { body: one } = await call({ body: "{broken", source: "other" });

  assert.deepEqual(
    body.events.map(({ source }: { readonly source: string }) => source),
    ["other"],
  );
  assert.deepEqual(
    body.refused.map(({ source, status }: { readonly source: string; readonly status: number }) => [source, status]),
    [["http-source", 400]],
  );
  assert.deepEqual([one.events, one.refused[0].source, one.refused[0].status], [[], "other", 400]);
});

test("an explanation ends at a hundred events and says so", async (context) => {
  const { call } = await explaining(context);
  const entities = Array.from({ length: 150 }, (_, n) => room(n));

  const { body } = await call({ body: notification(entities), source: "http-source" });

  assert.deepEqual([body.events.length, body.complete], [100, false]);
});

test("a notification too large to answer is explained as far as four million characters", async (context) => {
  const { call } = await explaining(context);
  const entities = Array.from({ length: 40 }, (_, n) => room(n, "x".repeat(25_000)));

  const { status, body, text } = await call({ body: notification(entities) });

  assert.equal(status, 200);
  assert.ok(text.length < 5_000_000);
  assert.equal(body.complete, false);
});

const wrong = [
  { what: "no body", body: {}, status: 400, error: /Missing member body/ },
  { what: "a member that is none", body: { body: "{}", secret: 1 }, status: 400, error: /Unknown member secret/ },
  { what: "headers that are no texts", body: { body: "{}", headers: { a: 1 } }, status: 400, error: /object of texts/ },
  { what: "a path that is no text", body: { body: "{}", path: 1 }, status: 400, error: /path and method are texts/ },
  { what: "no JSON", body: "{", status: 400, error: /malformed Json/ },
  {
    what: "an unknown source",
    body: { body: "{}", source: "__proto__" },
    status: 404,
    error: /sources with a handler/,
  },
  { what: "ten million characters", body: { body: "x".repeat(10_000_000) }, status: 413, error: /could not be read/ },
];

test("a wrong call for an explanation is answered with its reason", async (context) => {
  const { call } = await explaining(context);

  for (const { what, body, status, error } of wrong) {
    const answered = await call(body);
    assert.equal(answered.status, status, what);
    assert.match(answered.body.error, error, what);
  }
});

test("a body that is nested too deeply is refused, by the call or by each source", async (context) => {
  const { call } = await explaining(context);

  const { status, body } = await call(`{"body":${"[".repeat(100_000)}${"]".repeat(100_000)}}`);

  // Node before 26 cannot write it again.
  assert.match(status === 200 ? body.refused[0].reason : body.error, /nested/);
});

/** The ids and times that each decoding gives anew. */
function withoutIds(events: readonly { readonly event: { readonly headers: object } }[]): unknown {
  const text = JSON.stringify(events, (name, value) =>
    ["transaction-id", "fiware-correlator", "timestamp", "sequence"].includes(name) ? undefined : value,
  );
  return JSON.parse(text.replaceAll(/\b\d{13}\b/g, "0").replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "0"));
}
