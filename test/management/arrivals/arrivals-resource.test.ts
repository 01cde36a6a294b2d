import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startAgent } from "../../support/agent-process.js";
import { room } from "../../support/storing-agent.js";
import { tempFolder } from "../../support/temp-folder.js";

const properties = `
a1.sources = http-source
a1.channels = c
a1.sinks = one
a1.sources.http-source.type = http
a1.sources.http-source.channels = c
a1.sources.http-source.bind = 127.0.0.1
a1.sources.http-source.port = 0
a1.sources.http-source.token = source-secret
a1.sources.http-source.handler = ngsi
a1.sources.http-source.handler.default_service = svc
a1.channels.c.type = memory
a1.channels.c.capacity = 10000
a1.sinks.one.type = logger
a1.sinks.one.channel = c
`;

async function arriving(context: TestContext) {
  const folder = await tempFolder(context);
  const env = { DENEB_MANAGEMENT_READ_TOKENS: "r", DENEB_MANAGEMENT_ADMIN_TOKENS: "t" };
  const { managementUrl, notifyUrl } = await startAgent(context, { properties, folder, env });
  const call = async (method: string, query = "", body?: unknown, token = "t") => {
    const headers = { Authorization: `Bearer ${token}` };
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) };
    const response = await fetch(`${managementUrl}/v1/admin/arrivals${query}`, init);
    const text = await response.text();
    return { status: response.status, text, body: JSON.parse(text) };
  };
  const post = async (body: string, { path = "", token = "source-secret", headers = {} } = {}) => {
    const all = { "Content-Type": "application/json", Authorization: `Bearer ${token}`, ...headers };
    return (await fetch(`${notifyUrl}${path}`, { method: "POST", headers: all, body })).status;
  };
  return { call, post };
}

const notification = (...entities: readonly object[]) =>
  JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data: entities });

test("what arrives is not kept until an admin asks for it, and then with its result and without its secrets", async (context) => {
  const { call, post } = await arriving(context);
  await post(notification(room(0)));

  const before = await call("GET");
  const begun = await call("PUT", "", { seconds: 60 });
  const statuses = [
    await post(notification({ ...room(1), password: { type: "Property", value: "hunter2" } }), {
      path: "?token=query-secret&x=1",
      headers: { "Fiware-Service": "openiot", Cookie: "cookie-secret" },
    }),
    await post("{broken source-secret"),
    await post(notification(room(2)), { token: "wrong-secret" }),
  ];
  const sampled = await call("GET");
  const ended = await call("DELETE");
  await post(notification(room(3)));
  const after = await call("GET");

  assert.deepEqual([before.body.on, before.body.arrivals, before.body.seen.accepted], [false, [], 0]);
  assert.deepEqual([begun.status, begun.body.on, begun.body.filter.bytes], [200, true, 2048]);
  assert.deepEqual(statuses, [200, 400, 401]);
  assert.doesNotMatch(sampled.text, /hunter2|query-secret|cookie-secret|source-secret|wrong-secret/);
  const [accepted, broken, stranger] = sampled.body.arrivals;
  assert.deepEqual(
    [accepted.result, accepted.service, accepted.path],
    ["accepted", "openiot", "/notify?token=***&x=1"],
  );
  assert.deepEqual([accepted.entities, accepted.entity_count], [[{ id: "urn:room:1", type: "Room" }], 1]);
  assert.match(accepted.body, /"password":"\*\*\*"/);
  assert.deepEqual([accepted.headers.authorization, accepted.headers["fiware-service"]], ["***", "openiot"]);
  assert.deepEqual([broken.result, broken.status, broken.body], ["refused", 400, "{broken ***"]);
  assert.deepEqual(
    [stranger.result, stranger.status, stranger.cause, stranger.body],
    ["refused", 401, "token", undefined],
  );
  assert.deepEqual(sampled.body.seen, { accepted: 1, refused: 2 });
  assert.deepEqual([ended.status, after.body.on, after.body.arrivals], [200, false, []]);
});

test("a sample is read on from its last number", async (context) => {
  const { call, post } = await arriving(context);
  await call("PUT", "", { bytes: 5 });
  for (let n = 0; n < 5; n += 1) await post(notification(room(n)));

  const first = await call("GET", "?limit=2");
  const second = await call("GET", `?limit=2&after=${first.body.last}`);
  const third = await call("GET", `?after=${second.body.last}`);
  const fourth = await call("GET", `?after=${third.body.last}`);

  const numbers = [first, second, third, fourth].map(({ body }) =>
    body.arrivals.map(({ seq }: { seq: number }) => seq),
  );
  assert.deepEqual(numbers, [[1, 2], [3, 4], [5], []]);
  assert.deepEqual([first.body.arrivals[0].body, first.body.arrivals[0].body_cut], ['{"id"', true]);
});

const filters = [
  { filter: { result: "refused" }, paths: ["/notify?broken"] },
  { filter: { service: "openiot" }, paths: ["/notify?service"] },
  { filter: { entity: "room:7" }, paths: ["/notify?seven"] },
  { filter: { source: "http-source" }, paths: ["/notify?broken", "/notify?service", "/notify?seven"] },
  { filter: { source: "another" }, paths: [] },
] as const;

for (const { filter, paths } of filters)
  test(`a sample for ${JSON.stringify(filter)} keeps ${paths.join(", ") || "nothing"}`, async (context) => {
    const { call, post } = await arriving(context);
    await call("PUT", "", filter);
    await post("{broken", { path: "?broken" });
    await post(notification(room(1)), { path: "?service", headers: { "Fiware-Service": "openiot" } });
    await post(notification(room(7)), { path: "?seven" });

    const { body } = await call("GET");

    assert.deepEqual(
      body.arrivals.map(({ path }: { readonly path: string }) => path),
      paths,
    );
    assert.deepEqual(body.seen, { accepted: 2, refused: 1 });
  });

test("under load a sample keeps a few a second and counts the others", async (context) => {
  const { call, post } = await arriving(context);
  await call("PUT", "", {});
  const statuses = await Promise.all(Array.from({ length: 300 }, (_, n) => post(notification(room(n)))));

  const { body } = await call("GET", "?limit=500");

  assert.ok(statuses.every((status) => status === 200));
  assert.equal(body.seen.accepted, 300);
  assert.equal(body.arrivals.length + body.skipped, 300);
  assert.ok(body.skipped > 0);
});

test("a read token neither reads nor begins a sample, and wrong members are refused by name", async (context) => {
  const { call } = await arriving(context);
  const wrong = [
    { seconds: 0 },
    { seconds: 3601 },
    { bytes: 20_000 },
    { result: "x" },
    { service: 1 },
    { what: 1 },
    [],
  ];

  const asReader = [
    await call("GET", "", undefined, "r"),
    await call("PUT", "", {}, "r"),
    await call("DELETE", "", undefined, "r"),
  ];
  const answers = [];
  for (const body of wrong) answers.push(await call("PUT", "", body));
  const state = await call("GET");

  assert.deepEqual(
    asReader.map(({ status }) => status),
    [403, 403, 403],
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    wrong.map(() => 400),
  );
  assert.equal(state.body.on, false);
});
